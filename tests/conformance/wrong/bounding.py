"""Clip and Clamp got wrong."""

from collections.abc import Callable, Sequence

import numpy as np
from tests.conformance.right.bounding import Cases, chosen, clamped, clip_cases
from tests.conformance.right.elements import FORMS, Array, is_nan, number
from tests.conformance.wrong import damage
from tests.conformance.wrong.damage import Damage
from tests.conformance.wrong.moving import damaged
from tests.conformance.wrong.mutant import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I64,
    U8,
    U16,
    U32,
    U64,
    Mutant,
)

from sonnx.conformance.runtimes.question import Question

# The element, min and max → the output.
Bounding = Callable[[Array, Array, Array], Array]


def _bounded(change: Bounding) -> Callable[[Question], Sequence[Array]]:
    def answer(question: Question) -> Sequence[Array]:
        x, low, high = question.operands.values()
        with np.errstate(all="ignore"):
            return [change(x, low, high)]

    return answer


def _clip(x: Array, low: Array, high: Array) -> Array:
    return chosen(x, low, high, clip_cases(number(x), number(low), number(high)))


def _clipped_as(kind: Callable[[Array], Array]) -> Bounding:
    """Comparisons of other numbers than those that are chosen from."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        return chosen(x, low, high, clip_cases(kind(x), kind(low), kind(high)))

    return bounding


def _as_signed(array: Array) -> Array:
    return array.view(array.dtype.str.replace("u", "i"))


def _as_unsigned(array: Array) -> Array:
    return array.view(array.dtype.str.replace("i", "u"))


def _as_double(array: Array) -> Array:
    return array.astype(np.float64)


def _before(change: Damage, *places: int) -> Callable[[Bounding], Bounding]:
    """Something is done to some of the operands."""

    def made(bounding: Bounding) -> Bounding:
        def changed(*operands: Array) -> Array:
            given = [change(each) if place in places else each for place, each in enumerate(operands)]
            return bounding(*given)

        return changed

    return made


def _nan_becomes_min(x: Array, low: Array, high: Array) -> Array:
    output = _clip(x, low, high)
    return np.where(is_nan(x), low, output)


def _poisoned(by_low: bool, by_high: bool) -> Bounding:
    """A NaN bound makes NaN of everything."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        output = _clip(x, low, high)
        if by_low and is_nan(low):
            output = np.full_like(x, low)
        if by_high and is_nan(high):
            output = np.full_like(x, high)
        return output

    return bounding


def _finite_for_nan(x: Array, low: Array, high: Array) -> Array:
    """A NaN bound counts as the lowest or the highest finite number, as the draft had it."""
    form = FORMS[x.dtype]
    largest = np.array(form.infinity - 1, form.raw).view(x.dtype)
    low = -largest if is_nan(low) else low
    return _clip(x, low, largest if is_nan(high) else high)


def _min_wins(x: Array, low: Array, high: Array) -> Array:
    output = _clip(x, low, high)
    return np.where(is_nan(x), x, low) if number(low) > number(high) else output


def _swapped(x: Array, low: Array, high: Array) -> Array:
    """Bounds that are crossed are put in order."""
    return _clip(x, high, low) if number(low) > number(high) else _clip(x, low, high)


def _crossed_does_nothing(x: Array, low: Array, high: Array) -> Array:
    return x.copy() if number(low) > number(high) else _clip(x, low, high)


def _crossed_before_nan(x: Array, low: Array, high: Array) -> Array:
    """That bounds are crossed is asked before whether the input is NaN."""
    return np.full_like(x, high) if number(low) > number(high) else _clip(x, low, high)


def _inclusive(low_too: bool, high_too: bool) -> Bounding:
    """`<=` and `>=` for `<` and `>`: a zero at a zero bound becomes the bound."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        output, value = _clip(x, low, high), number(x)
        if low_too and not number(low) > number(high):
            output = np.where((value == number(low)), low, output)
        if high_too and not number(low) > number(high):
            output = np.where((value == number(high)), high, output)
        return output

    return bounding


def _one_bound(low_too: bool) -> Bounding:
    def bounding(x: Array, low: Array, high: Array) -> Array:
        cases = clip_cases(number(x), number(low), number(high))
        nothing = np.zeros(x.shape, bool)
        return chosen(
            x, low, high, Cases(cases.low if low_too else nothing, nothing if low_too else cases.high)
        )

    return bounding


def _vectors(body: Bounding, rest: Bounding, lanes: int = 16) -> Bounding:
    """So many elements at a time one way, those that are left over another."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        flat, whole = x.reshape(-1), x.size // lanes * lanes
        parts = body(flat[:whole], low, high), rest(flat[whole:], low, high)
        return np.concatenate(parts).reshape(x.shape)

    return bounding


def _crossed_constants(question: Question) -> Sequence[Array]:
    """Bounds that the model holds are put in order when it is loaded."""
    return _bounded(_swapped if question.constants else _clip)(question)


def _numpy(x: Array, low: Array, high: Array) -> Array:
    """What NumPy means by it."""
    return np.clip(x, low, high)  # noqa: TID251  its will of its own is what is tried here


_FLUSHED = damage.flushed
_CLIP = (
    Mutant("NaN becomes min", "clip", (F32, F16), "D-CLIP-1", _bounded(_nan_becomes_min)),
    Mutant("a NaN min poisons", "clip", (F32, F64), "D-CLIP-1", _bounded(_poisoned(True, False))),
    Mutant("a NaN max poisons", "clip", (F32, F64), "D-CLIP-1", _bounded(_poisoned(False, True))),
    Mutant("NaN bounds poison", "clip", (F32, F16), "D-CLIP-1", _bounded(_poisoned(True, True))),
    Mutant("a NaN bound is finite", "clip", (F32, F64), "D-CLIP-1", _bounded(_finite_for_nan)),
    Mutant("NumPy's clip", "clip", (F32, F64), "D-CLIP-1", _bounded(_numpy)),
    Mutant("min wins over max", "clip", (F32, I8), "D-CLIP-1", _bounded(_min_wins)),
    Mutant("crossed bounds are put in order", "clip", (F32, U64), "D-CLIP-1", _bounded(_swapped)),
    Mutant("crossed constants are put in order", "clip", (F32,), "D-CLIP-1", _crossed_constants, twins=True),
    Mutant("crossed bounds do nothing", "clip", (F64, U8), "D-CLIP-1", _bounded(_crossed_does_nothing)),
    Mutant("crossed bounds hide NaN", "clip", (F32, F16), "D-CLIP-1", _bounded(_crossed_before_nan)),
    Mutant(
        "NaN becomes min in vectors",
        "clip",
        (F32, F64),
        "D-CLIP-1",
        _bounded(_vectors(_nan_becomes_min, _clip)),
    ),
    Mutant(
        "NaN becomes min in a rest",
        "clip",
        (F32, F16),
        "D-CLIP-1",
        _bounded(_vectors(_clip, _nan_becomes_min)),
    ),
    Mutant(
        "crossed bounds hide NaN in vectors",
        "clip",
        (F32, F64),
        "D-CLIP-1",
        _bounded(_vectors(_crossed_before_nan, _clip)),
    ),
    Mutant(
        "a zero becomes a bound in vectors",
        "clip",
        (F32, F16),
        "D-CLIP-2",
        _bounded(_vectors(_inclusive(True, True), _clip)),
    ),
    Mutant(
        "a zero becomes a bound in a rest",
        "clip",
        (F32,),
        "D-CLIP-2",
        _bounded(_vectors(_clip, _inclusive(True, True))),
    ),
    *(
        Mutant(name, "clip", (F32, F16), "D-CLIP-1", damaged("clip", change))
        for name, change in damage.NANS.items()
    ),
    Mutant("a zero at min becomes min", "clip", (F32, F64), "D-CLIP-2", _bounded(_inclusive(True, False))),
    Mutant("a zero at max becomes max", "clip", (F32, F16), "D-CLIP-2", _bounded(_inclusive(False, True))),
    Mutant("-0 is lost", "clip", (F32, F64), "D-CLIP-2", damaged("clip", damage.zero_sign_lost)),
    Mutant("XLA's zeros", "clip", (F32,), "D-CLIP-2", _bounded(clamped)),
    Mutant(
        "subnormal inputs are flushed", "clip", (F32, F16), "D-ALL-4", _bounded(_before(_FLUSHED, 0)(_clip))
    ),
    Mutant(
        "subnormal bounds are flushed",
        "clip",
        (F32, F64),
        "D-ALL-4",
        _bounded(_before(_FLUSHED, 1, 2)(_clip)),
    ),
    Mutant("subnormal outputs are flushed", "clip", (F32, F64), "D-ALL-4", damaged("clip", _FLUSHED)),
    Mutant(
        *("subnormal numbers are compared as zeros", "clip", (F32,), "D-ALL-4"),
        _bounded(_clipped_as(lambda array: number(_FLUSHED(array)))),
    ),
    Mutant(
        "infinities become the largest number",
        "clip",
        (F32, F16),
        "D-CLIP-5",
        damaged("clip", damage.saturated),
    ),
    Mutant(
        "doubles are compared as floats",
        "clip",
        (F64,),
        "D-CLIP-5",
        _bounded(_clipped_as(lambda a: a.astype("f4"))),
    ),
    Mutant(
        "unsigned numbers are compared as signed",
        "clip",
        (U8, U32, U64),
        "D-CLIP-5",
        _bounded(_clipped_as(_as_signed)),
    ),
    Mutant(
        "signed numbers are compared as unsigned",
        "clip",
        (I8, I64),
        "D-CLIP-5",
        _bounded(_clipped_as(_as_unsigned)),
    ),
    Mutant(
        "integers are compared as doubles", "clip", (I64, U64), "D-CLIP-5", _bounded(_clipped_as(_as_double))
    ),
    Mutant(
        "integers go through double", "clip", (I64, U64), "D-CLIP-5", damaged("clip", damage.through_double)
    ),
    Mutant("only min is applied", "clip", (F32, U16), "D-CLIP-5", _bounded(_one_bound(True))),
    Mutant("only max is applied", "clip", (F32, U16), "D-CLIP-5", _bounded(_one_bound(False))),
    Mutant(
        "a rest of vectors is not written",
        "clip",
        (F32, I8),
        "D-CLIP-5",
        damaged("clip", damage.last_elements_lost(8)),
    ),
    *(
        Mutant(
            *(f"element {place} of a million is wrong", "clip", (F32,), "D-CLIP-5"),
            damaged("clip", damage.one_element_wrong(place)),
            trials="million",
        )
        for place in (1, 524_289, 999_999)
    ),
)

# --- Clamp -------------------------------------------------------------------------------------------------


def _elementwise(bounding: Bounding) -> Bounding:
    """A bounding by scalars, element by element."""

    def bounded(x: Array, low: Array, high: Array) -> Array:
        output = x.copy()
        lows, highs = (np.broadcast_to(bound, x.shape) for bound in (low, high))
        for place in np.ndindex(x.shape):
            output[place] = bounding(*(np.asarray(each[place]) for each in (x, lows, highs)))
        return output

    return bounded


def _clip_where(test: Callable[[Array, Array, Array], Array]) -> Bounding:
    """Clip's result where something holds, Clamp's elsewhere."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        mask = np.broadcast_to(test(number(x), number(low), number(high)), x.shape)
        output = clamped(x, low, high)
        if mask.any():
            output = np.where(mask, _elementwise(_clip)(x, low, high), output)
        return output

    return bounding


def _max_of_min(x: Array, low: Array, high: Array) -> Array:
    """Min is applied last, as the draft's formula had it."""
    uncrossed, crossed = clamped(x, low, high), number(low) > number(high)
    return np.where(crossed & ~is_nan(x), np.broadcast_to(low, x.shape), uncrossed)


def _first_bound(x: Array, low: Array, high: Array) -> Array:
    """Of an array of bounds the first one serves all."""
    if not x.size:
        return x.copy()
    return clamped(x, low.reshape(-1)[0], high.reshape(-1)[0])


def _signed(x: Array, low: Array, high: Array) -> Array:
    return clamped(*map(_as_signed, (x, low, high))).view(x.dtype)


def _nan_lost(x: Array, low: Array, high: Array) -> Array:
    return np.where(is_nan(x), np.broadcast_to(low, x.shape), clamped(x, low, high))


_CLAMP = (
    Mutant(
        *("Clip's rule for NaN bounds", "xla.clamp", (F32, F64), "D-XLA-1"),
        _bounded(_clip_where(lambda x, low, high: np.isnan(low) | np.isnan(high))),
    ),
    Mutant(
        *("Clip's rule for zeros", "xla.clamp", (F32, F16), "D-XLA-1"),
        _bounded(_clip_where(lambda x, low, high: (x == 0) & ((low == 0) | (high == 0)))),
    ),
    Mutant("NaN becomes min", "xla.clamp", (F32, BF16), "D-XLA-1", _bounded(_nan_lost)),
    Mutant("-0 is lost", "xla.clamp", (F32, BF16), "D-XLA-1", damaged("xla.clamp", damage.zero_sign_lost)),
    Mutant("min wins over max", "xla.clamp", (F32, BOOL, U8), "D-XLA-1", _bounded(_max_of_min)),
    Mutant("the first bound serves all", "xla.clamp", (F32, I8), "D-XLA-1", _bounded(_first_bound)),
    Mutant("unsigned numbers are compared as signed", "xla.clamp", (U8, U64), "D-XLA-1", _bounded(_signed)),
    Mutant(
        "integers go through double",
        "xla.clamp",
        (I64, U64),
        "D-XLA-1",
        damaged("xla.clamp", damage.through_double),
    ),
    Mutant(
        "subnormal inputs are flushed",
        "xla.clamp",
        (F32, BF16),
        "D-ALL-4",
        _bounded(_before(_FLUSHED, 0)(clamped)),
    ),
    Mutant(
        "subnormal bounds are flushed",
        "xla.clamp",
        (F64, BF16),
        "D-ALL-4",
        _bounded(_before(_FLUSHED, 1, 2)(clamped)),
    ),
    Mutant(
        "infinities become the largest number",
        "xla.clamp",
        (F32, BF16),
        "D-XLA-1",
        damaged("xla.clamp", damage.saturated),
    ),
    Mutant(
        "max is not applied",
        "xla.clamp",
        (F32, BOOL),
        "D-XLA-1",
        _bounded(lambda x, low, high: clamped(x, low, x)),
    ),
    Mutant(
        *("one element of a million is wrong", "xla.clamp", (F32,), "D-XLA-1"),
        damaged("xla.clamp", damage.one_element_wrong(65_537)),
        trials="million",
    ),
)

# --- wrong for so many elements at a time alone ------------------------------------------------------------


def _quiet(x: Array, low: Array, high: Array) -> Array:
    return damage.quieted(_clip(x, low, high))


def _with_bounds(body: Bounding, lanes: int) -> Bounding:
    """So many elements at a time, each with its bounds, one way; the rest as it should be."""

    def bounding(x: Array, low: Array, high: Array) -> Array:
        whole = x.size // lanes * lanes
        flat = [np.broadcast_to(operand, x.shape).reshape(-1) for operand in (x, low, high)]
        parts = body(*(each[:whole] for each in flat)), clamped(*(each[whole:] for each in flat))
        return np.concatenate(parts).reshape(x.shape)

    return bounding


def _crossed_to_min(x: Array, low: Array, high: Array) -> Array:
    return np.where(number(low) > number(high), low, clamped(x, low, high))


_SOME = (
    Mutant(
        "signalling NaN is quieted in vectors", "clip", (F64,), "D-CLIP-1", _bounded(_vectors(_quiet, _clip))
    ),
    Mutant(
        *("NaN bounds poison in vectors of 64", "clip", (F64,), "D-CLIP-1"),
        _bounded(_vectors(_poisoned(True, True), _clip, 64)),
    ),
    Mutant(
        *("min wins over max in vectors of 64", "clip", (F64, I8), "D-CLIP-1"),
        _bounded(_vectors(_min_wins, _clip, 64)),
    ),
    Mutant(
        *("a zero becomes a bound in a rest of four", "clip", (F64, F16), "D-CLIP-2"),
        _bounded(_vectors(_clip, _inclusive(True, True), 4)),
    ),
    Mutant(
        *("crossed bounds hide NaN in a rest of four", "clip", (F32, F16), "D-CLIP-1"),
        _bounded(_vectors(_clip, _crossed_before_nan, 4)),
    ),
    Mutant(
        *("subnormal inputs are flushed in vectors of 64", "clip", (F32,), "D-ALL-4"),
        _bounded(_vectors(_before(_FLUSHED, 0)(_clip), _clip, 64)),
    ),
    Mutant(
        *("NaN becomes min in vectors of 128", "xla.clamp", (F32, BF16), "D-XLA-1"),
        _bounded(_with_bounds(_nan_lost, 128)),
    ),
    Mutant(
        *("crossed bounds become min in vectors of 128", "xla.clamp", (F32, I8, BOOL), "D-XLA-1"),
        _bounded(_with_bounds(_crossed_to_min, 128)),
    ),
)

MUTANTS = (*_CLIP, *_CLAMP, *_SOME)
