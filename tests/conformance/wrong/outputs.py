"""Outputs of another number, type or shape; and runtimes that do not answer at all."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.conformance.right.elements import Array
from tests.conformance.right.once import BY_NAME
from tests.conformance.right.runtime import Plain
from tests.conformance.wrong.mutant import F32, I64, STRING, Mutant

from sonnx.conformance.runtimes.ours import Reference
from sonnx.conformance.runtimes.question import Question

# What is changed is the output of definitions written anew, or of ours where nobody has written one.
_WITNESS, _OURS = Plain(), Reference()
_OPERATORS = tuple(name for name, subject in BY_NAME.items() if F32 in subject.types)
# A trial of theirs has scalars: they make elements of elements, or have no axes of their own to name.
_SCALARS = tuple(
    name
    for name in _OPERATORS
    if all(operand.form for operand in BY_NAME[name].operator.contract.inputs)
    or name in ("expand", "xla.broadcast")
)


def _made(change: Callable[[Array], Sequence[Any]]) -> Callable[[Question], Sequence[Any]]:
    def run(question: Question) -> Sequence[Any]:
        right = _WITNESS if _WITNESS.supports(question) else _OURS
        return change(right.run(question)[0])

    return run


def _vector_for_a_scalar(output: Array) -> Sequence[Any]:
    return [output.reshape(1) if output.ndim == 0 else output]


def _nine_characters(output: Array) -> Sequence[Any]:
    """NumPy's own strings are taken for what they are; a NUL at their end is lost."""
    return [output.astype("U9")]


def _doubles(output: Array) -> Sequence[Any]:
    with np.errstate(all="ignore"):
        return [output.astype(np.float64)]


def _objects(output: Array) -> Sequence[Any]:
    return [np.array(output.tolist(), object)]


_WAYS: dict[str, Callable[[Array], Sequence[Any]]] = {
    "outputs are doubles": _doubles,
    "there is one output too many": lambda output: [output, output],
    "there is no output": lambda output: [],
    "an axis of size 1 is lost": lambda output: [np.squeeze(output)],
    "an axis of size 1 is added": lambda output: [output[None]],
    "axes are reversed": lambda output: [output.T],
    "outputs are flat": lambda output: [output.reshape(-1)],
    "outputs are lists": lambda output: [output.tolist()],
    "outputs are of no type that there is": _objects,
}

MUTANTS = (
    *(
        Mutant(name, operator, (F32,), f"{operator}.outputs", _made(change))
        for operator in _OPERATORS
        for name, change in _WAYS.items()
    ),
    *(
        Mutant(
            "a scalar becomes a vector",
            operator,
            tuple(dtype for dtype in (F32, I64) if dtype in BY_NAME[operator].types),
            f"{operator}.outputs",
            _made(_vector_for_a_scalar),
        )
        for operator in _SCALARS
    ),
    Mutant("strings have nine characters", "where", (STRING,), "D-WHERE-2", _made(_nine_characters)),
)


class Stopping:
    """Ends with Clip, hangs with Where, refuses Expand, and knows no other operator."""

    name = "stopping"
    version = "0"

    def supports(self, question: Question) -> bool:
        return question.operator in ("clip", "where", "expand")

    def run(self, question: Question) -> Sequence[Any]:
        if question.operator == "clip":
            os.kill(os.getpid(), signal.SIGSEGV)
        if question.operator == "where":
            time.sleep(1000)
        raise NotImplementedError("no such thing")
