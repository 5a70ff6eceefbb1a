"""Faults of careless programs that every operator on elements can have, made of its definition alone.

A fault changes what the definition is given, or what it gives, or asks it in another type. Nothing here names
an operator: probes tell which faults an operator can have on a type, and they know nothing of its trials.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.conformance.right.elements import FORMS, Array
from tests.conformance.wrong import damage

from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.subjects import Subject
from sonnx.derive.evaluate import evaluate
from sonnx.derive.tracing import described, traced
from sonnx.model.dtype import IEEE, SIGNED, UNSIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.bits import same_bits
from sonnx.terms.term import Sort
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.outside import OutsideError

Operands = Mapping[str, Array]
Attributes = Mapping[str, Any]
# Operands and attributes → the one result.
Run = Callable[[Operands, Attributes], Array]
# What the definition gives → what the program gives, on a type of elements.
Fault = Callable[[Run, DType], Run]

_PROBES = 600
_LANES = 4


def right(operator: Operator) -> Run:
    """The definition itself."""

    def run(operands: Operands, attributes: Attributes) -> Array:
        with np.errstate(all="ignore"):
            (made,) = evaluate(operator, operands, attributes).values()
        return made

    return run


# --- what becomes of elements ------------------------------------------------------------------------------


def _nans_lost(array: Array) -> Array:
    return np.where(np.isnan(array), array.dtype.type(0), array) if array.dtype in FORMS else array


def _bytes_of_one(array: Array) -> Array:
    return (array.view(np.uint8) == 1) if array.dtype == bool else array


def _as_double(array: Array) -> Array:
    return damage.through_double(array) if array.dtype.kind in "iu" else array


def _first_line(array: Array) -> Array:
    """The first line in place of every line."""
    return np.broadcast_to(array[(0,) * (array.ndim - 1)], array.shape) if array.ndim > 1 else array


def _last_bit(array: Array) -> Array:
    output = np.array(array)
    if output.size:
        output.reshape(-1, 1).view(np.uint8)[-1, 0] ^= 1
    return output


# --- faults ------------------------------------------------------------------------------------------------


def _of_operands(change: Callable[[Array], Array], *, last: bool = False) -> Fault:
    """Operands are changed before; or the last of several alone."""

    def fault(run: Run, _dtype: DType) -> Run:
        def wrong(operands: Operands, attributes: Attributes) -> Array:
            names = list(operands)[-1:] if last and len(operands) > 1 else () if last else operands
            there = {name: change(array) for name, array in operands.items() if name in names and array.size}
            return run({**operands, **there}, attributes)

        return wrong

    return fault


def _of_results(change: Callable[[Array], Array]) -> Fault:
    return lambda run, _dtype: lambda operands, attributes: change(run(operands, attributes))


def _exchanged(run: Run, _dtype: DType) -> Run:
    """The last two operands, where they have one type and one shape."""

    def wrong(operands: Operands, attributes: Attributes) -> Array:
        *_, (a, first), (b, second) = (("", np.empty(0)), *operands.items())
        alike = (first.shape, first.dtype) == (second.shape, second.dtype)
        return run({**operands, a: second, b: first} if alike and a else operands, attributes)

    return wrong


def _in(run: Run, operands: Operands, attributes: Attributes, kind: Any, made: Callable[..., Any]) -> Array:
    """Numbers are taken for those of another type, by `made`, and the result for one of theirs."""
    held = {name: made(array, kind) if array.dtype != bool else array for name, array in operands.items()}
    return run(held, attributes)


def _in_float(run: Run, dtype: DType) -> Run:
    """Numbers of 16 bits as those of 32, rounded at the end; those of 64 bits too."""

    def wrong(operands: Operands, attributes: Attributes) -> Array:
        if dtype not in (DType.FLOAT16, DType.DOUBLE):
            return run(operands, attributes)
        with np.errstate(all="ignore"):
            found = _in(run, operands, attributes, np.float32, np.ndarray.astype)
            return found if found.dtype == bool else found.astype(numpy_dtype(dtype))

    return wrong


def _signed(run: Run, dtype: DType) -> Run:
    """Unsigned integers are taken for signed ones of as many bits."""

    def wrong(operands: Operands, attributes: Attributes) -> Array:
        if dtype not in UNSIGNED:
            return run(operands, attributes)
        kind = numpy_dtype(SIGNED[UNSIGNED.index(dtype)])
        found = _in(run, operands, attributes, kind, np.ndarray.view)
        return found if found.dtype == bool else found.view(numpy_dtype(dtype))

    return wrong


def _saturated(run: Run, dtype: DType) -> Run:
    """Integers that do not fit become the nearest ones that do."""

    def wrong(operands: Operands, attributes: Attributes) -> Array:
        if dtype not in (*SIGNED, *UNSIGNED):
            return run(operands, attributes)
        # Fractions of Python's are the elements of reals: nothing is rounded, nothing wraps.
        exact = _in(run, operands, attributes, object, np.ndarray.astype)
        if exact.dtype == bool:
            return exact
        info = np.iinfo(numpy_dtype(dtype))
        held = [min(max(int(each), int(info.min)), int(info.max)) for each in exact.reshape(-1).tolist()]
        return np.array(held, info.dtype).reshape(exact.shape)

    return wrong


FAULTS: Mapping[str, Fault] = {
    "a NaN is taken for 0": _of_operands(_nans_lost),
    "-0 is taken for +0": _of_operands(damage.zero_sign_lost),
    "subnormal operands are flushed": _of_operands(damage.flushed),
    "a NaN comes out as 0": _of_results(_nans_lost),
    "-0 comes out as +0": _of_results(damage.zero_sign_lost),
    "subnormal results are flushed": _of_results(damage.flushed),
    "infinities come out finite": _of_results(damage.saturated),
    "results are off by one step": _of_results(damage.one_step_larger),
    "the last vector is not written": _of_results(damage.last_elements_lost(_LANES)),
    "the last bit is wrong": _of_results(_last_bit),
    "the first line stands for all": _of_operands(_first_line, last=True),
    "operands are exchanged": _exchanged,
    "numbers are calculated with as floats": _in_float,
    "unsigned is taken for signed": _signed,
    "integers saturate": _saturated,
    "integers are held as doubles": _of_operands(_as_double),
    "only the byte 1 is true": _of_operands(_bytes_of_one),
}


# --- which operators can have them -------------------------------------------------------------------------


@dataclass(frozen=True)
class Wrong:
    """A runtime with a fault."""

    operator: Operator
    run_wrong: Run
    name: str
    version: str = "0"

    def supports(self, question: Question) -> bool:
        return question.definition is self.operator

    def run(self, question: Question) -> Sequence[Array]:
        return [self.run_wrong(question.operands, question.attributes)]


def wrong_run(operator: Operator, fault: str, dtype: DType) -> Run:
    """What a program gives that has a fault; the definition's own result where the type does not allow it."""
    run = right(operator)
    wrong = FAULTS[fault](run, dtype)

    def tried(operands: Operands, attributes: Attributes) -> Array:
        try:
            return wrong(operands, attributes)
        # Of functions of its own, NumPy asks Python's integers for a method (AttributeError).
        except (OutsideError, TypeError, KeyError, ValueError, AttributeError):
            return run(operands, attributes)

    return tried


def can_have(
    subject: Subject, fault: str, dtype: DType, forms: Sequence[tuple[Operands, Attributes]]
) -> bool:
    """Tell whether a fault changes anything that probes of the same form as `forms` ask for."""
    run, wrong = right(subject.operator), wrong_run(subject.operator, fault, dtype)
    for operands, attributes in forms:
        types, constants = described(subject.operator, operands)
        found = traced(subject.operator, types, attributes, constants)
        truths = [name for name, operand in found.operands.items() if operand.sort is Sort.TRUTH]
        for given in _probes(operands, truths):
            try:
                made = run(given, attributes)
            except OutsideError:
                continue
            if not same_bits(wrong(given, attributes), made, nan=subject.nan):
                return True
    return False


def _probes(operands: Operands, truths: Container[str]) -> Iterator[Operands]:
    """Operands of the same types, and scalars where those are, of all kinds of values; then without zeros.

    Of truths every byte but 0 is true; bools that are moved are held as 0 and 1.
    """
    rng = np.random.default_rng(5)
    for zeros in (True, False):
        given = {}
        for name, array in operands.items():
            values = _values(array.dtype, rng)
            if array.dtype.kind == "b":
                values = values if name in truths else values[:2]
            elif not zeros:
                values = values[values != 0]
            drawn = values[rng.integers(values.size, size=_PROBES)]
            given[name] = np.ascontiguousarray(drawn) if array.ndim else array
        yield given
        yield {name: array.reshape(2, -1) if array.ndim else array for name, array in given.items()}


def _values(kind: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Both ends of a type, its special values, and some numbers between."""
    if kind.kind == "b":
        return np.array([0, 1, 2, 255], np.uint8).view(bool)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        some = rng.integers(max(-100, info.min), 100, size=12).tolist()
        return np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, *some], kind)
    form = FORMS[kind]
    special = [0, 1, form.infinity, form.infinity - 1, form.infinity + form.quiet, 1 << form.fraction, 12345]
    magnitudes = np.array([*special, (1 << form.fraction) - 1], form.raw)
    near = np.array([1, 1.5, 2, 3, *rng.normal(0, 3, size=16)], kind)
    return np.concatenate(
        [magnitudes.view(kind), (magnitudes | form.raw.type(form.sign)).view(kind), near, -near]
    )


def is_on_elements(operator: Operator) -> bool:
    """Whether an operator combines its operands element by element, or is a composition of such."""
    parts = operator.definition is not None and operator.definition.elementwise
    return (parts or operator.body is not None) and all(each.form for each in operator.contract.inputs)


TYPES = (*IEEE, DType.INT8, DType.INT64, DType.UINT8, DType.UINT64, DType.BOOL)
