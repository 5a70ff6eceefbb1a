"""ConvertElementType got wrong."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from tests.conformance.right.converting import asked_of, converted, saturated, with_way, wrapped
from tests.conformance.right.elements import Array
from tests.conformance.wrong import damage
from tests.conformance.wrong.moving import answering
from tests.conformance.wrong.mutant import (
    BF16,
    BOOL,
    C64,
    C128,
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    U32,
    U64,
    Mutant,
)

from sonnx.conformance.runtimes.question import Question

_NAME = "xla.convert_element_type"


def _to(targets: str, change: Callable[[Array, str], Array]) -> Callable[[Question], Sequence[Array]]:
    """Another way to some types; to the others as it should be."""

    def answer(question: Question) -> Sequence[Array]:
        x, to = asked_of(question.operands, question.attributes)
        return [change(x, to) if to in targets.split() else converted(x, to)]

    return answer


def _by(middle: str) -> Callable[[Array, str], Array]:
    """By way of another type."""
    return lambda x, to: converted(converted(x, middle), to)


def _after(change: damage.Damage) -> Callable[[Question], Sequence[Array]]:
    return lambda question: [change(converted(*asked_of(question.operands, question.attributes)))]


def _before(change: damage.Damage) -> Callable[[Question], Sequence[Array]]:
    def answer(question: Question) -> Sequence[Array]:
        x, to = asked_of(question.operands, question.attributes)
        return [converted(change(x), to)]

    return answer


def _indefinite(value: int, least: int, greatest: int) -> int:
    """What an instruction of x86 answers for all that it cannot hold."""
    return value if least <= value <= greatest else least


def _ties_away(whole: int, rest: Fraction) -> int:
    return whole + (rest >= Fraction(1, 2))


def _half_up(value: float) -> int:
    return math.floor(value + 0.5)


def _real_part_alone(x: Array, to: str) -> Array:
    return converted(x.real.copy(), to) if x.dtype.kind == "c" else converted(x, to)


def _signed(x: Array, to: str) -> Array:
    """Unsigned numbers as if they were signed."""
    return converted(x.view(x.dtype.str.replace("u", "i")) if x.dtype.kind == "u" else x, to)


def _bytes(x: Array) -> Array:
    """The bytes of truths; other elements as they are."""
    return x.view(np.uint8) if x.dtype == bool else x


def _same(change: damage.Damage) -> Callable[[Question], Sequence[Array]]:
    """From a type to itself something is lost."""

    def answer(question: Question) -> Sequence[Array]:
        x, to = asked_of(question.operands, question.attributes)
        output = converted(x, to)
        return [change(output) if output.dtype == x.dtype else output]

    return answer


def _largest_for_infinity(x: Array, to: str) -> Array:
    """Finite numbers that are too large become the largest one."""
    output = converted(x, to)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(x.astype(np.float64)), damage.saturated(output), output)


def _way(**changes: object) -> Callable[[Question], Sequence[Array]]:
    return answering(with_way(**changes))


def _bad(
    name: str, answer: Callable[[Question], Sequence[Array]], *types: object, ruling: str = "D-XLA-3"
) -> Mutant:
    return Mutant(name, _NAME, types, ruling, answer)  # type: ignore[arg-type]  # rows of a table


def _whole_is_true(element: float) -> bool:
    return int(element) != 0 if math.isfinite(element) else True


def _nan_is_false(element: float) -> bool:
    return element < 0 or element > 0


_NARROW = "f16 bf16 f32"

MUTANTS: tuple[Mutant, ...] = (
    _bad("rounds to integers", _way(whole=round), F32, F16),
    _bad("rounds halves up", _way(whole=_half_up), F32, F64),
    _bad("rounds down to integers", _way(whole=math.floor), F32, BF16),
    _bad("floats wrap", _way(too_large=wrapped), F32, F64),
    _bad("floats are indefinite beyond the range", _way(too_large=_indefinite), F32, F16),
    _bad("integers saturate", _way(integer_too_large=saturated), I32, U64),
    _bad("NaN becomes the least integer", _way(nan=lambda least, greatest: least), F32, BF16),
    _bad("NaN becomes the greatest integer", _way(nan=lambda least, greatest: greatest), F64, F16),
    _bad("rounds twice by way of float", _to("f16 bf16", _by("f32")), F64),
    _bad("rounds integers twice by way of double", _to(_NARROW, _by("f64")), I64, U64),
    _bad("rounds integers twice by way of float", _to("f16 bf16", _by("f32")), I32, U32),
    _bad("ties go away from zero", _way(choose=_ties_away), F64, I64),
    _bad("fractions of floats are cut off", _way(choose=lambda whole, rest: whole), F64, F32, I32),
    _bad("too large floats become the largest", _to(_NARROW, _largest_for_infinity), F64, F32),
    _bad("pred by truncation", _way(true=_whole_is_true), F32, F64),
    _bad("pred by the low byte", _to("pred", _by("u8")), I16, U64),
    _bad("NaN is false", _way(true=_nan_is_false), F32, BF16, C64),
    _bad("negative numbers are false", _way(true=lambda element: element > 0), F32, I16),
    _bad("pred by the real part alone", _to("pred", _real_part_alone), C64, C128),
    _bad("the byte of a truth is a number", _before(_bytes), BOOL, ruling="D-WHERE-1"),
    _bad("only the byte 1 is true", _before(lambda x: _bytes(x) == 1), BOOL, ruling="D-WHERE-1"),
    _bad("unsigned numbers are taken for signed", _to("f16 bf16 f32 f64 c64 c128 s64", _signed), U32, U64),
    _bad("unsigned numbers go through s32", _to("u8 u16 u32 u64", _by("s32")), F32, F64),
    _bad("s64 goes through s32", _to("s64", _by("s32")), F64, I64),
    _bad("the imaginary part becomes one", _way(imaginary=1.0), F32, I32),
    _bad("the imaginary part is -0", _way(imaginary=-0.0), F64, I32),
    _bad(
        "complex numbers lose their imaginary part",
        _to("c64 c128", lambda x, to: converted(x, to).real.astype(converted(x, to).dtype)),
        C64,
        C128,
    ),
    _bad("-0 is lost", _after(damage.zero_sign_lost), F32, F64),
    _bad("infinities become the largest number", _after(damage.saturated), F32, BF16),
    _bad("subnormal inputs are flushed", _before(damage.flushed), F32, BF16, ruling="D-ALL-4"),
    _bad("subnormal outputs are flushed", _after(damage.flushed), F64, F32, ruling="D-ALL-4"),
    _bad("subnormal numbers are flushed from a type to itself", _same(damage.flushed), F32, ruling="D-ALL-4"),
    Mutant(
        "one element of a million is wrong",
        _NAME,
        (F32,),
        "D-XLA-3",
        _after(damage.one_element_wrong(777_777)),
        trials="million",
    ),
)

# The same of Cast, what is easily got wrong there: the ends of integers, a second rounding, what is true.
_OF_CAST = {
    "rounds to integers": (F32,),
    "floats wrap": (F64,),
    "floats are indefinite beyond the range": (F32, F16),
    "integers saturate": (I32,),
    "NaN becomes the least integer": (F32,),
    "rounds twice by way of float": (F64,),
    "rounds integers twice by way of double": (I64,),
    "ties go away from zero": (F64,),
    "pred by truncation": (F32,),
    "pred by the low byte": (I16,),
    "NaN is false": (F32,),
    "-0 is lost": (F32,),
    "subnormal inputs are flushed": (F32,),
    "the byte of a truth is a number": (BOOL,),
    "only the byte 1 is true": (BOOL,),
}
MUTANTS += tuple(
    replace(each, operator="cast", types=_OF_CAST[each.name], ruling=each.ruling.replace("XLA-3", "CAST"))
    for each in MUTANTS
    if each.name in _OF_CAST
)
