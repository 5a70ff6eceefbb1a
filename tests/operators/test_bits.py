"""Operators on bits against integers of Python, in two's complement: all of 8 bits, on every engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.catalogue import Array, Asked, complaints, emitted, native, on_xla, reference
from tests.emit.support import needs_gcc
from tests.native.support import quick_compiler

from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import subject_named
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

BINARY: dict[str, Callable[[int, int], int]] = {
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}


def whole(dtype: str) -> range:
    info = np.iinfo(dtype)
    return range(int(info.min), int(info.max) + 1)


def asked(name: str, given: dict[str, Array], expected: Array) -> Asked:
    subject = subject_named(name)
    (output,) = subject.operator.contract.outputs
    model = question(subject.operator, Trial("every", given, (), name))
    return Asked(name, subject, graph(model), model.inputs, "bits", expected={output.name: expected})


def every() -> Iterator[Asked]:
    for dtype in ("int8", "uint8"):
        numbers = list(whole(dtype))
        a, b = ([x for x in numbers for _ in numbers], numbers * len(numbers))
        for name, meant in BINARY.items():
            made = [meant(x, y) for x, y in zip(a, b, strict=True)]
            yield asked(name, {"A": np.array(a, dtype), "B": np.array(b, dtype)}, np.array(made, dtype))
        # -1 - x is every bit the other way; of numbers without a sign it is taken modulo 256.
        turned = [-1 - x if dtype == "int8" else 255 - x for x in numbers]
        yield asked("bitwise_not", {"X": np.array(numbers, dtype)}, np.array(turned, dtype))


def test_the_definitions_and_kernels_turn_every_pair_of_bytes_as_integers_of_python_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    assert complaints(every(), "separate", reference) == []
    assert complaints(every(), "separate", native) == []
    assert complaints(every(), "separate", on_xla) == []


@needs_gcc
def test_plain_c_turns_every_pair_of_bytes_as_integers_of_python_do(tmp_path: Path) -> None:
    assert complaints(every(), "separate", emitted(tmp_path, "plain", "-O0", "-Wall", "-Werror")) == []
