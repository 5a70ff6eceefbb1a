"""What the trials of all convolutions share: sums that show their order and roundings; and the clauses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np

from sonnx.model.dtype import INTEGERS, SIGNED, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype, zero
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.operators.shared.convolution import Axis, convolve, output_sizes, pad, windows
from sonnx.operators.shared.convolution_accuracy import convolution_bound
from sonnx.vocabulary.draws import Draw, drawn_array, drawn_beside, rarely, whole_values
from sonnx.vocabulary.special_values import (
    Random,
    Shape,
    is_infinite,
    is_nan,
    is_negative_zero,
    is_subnormal,
    random_bits,
    random_numbers,
    replaced,
    special_values,
    whole_numbers,
)
from sonnx.vocabulary.trial import Clause

# A number, or the name of a special value.
Value = Fraction | int | str
Term = tuple[Value, Value]

# How many random trials there are of a type.
RANDOM = 24
# Of 256 codes of a drawn element, those from here on stand for no small whole number.
_NOT_WHOLE = 64
# No drawn image or kernel has more elements; sums over the reals take their time.
_MOST_ELEMENTS = 49

# Channels, lines, columns: the products of one sum, where "M" is a number so large that ones beside it are
# lost. Another order of the axes, the reverse, pairs, lanes or partial sums all give another result.
ORDER: tuple[tuple[tuple[int | str, ...], ...], ...] = (
    ((2, "M", 4), (5, 2, 2)),
    ((2, "M", "-M"), (2, "-M", 3)),
)


# Shapes of an image and a kernel whose sums have so many terms: more than are taken at once. There are few
# sums, because each is worked out over the reals.
LONG: Mapping[int, tuple[Shape, Shape]] = {
    297: ((1, 33, 3, 5), (2, 33, 3, 3)),
    603: ((1, 67, 3, 4), (2, 67, 3, 3)),
    1100: ((1, 1100, 1, 3), (2, 1100, 1, 1)),
}
_LONG_AND_EXACT, _LONG_AND_ROUNDED = (297, 1100), 603


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
    # Two squares leave twice as many bits, in which a step of a processor may saturate; so do all of them.
    text = "Squares wrap, however many are added at a time."
    yield Sum("squares-of-the-greatest", text, ((info.max, info.max),) * 9)
    if dtype in SIGNED:
        yield Sum("squares-of-the-least", text, ((info.min, info.min),) * 9)
        yield Sum("least-times-minus-one", "The negative of the least is itself.", ((info.min, -1),))


@dataclass(frozen=True, eq=False)
class LongSum:
    """An image and a kernel whose sums have many terms, and what may be added to them."""

    name: str
    text: str
    X: Array
    W: Array
    B: Array


def long_sums(dtype: DType) -> Iterator[LongSum]:
    """Sums of many terms: exact in any order; and such that show what a part of them loses."""
    for count in _LONG_AND_EXACT:
        random, (image, kernel) = np.random.default_rng(count), LONG[count]
        X, W = (whole_numbers(random, dtype, shape, most) for shape, most in ((image, 7), (kernel, 3)))
        bias, text = whole_numbers(random, dtype, kernel[:1], 9), f"Sums of {count} terms, whole numbers."
        yield LongSum(f"long-sum-of-{count}", text, X, W, bias)
    count = _LONG_AND_ROUNDED
    random, (image, kernel) = np.random.default_rng(count), LONG[count]
    bias = random_numbers(random, dtype, kernel[:1])
    if dtype in FORMATS:
        X, W = _there_and_back(random, dtype, image, kernel)
        text = f"Sums of {count} terms, which grow to the middle and then shrink."
    else:
        X, W = (random_bits(random, dtype, shape) for shape in (image, kernel))
        text = f"Sums of {count} terms of any bits, which wrap."
    yield LongSum(f"long-sum-of-{count}", text, X, W, bias)


def _there_and_back(random: Random, dtype: DType, image: Shape, kernel: Shape) -> tuple[Array, Array]:
    """Fractions, of which those of one half of a kernel's channels are positive and the others negative.

    Half-way a sum is so large that to hold it in a narrow type loses more than rounding the result does.
    """
    form = FORMATS[dtype]
    X, W = (random_numbers(random, dtype, shape).view(form.held_as) for shape in (image, kernel))
    X, W = X & form.held_as.type(form.sign_bit - 1), W & form.held_as.type(form.sign_bit - 1)
    W[:, kernel[1] // 2 :] |= form.held_as.type(form.sign_bit)
    return X.view(numpy_dtype(dtype)), W.view(numpy_dtype(dtype))


# --- random and drawn arrays and geometry ------------------------------------------------------------------


def with_special(X: Array, W: Array) -> tuple[Array, Array]:
    """Images and kernels of two axes with what is not finite here and there, and a kernel of zeros.

    It lies in places that are even, so that steps of two meet it, and apart, so that not everything is NaN.
    """
    values = special_values(held_type(X))
    infinity, less, nan = (values[name] for name in ("infinity", "minus-infinity", "nan-with-payload"))
    image: Mapping[tuple[int, ...], Array] = {(0, 0, 4, 6): nan, (0, 1, 2, 2): infinity, (0, 2, 6, 2): less}
    taps: Mapping[tuple[int, ...], Array] = {(-3, 0, -1, -1): nan, (-2, 0, 0, 0): infinity}
    zeros = replaced(W, {(-1,): values["zero"]})
    return replaced(X, image), replaced(zeros, taps)


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
    return _axis(lambda low, high: int(random.integers(low, high + 1)))


def _axis(integer: Callable[[int, int], int]) -> tuple[int, Axis]:
    """The same from whatever gives integers from one to another."""
    kernel, stride, dilation = (integer(1, most) for most in (3, 3, 2))
    begin, end = (integer(0, 2) for _ in range(2))
    axis = Axis(kernel, stride, dilation, begin, end)
    least = max(axis.extent - begin - end, 1)
    return integer(least, least + 2), axis


def random_slide(random: Random, count: int) -> tuple[Shape, Shape, list[Axis]]:
    """The shapes of an input and a kernel, and how this slides along so many axes."""
    found = [random_axis(random) for _ in range(count)]
    batch, channels, outputs = (int(random.integers(1, most)) for most in (3, 5, 6))
    axes = [axis for _, axis in found]
    kernel = tuple(axis.kernel for axis in axes)
    return (batch, channels, *(size for size, _ in found)), (outputs, channels, *kernel), axes


def drawn_slide(draw: Draw, count: int) -> tuple[Shape, Shape, list[Axis]]:
    """The same, drawn piece by piece."""
    found = [_axis(draw.integer) for _ in range(count)]
    sizes, axes = tuple(size for size, _ in found), [axis for _, axis in found]
    kernel = tuple(axis.kernel for axis in axes)
    left = _MOST_ELEMENTS // prod(sizes)
    batch = draw.integer(1, min(left, 2))
    channels = draw.integer(1, min(left // batch, 3))
    outputs = draw.integer(1, min(_MOST_ELEMENTS // (channels * prod(kernel)), 3))
    leading = [batch, channels, outputs]
    if rarely(draw):
        leading[draw.integer(0, 2)] = 0
    batch, channels, outputs = leading
    return (batch, channels, *sizes), (outputs, channels, *kernel), axes


def drawn_elements(draw: Draw, dtype: DType, *shapes: Shape) -> list[Array]:
    """Arrays of one of the four kinds, which are simpler where their elements are small whole numbers."""
    kind = draw.integer(0, 3)
    if kind == 3:
        return [drawn_array(draw, dtype, shape) for shape in shapes]
    return [
        drawn_beside(draw, whole_values(dtype), shape, _random_maker(dtype, shape, kind), _NOT_WHOLE)
        for shape in shapes
    ]


def _random_maker(dtype: DType, shape: Shape, kind: int) -> Callable[[Random], Array]:
    return lambda random: random_elements(random, dtype, shape, kind)


# --- clauses -----------------------------------------------------------------------------------------------

_ORDER_TEXT = "Products are added one at a time, by input channels or features, then by the kernel's axes."
_ROUNDED = {
    **dict.fromkeys((DType.FLOAT, DType.DOUBLE), "Each step is rounded, by one rounding or two."),
    **dict.fromkeys((DType.FLOAT16, DType.BFLOAT16), "Sums are of type float and rounded once at the end."),
}


@dataclass(frozen=True)
class Rulings:
    """What decides: that zeros are inserted, where they lie, where elements lie, how sums are taken.

    And with what a sum begins, of operators that have a bias.
    """

    zeros: str
    padding: str
    places: str
    order: str
    bias: str | None = None


@dataclass(frozen=True)
class _Slide:
    """A convolution of such shapes. Masks have the axes batch, group, channel in it, term, positions."""

    X: Shape
    W: Shape
    axes: Sequence[Axis]
    group: int

    @property
    def positions(self) -> Shape:
        """The sizes of the output's spatial axes."""
        return output_sizes(self.X[2:], self.axes)

    @property
    def terms(self) -> int:
        """The number of products in every sum."""
        return int(np.prod(self.W[1:], dtype=np.int64))

    def met(self, padded: Array) -> Array:
        """What the taps of a kernel meet in a padded input."""
        # What is padded already is cut as it is.
        sliding = [replace(axis, begin=0, end=0, base_dilation=1) for axis in self.axes]
        found = np.empty((self.X[0], self.group, 1, self.terms, *self.positions), padded.dtype)
        for number, window in enumerate(windows(sliding, self.positions, self.group).cut(padded)):
            found[:, :, 0, number] = window
        return found

    def of_channels(self, values: Array, count: int) -> Array:
        """Values of the output channels, so many for each."""
        ones = (1,) * len(self.positions)
        return values.reshape(1, self.group, self.W[0] // self.group, count, *ones)

    def output(self, mask: Array) -> Array:
        """Where some term passes, by output element."""
        shape = (self.X[0], self.group, self.W[0] // self.group, *self.positions)
        return np.broadcast_to(mask.any(axis=3), shape).reshape(self.X[0], self.W[0], *self.positions)


def convolution_clauses(
    X: Array, W: Array, B: Array | None, axes: Sequence[Axis], group: int, rulings: Rulings
) -> tuple[Clause, ...]:
    """What is not finite, what is too large or too small, what is exact; the order decides the rest."""
    dtype = held_type(X)
    start = np.full(len(W), zero(dtype), dtype=X.dtype) if B is None else B
    slide = _Slide(X.shape, W.shape, axes, group)
    inserted = slide.met(pad(np.ones(X.shape), axes, DType.DOUBLE)) == 0
    with np.errstate(all="ignore"):
        unbounded = np.isinf(convolution_bound(X, W, B, axes, group, "separate", "specified"))
        if dtype in INTEGERS:
            return _integer_clauses(slide.output(inserted), unbounded, rulings)
        x = slide.met(pad(X, axes, dtype))
        w, b = slide.of_channels(W, slide.terms), slide.of_channels(start, 1)
        masks = _Masks(*map(slide.output, _masks(x, w, b, inserted)))
        result = convolve(X, W, start, axes, group, dtype, "separate")
    range_text = "In this order a sum may leave the type's range, and is infinite then."
    zero_text = "A sum of zeros is -0 only if all products and its start are; without a bias it starts at +0."
    subnormal = masks.subnormal | is_subnormal(result)
    return (
        Clause(rulings.zeros, "A zero of the padding times an infinity or a NaN is NaN.", masks.padded),
        Clause("D-ALL-4", "A NaN among the operands of a sum makes it NaN.", masks.nan),
        Clause("D-ALL-4", "A zero times an infinity is NaN.", masks.zero_times_infinity),
        Clause("D-ALL-4", "An infinity stays, and two of unlike sign give NaN.", masks.infinite),
        Clause(rulings.order, range_text, unbounded),
        Clause("D-ALL-4", "Subnormal operands, products and results are kept.", subnormal),
        Clause(rulings.order, zero_text, masks.zeros),
        *_bias_clauses(masks.bias, rulings),
        *_place_clauses(masks.exact, slide.output(inserted), rulings),
        Clause(rulings.order, f"{_ORDER_TEXT} {_ROUNDED[dtype]}", np.ones(result.shape, bool)),
    )


def _bias_clauses(alone: Array, rulings: Rulings) -> tuple[Clause, ...]:
    text = "Where all products are 0, a sum is the bias of its channel."
    return () if rulings.bias is None else (Clause(rulings.bias, text, alone),)


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


@dataclass(frozen=True)
class _Masks:
    """What some term of a sum is, or the sum itself."""

    padded: Array
    nan: Array
    zero_times_infinity: Array
    infinite: Array
    subnormal: Array
    zeros: Array
    bias: Array
    exact: Array


def _masks(x: Array, w: Array, start: Array, inserted: Array) -> Iterator[Array]:
    """The same, with an axis for terms, where what is said of the sum stands once."""
    accumulator = FORMATS[ACCUMULATOR[held_type(x)]]
    wide_x, wide_w, wide_start = (operand.astype(np.float64) for operand in (x, w, start))  # exact
    product = wide_x * wide_w
    something = (wide_x != 0) & (wide_w != 0)
    yield inserted & (is_nan(w) | is_infinite(w))
    yield _either(is_nan(x), is_nan(w), is_nan(start))
    yield (is_infinite(x) & (wide_w == 0)) | ((wide_x == 0) & is_infinite(w))
    yield _either(is_infinite(x), is_infinite(w), is_infinite(start))
    tiny = something & (np.abs(product) < float(accumulator.smallest_normal))
    yield _either(is_subnormal(x), is_subnormal(w), is_subnormal(start)) | _some(tiny)
    # Where all products are -0, or the start is, another start or another order shows in the sign.
    other = _some(something | ~np.signbit(product))
    yield (~other & (start == 0)) | (~_some(something) & is_negative_zero(start))
    yield ~_some(something) & (wide_start != 0)
    magnitude = np.abs(wide_start) + np.abs(product).sum(axis=3, keepdims=True)
    fraction = _either(wide_x % 1 != 0, wide_w % 1 != 0, wide_start % 1 != 0)
    # Whole numbers up to this one are added without rounding, in whatever order and in the type itself.
    yield ~fraction & (magnitude <= 1 << FORMATS[held_type(x)].precision)


def _some(mask: Array) -> Array:
    return np.asarray(mask.any(axis=3, keepdims=True))


def _either(x: Array, w: Array, start: Array) -> Array:
    """Whether an element that a sum meets passes, a weight, or what it starts with."""
    return _some(x) | _some(w) | start
