"""What the trials of all convolutions share: sums that show their order and roundings; and the clauses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sonnx.model.dtype import INTEGERS, SIGNED, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype, zero
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.operators.shared.convolution import Axis, convolve, output_sizes, pad, windows
from sonnx.operators.shared.convolution_accuracy import convolution_bound
from sonnx.operators.shared.special_values import (
    Random,
    Shape,
    is_infinite,
    is_nan,
    is_negative_zero,
    is_subnormal,
    random_bits,
    random_numbers,
    special_values,
    whole_numbers,
)
from sonnx.operators.shared.trials import Clause

# A number, or the name of a special value.
Value = Fraction | int | str
Term = tuple[Value, Value]

# Channels, lines, columns: the products of one sum, where "M" is a number so large that ones beside it are
# lost. Another order of the axes, the reverse, pairs, lanes or partial sums all give another result.
ORDER: tuple[tuple[tuple[int | str, ...], ...], ...] = (
    ((2, "M", 4), (5, 2, 2)),
    ((2, "M", "-M"), (2, "-M", 3)),
)


@dataclass(frozen=True)
class Sum:
    """A sum of products, its terms in the order in which they are added to `start`, or to nothing."""

    name: str
    text: str
    terms: tuple[Term, ...]
    start: Value | None = None

    def factors(self, dtype: DType) -> tuple[Array, Array]:
        """The first and the second factors of all terms, as vectors."""
        first, second = (
            [element(value, dtype) for value in values] for values in zip(*self.terms, strict=True)
        )
        return np.stack(first), np.stack(second)


def element(value: Value, dtype: DType) -> Array:
    """A number of the type as a scalar; integers wrap."""
    if isinstance(value, str):
        return special_values(dtype)[value]
    if dtype in FORMATS:
        return np.asarray(nearest(Fraction(value), dtype))
    bits = 8 * numpy_dtype(dtype).itemsize
    return np.array(int(value) % 2**bits, f"u{bits // 8}").view(numpy_dtype(dtype))


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _product(exponent: int) -> tuple[Fraction, Fraction]:
    """Two factors whose product is this power of two, each about its root: narrow types hold them."""
    return _power(exponent // 2), _power(exponent - exponent // 2)


def _large(dtype: DType) -> tuple[Fraction, Fraction]:
    """A product beside which the accumulator loses ones."""
    return _product(FORMATS[ACCUMULATOR[dtype]].precision + 1)


def ordered_terms(dtype: DType) -> tuple[Array, Array]:
    """The factors of `ORDER`: arrays of channels, lines, columns."""
    large, small = _large(dtype)
    table: Mapping[int | str, Term] = {"M": (large, small), "-M": (-large, small)}
    terms = [table.get(name, (name, 1)) for plane in ORDER for line in plane for name in line]
    first, second = Sum("", "", tuple(terms)).factors(dtype)
    shape = (len(ORDER), len(ORDER[0]), len(ORDER[0][0]))
    return first.reshape(shape), second.reshape(shape)


def sums(dtype: DType) -> tuple[Sum, ...]:
    """Sums of a type that show how it is added up."""
    if dtype in INTEGERS:
        return tuple(_integer_sums(dtype))
    return (*_lost(dtype), *_too_large(dtype), *_subnormal(dtype), *_special())


def _lost(dtype: DType) -> Iterator[Sum]:
    form, narrow = FORMATS[dtype], FORMATS[dtype] != FORMATS[ACCUMULATOR[dtype]]
    large, one = _large(dtype), (1, 1)
    less, half = (-large[0], large[1]), (form.precision + 1) // 2
    # Just so many bits that a square needs more than the type has.
    near = 1 + _power(-half)
    yield Sum("cancel", "A one is lost before large numbers cancel.", (large, one, less))
    yield Sum("cancel-and-one", "A one is lost, the next one is not.", (large, one, less, one))
    yield Sum("cancel-after-ones", "Sixteen ones are lost one by one.", (large, *[one] * 16, less))
    yield Sum("ones-before-cancel", "Sixteen ones come before large numbers.", (*[one] * 16, large, less))
    yield Sum("start-is-lost", "The sum starts at 1, which is lost.", (large, less), start=1)
    text = "The accumulator has the precision that is specified, no less and no more."
    yield Sum("one-beyond-precision", text, ((_power(form.precision), 1), one, one))
    yield Sum(
        "square-less-one",
        "A square is rounded by itself, in the accumulator's precision, or not at all.",
        ((-1, 1), (near, near)),
    )
    yield Sum("tie-to-even", "The last rounding meets a tie.", (one, (_power(-form.precision), 1)))
    above = _product(-2 * form.precision) if narrow else (_power(1 - 2 * form.precision), 1)
    text = "The last rounding meets a number just above a tie."
    yield Sum("above-a-tie", text, (one, (_power(-form.precision), 1), above))


def _too_large(dtype: DType) -> Iterator[Sum]:
    largest = FORMATS[dtype].largest
    half_step = _power(FORMATS[dtype].emax - FORMATS[dtype].precision)
    most, least = (largest, 1), (-largest, 1)
    text = "The largest numbers are added, then taken away."
    yield Sum("largest-and-back", text, (most, most, least, least))
    yield Sum("half-a-step-too-large", "A sum rounds to infinity.", (most, (half_step, 1)))
    yield Sum("quarter-step-too-large", "A sum rounds to the largest number.", (most, (half_step / 2, 1)))
    yield Sum("product-too-large", "A product is too large, not the sum.", (least, (largest, 2)))
    text = "A product that is too large meets a sum that is."
    yield Sum("both-too-large", text, (most, most, (-largest, 2)))


def _subnormal(dtype: DType) -> Iterator[Sum]:
    form = FORMATS[dtype]
    place = form.emin - form.precision + 1
    smallest, half = _product(place), _product(place - 1)
    three = (3 * _power((place - 1) // 2), half[1])
    yield Sum("smallest-product", "A product is the smallest number.", (smallest,))
    yield Sum("half-of-smallest", "A product is half the smallest number, a tie.", (half,))
    yield Sum("three-halves-of-smallest", "A product lies between subnormal numbers.", (three,))
    yield Sum("smallest-and-half", "Half the smallest number is added to it.", (smallest, half))
    yield Sum("nine-smallest", "Subnormal products add up.", (smallest,) * 9)
    text = "The difference of normal numbers is subnormal."
    yield Sum("subnormal-difference", text, ((form.smallest_normal, 1), (-form.smallest, 1)))
    text = "A subnormal factor of a normal product counts."
    yield Sum("subnormal-factor", text, ((form.smallest, _power(form.emax)),))


def _special() -> Iterator[Sum]:
    one = (1, 1)
    yield Sum("minus-zero", "A sum that starts at +0 is +0.", (("minus-zero", 1),))
    yield Sum("minus-zeros", "Zeros of one sign keep it.", (("minus-zero", 1),) * 2, start="minus-zero")
    yield Sum("zeros", "Zeros of both signs give +0.", (("minus-zero", 1), (0, 1)), start="minus-zero")
    yield Sum("cancel-to-zero", "Numbers that cancel give +0.", (one, (-1, 1)))
    yield Sum("zero-times-infinity", "A zero times an infinity is NaN.", (one, (0, "infinity")))
    yield Sum("infinity-times-zero", "A zero weight does not hide an infinity.", (("minus-infinity", 0), one))
    text = "Infinities of both signs give NaN."
    yield Sum("unlike-infinities", text, (("infinity", 1), (1, "minus-infinity")))
    yield Sum("infinity", "An infinity stays.", (one, ("infinity", -1), one))
    yield Sum("nan-times-zero", "A zero weight does not hide a NaN.", (one, ("nan-with-payload", 0)))


def _integer_sums(dtype: DType) -> Iterator[Sum]:
    info = np.iinfo(numpy_dtype(dtype))
    greatest, least, one = (info.max, 1), (info.min, 1), (1, 1)
    yield Sum("greatest-and-one", "A sum wraps to the other end.", (greatest, one))
    yield Sum("twice-the-greatest", "A product wraps.", ((info.max, 2),))
    yield Sum("square-of-the-greatest", "A product wraps many times.", ((info.max, info.max),))
    yield Sum("square-of-the-least", "A product wraps to nothing.", ((info.min, info.min), one))
    yield Sum("out-and-back", "A sum leaves the range and comes back.", (greatest, one, least, (-1, 1)))
    yield Sum("many-ones", "Three hundred ones, more than a byte holds.", (one,) * 300)
    yield Sum("all-bits", "No bit is lost on the way.", ((info.max - 1, 1), one))
    if dtype in SIGNED:
        yield Sum("least-times-minus-one", "The negative of the least is itself.", ((info.min, -1),))


# --- random arrays and geometry ----------------------------------------------------------------------------


def random_elements(random: Random, dtype: DType, shape: Shape, kind: int) -> Array:
    """Of four kinds, in turn: whole numbers, fractions, numbers of very unlike size, any bits."""
    if kind % 4 == 0:
        return whole_numbers(random, dtype, shape, 7)
    if kind % 4 == 3:
        return random_bits(random, dtype, shape)
    # Products of the widest reach beyond the ends of the type, small or large.
    widest = FORMATS[dtype].emax * 2 // 3 if dtype in FORMATS else 0
    return random_numbers(random, dtype, shape, octaves=3 if kind % 4 == 1 else widest)


def random_axis(random: Random) -> tuple[int, Axis]:
    """A size and how a kernel slides along it, at least one place."""
    kernel, stride, dilation = (int(random.integers(1, most)) for most in (4, 4, 3))
    begin, end = (int(random.integers(0, 3)) for _ in range(2))
    axis = Axis(kernel, stride, dilation, begin, end)
    least = max(axis.extent - begin - end, 1)
    return int(random.integers(least, least + 3)), axis


# --- clauses -----------------------------------------------------------------------------------------------


_ORDER_TEXT = "Products are added one at a time, by input channels or features, then by the kernel's axes."
_ROUNDED = {
    **dict.fromkeys((DType.FLOAT, DType.DOUBLE), "Each step is rounded, by one rounding or two."),
    **dict.fromkeys((DType.FLOAT16, DType.BFLOAT16), "Sums are of type float and rounded once at the end."),
}
# What one term of a sum may be.
_FROM_TERMS = (
    *("inserted", "inserted_special", "nan", "zero_times_infinity"),
    *("infinite", "subnormal", "something", "other", "fraction"),
)


@dataclass(frozen=True)
class Rulings:
    """What decides: that zeros are inserted, where they lie, where elements lie, how sums are taken."""

    zeros: str
    padding: str
    places: str
    order: str


@dataclass(frozen=True)
class _Terms:
    """What some term of every sum has, by output element."""

    inserted: Array
    inserted_special: Array
    nan: Array
    zero_times_infinity: Array
    infinite: Array
    subnormal: Array
    minus_zeros: Array
    whole: Array


def convolution_clauses(
    X: Array, W: Array, B: Array | None, axes: Sequence[Axis], group: int, rulings: Rulings
) -> tuple[Clause, ...]:
    """What is not finite, what is too large or too small, what is exact; the order decides the rest."""
    dtype = held_type(X)
    start = np.full(len(W), zero(dtype), dtype=X.dtype) if B is None else B
    with np.errstate(all="ignore"):
        terms = _terms(X, W, start, axes, group)
        unbounded = np.isinf(convolution_bound(X, W, B, axes, group, "separate", "specified"))
        if dtype in INTEGERS:
            return _integer_clauses(terms.inserted, unbounded, rulings)
        # Whole numbers up to this one are added without rounding, in whatever order.
        most = 1 << FORMATS[ACCUMULATOR[dtype]].precision
        exact = terms.whole & (_magnitude(X, W, start, axes, group) <= most)
        result = convolve(X, W, start, axes, group, dtype, "separate")
    return (
        Clause(
            rulings.zeros,
            "A zero of the padding times an infinity or a NaN is NaN.",
            terms.inserted_special,
        ),
        Clause("D-ALL-4", "A NaN among the operands of a sum makes it NaN.", terms.nan),
        Clause("D-ALL-4", "A zero times an infinity is NaN.", terms.zero_times_infinity),
        Clause("D-ALL-4", "An infinity stays, and two of unlike sign give NaN.", terms.infinite),
        Clause(
            rulings.order, "In this order a sum may leave the type's range, and is infinite then.", unbounded
        ),
        Clause(
            "D-ALL-4",
            "Subnormal operands, products and results are kept.",
            terms.subnormal | is_subnormal(result),
        ),
        Clause(
            rulings.order,
            "A sum of zeros is -0 only if all products and its start are; without a bias it starts at +0.",
            terms.minus_zeros,
        ),
        *_place_clauses(exact, terms.inserted, rulings),
        Clause(rulings.order, f"{_ORDER_TEXT} {_ROUNDED[dtype]}", np.ones(result.shape, bool)),
    )


def _integer_clauses(inserted: Array, wraps: Array, rulings: Rulings) -> tuple[Clause, ...]:
    return (
        Clause(rulings.order, "Integers that leave their range wrap modulo a power of two.", wraps),
        *_place_clauses(np.ones(wraps.shape, bool), inserted, rulings),
    )


def _place_clauses(exact: Array, inserted: Array, rulings: Rulings) -> tuple[Clause, ...]:
    """Where no order and no rounding matters, only the elements that meet are left to go wrong."""
    text = "In any order the sum is the same here, so the elements that meet decide"
    return (
        Clause(rulings.padding, f"{text}: zeros lie where the padding says.", exact & inserted),
        Clause(rulings.places, f"{text}: a tap meets place position · stride + tap · dilation.", exact),
    )


def _terms(X: Array, W: Array, start: Array, axes: Sequence[Axis], group: int) -> _Terms:
    positions = output_sizes(X.shape[2:], axes)
    shape = (len(X), group, len(W) // group, *positions)
    weights = W.reshape(group, len(W) // group, int(np.prod(W.shape[1:], dtype=np.int64)))
    padded, present = pad(X, axes, held_type(X)), pad(np.ones(X.shape), axes, DType.DOUBLE)
    # What is padded already is cut as it is.
    sliding = [replace(axis, begin=0, end=0, base_dilation=1) for axis in axes]
    cut = windows(sliding, positions, group).cut
    column = (group, len(W) // group, *[1] * len(positions))
    found = {name: np.zeros(shape, bool) for name in _FROM_TERMS}
    for number, (window, there) in enumerate(zip(cut(padded), cut(present), strict=True)):
        x, w = window[:, :, np.newaxis], weights[:, :, number].reshape(column)
        for name, mask in _term(x, w, there[:, :, np.newaxis] == 0).items():
            found[name] |= mask
    # Where all products are -0, or the start is, another start or another order shows in the sign.
    nothing, minus = ((mask & (start == 0)).reshape(column) for mask in (True, is_negative_zero(start)))
    minus_zeros = (~found["other"] & nothing) | (~found["something"] & minus)
    whole = (start.astype(np.float64) % 1 == 0).reshape(column)
    nan = found["nan"] | is_nan(start).reshape(column)
    infinite = found["infinite"] | is_infinite(start).reshape(column)
    subnormal = found["subnormal"] | is_subnormal(start).reshape(column)
    masks = (
        *(found["inserted"], found["inserted_special"], nan, found["zero_times_infinity"], infinite),
        *(subnormal, minus_zeros, ~found["fraction"] & whole),
    )
    return _Terms(*(mask.reshape(len(X), len(W), *positions) for mask in masks))


def _term(x: Array, w: Array, inserted: Array) -> dict[str, Array]:
    """What one term is, for every output element; doubles hold every float, and integers well enough."""
    form = FORMATS.get(ACCUMULATOR[held_type(x)])
    normal = 0.0 if form is None else float(form.smallest_normal)
    wide_x, wide_w = x.astype(np.float64), w.astype(np.float64)
    something, product = (wide_x != 0) & (wide_w != 0), wide_x * wide_w
    return {
        "inserted": inserted,
        "inserted_special": inserted & (is_nan(w) | is_infinite(w)),
        "nan": is_nan(x) | is_nan(w),
        "zero_times_infinity": (is_infinite(x) & (wide_w == 0)) | ((wide_x == 0) & is_infinite(w)),
        "infinite": is_infinite(x) | is_infinite(w),
        "subnormal": is_subnormal(x) | is_subnormal(w) | (something & (np.abs(product) < normal)),
        "something": something,
        "other": something | ~np.signbit(product),
        "fraction": (wide_x % 1 != 0) | (wide_w % 1 != 0),
    }


def _magnitude(X: Array, W: Array, start: Array, axes: Sequence[Axis], group: int) -> Array:
    """The sums of all magnitudes, as doubles."""
    sizes = [np.abs(operand.astype(np.float64)) for operand in (X, W, start)]
    return convolve(sizes[0], sizes[1], sizes[2], axes, group, DType.DOUBLE, "separate")
