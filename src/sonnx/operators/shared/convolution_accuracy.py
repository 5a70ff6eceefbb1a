"""How far an IEEE convolution may lie from the exact one.

Notation: n terms, u the unit roundoff and η the smallest positive number of the accumulator. A rounded
product is x·w·(1+δ) + ε and a rounded sum s·(1+δ), with |δ| ≤ u and |ε| ≤ η/2 (ε only where the product
is subnormal; sums are exact there). A fused step is (s + x·w)·(1+δ) + ε, with ε only where its result is
subnormal. Either way there is at most one ε per term. A product that passes through e roundings in all is
therefore off by at most ((1+u)^e - 1)·|x·w|, and every ε by at most η/2·(1+u)^n. How large e is depends on
the order:

- specified order: the k-th product (from 1) is rounded itself (not if fused) and in n-k+1 sums, the bias
  in n sums; without a bias the first rounded product is added to 0, which rounds nothing;
- any order, any bracketing, with or without fused steps: a product passes at most n+1 roundings, or n
  without a bias, and the bias at most n;
- the same in a wider accumulator, of u' ≤ u/2^11 and with more exponents, so without any ε: the result is
  rounded once more in the end, with δ or one ε. Where e ≥ 2 this is within the same bound, because
  (1+u')^2 ≤ 1+u and e ≤ 2(e-1) make (1+u')^e ≤ (1+u)^(e-1). Where e is 1, of the one product without a bias
  and of the bias beside one product, (1+u')·(1+u) - 1 ≤ u·(1+2^-10): so e is 1 + 2^-10 there;
- compensated (Kahan): what a sum of s and y has lost is known but for the rounding of s + y - s, which counts
  where |s| < |y|, and to take it away rounds once more. So a term is off by 2u, and by O(n·u²), which is less
  than u·2^-10 where n is small and less than u where it is not: e is at least 2 + 2^-10, and 3 + 2^-10 of
  rounded products. One product alone is compensated for nothing.

float16 multiplies exactly in float, so its products have neither δ nor ε; its result is rounded once more.
(Without a bias its first sum is exact too, which the bound does not use.) bfloat16 has float's exponents, so
its products have no δ, but an ε where they are subnormal. Integers are exact as long as nothing wraps.

An engine that flushes subnormals to zero replaces each η/2 by the smallest normal number, for sums too: with
2n operations there are at most 2n of them (`flushed`); its inputs must not be subnormal themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.convert import convert
from sonnx.numeric.enclosure import Enclosure
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.real import real
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.operators.shared.convolution import Axis, convolve, output_sizes, pad, windows
from sonnx.operators.shared.moved import no_error

_DOUBLE = FORMATS[DType.DOUBLE]
# Types whose products are exact in the accumulator, but for underflow, and whose result is rounded again.
_NARROW = (DType.FLOAT16, DType.BFLOAT16)
_LONG = 64
# Two numbers divided by so large a power of two have products of which a million can be added.
_FAR = 524
# The least precision of an accumulator that is wider than double, and what one more rounding there counts.
_EXTENDED = 64
_ONCE_MORE = 1 + 2.0**-10
# As how many roundings the sum of a few terms counts at least that takes along what it loses.
_COMPENSATED = 2 + 2.0**-10


@dataclass(frozen=True)
class Sum:
    """One convolution as seen by its error analysis; its elements are of `dtype`, held as doubles."""

    X: Array
    W: Array
    B: Array | None
    axes: Sequence[Axis]
    group: int
    dtype: DType
    accumulate: str

    @property
    def terms(self) -> int:
        """The number of products in every sum."""
        return int(np.prod(self.W.shape[1:], dtype=np.int64))

    def magnitude(self, per_term: Array, of_bias: float) -> Array:
        """An upper bound of Σ_k per_term[k]·|x_k·w_k| + of_bias·|b|, rounding of this sum included."""
        # A zero weight stays zero: next to it, the least positive double is not negligible times a large x.
        scaled = np.abs(self.W) * per_term.reshape(self.W.shape[1:])
        weights = np.where(self.W == 0, 0.0, _up(scaled))
        start = self.start if self.B is None else _up(np.abs(self.B) * of_bias)
        return self.raised(self.convolve(np.abs(self.X), weights, start, DType.DOUBLE))

    def raised(self, total: Array) -> Array:
        """An upper bound of sums of terms that are not negative, which were taken in doubles."""
        # Every product and sum above may have been rounded down, once each.
        lost = self.terms * float(_DOUBLE.smallest)
        return _up(_up(total + lost) * (1 + (self.terms + 4) * 2.0**-52))

    def of(self, change: Callable[[Array], Array]) -> Self:
        """The same convolution of operands that have been changed."""
        return replace(self, X=change(self.X), W=change(self.W), B=None if self.B is None else change(self.B))

    @property
    def start(self) -> Array:
        """What every channel's sum begins with."""
        return np.zeros(len(self.W)) if self.B is None else self.B

    def result(self) -> Array:
        """The sums in double arithmetic."""
        return self.convolve(self.X, self.W, self.start, DType.DOUBLE)

    def exact(self) -> Array:
        """The sums over the reals; all operands must be finite."""
        return self.convolve(real(self.X), real(self.W), real(self.start), DType.REAL)

    def convolve(self, X: Array, W: Array, B: Array, dtype: DType) -> Array:
        """The same convolution of other elements."""
        return convolve(X, W, B, self.axes, self.group, dtype, "separate")


def convolution_bound(
    X: Array,
    W: Array,
    B: Array | None,
    axes: Sequence[Axis],
    group: int,
    accumulate: str,
    order: str,
) -> Array:
    """Bound |result - exact result| for each element; +inf where the result may be no finite number."""
    dtype = held_type(X)
    if dtype is DType.REAL:
        return no_error((len(X), len(W), *output_sizes(X.shape[2:], axes)))
    with np.errstate(all="ignore"):
        bias = None if B is None else B.astype(np.float64)
        sums = Sum(X.astype(np.float64), W.astype(np.float64), bias, axes, group, dtype, accumulate)
        if dtype in INTEGERS:
            return _integer_bound(sums)
        bound, finite = _bound(sums, "any" if order == "flushing" else order)
        if order == "flushing" and sums.terms:
            bound = _up(bound + flushed(sums.terms, dtype))
        return np.where(finite, bound, np.inf)


def convolution_enclosure(X: Array, W: Array, B: Array | None, axes: Sequence[Axis], group: int) -> Enclosure:
    """Where the results lie of all that add the same products of floats in any order, fused or not.

    NaNs and infinities spread alike in every order as long as nothing overflows: a sum is NaN if a term is,
    or if it has infinities of both signs, else the infinity that it has. So they are found by the signs of
    the operands alone, of which no sum overflows; nothing that is not finite meets a sum that is.

    Overflow: no partial sum is larger than the positive terms among it, each grown by its roundings, because
    roundings make nothing positive of a sum below 0. So +∞ comes of finite terms only where the positive
    ones alone are too large, or where the rounding to a narrow type makes it; likewise -∞. A NaN takes one
    of each. A fused step meets at most one infinity, its product being finite.

    Where all terms are multiples of one power of two, so are their sums; while these are small enough for
    the accumulator, no order rounds anything, and there is one result (`_unrounded`). It is also one where
    every way rounds once (`_rounded_once`). What a narrow type or the range makes of it is then decided too.

    Zeros: what cancels is +0, and so is +0 with a zero of either sign. So a sum is -0 only where all its
    terms are, unless a product underflows, or the rounding to a narrow type.
    """
    dtype = held_type(X)
    with np.errstate(all="ignore"):
        wide = Sum(
            _doubles(X), _doubles(W), None if B is None else _doubles(B), axes, group, dtype, "separate"
        )
        special = wide.of(_signs).result()
        special = np.where(np.isfinite(special), 0.0, special)
        sums = wide.of(_finite)
        bound, fits = _bound(sums, "wider")
        if not np.isfinite(bound).all():
            bound = np.where(np.isfinite(bound), bound, _bound_of_large(sums))
        products = sums.convolve((sums.X != 0) * 1.0, (sums.W != 0) * 1.0, np.zeros(len(W)), DType.DOUBLE)
        if dtype not in _NARROW:
            bound = _bound_of_small(sums, products, bound)
        units = _units(sums)
        signed = ~_minus_zeros(sums)
        # What is no zero may be rounded to one of its sign by a narrow type.
        positive = signed & (dtype not in _NARROW and _kept(sums, units).all())
        above, below = (mask & ~fits for mask in _overflows(sums, bound, fits))
        found = Enclosure(special, sums.exact(), bound, above, below, positive)
        unrounded = _unrounded(sums, units)
        value = convert(sums.result(), DType.DOUBLE, dtype).astype(np.float64)
        once = _rounded_once(sums, products, value, units) & ~unrounded
        if dtype is DType.DOUBLE:
            once &= _same_by_way_of_more_bits(found.exact, value, once)
        return _decided(found, (unrounded | once) & (special == 0), value, signed)


def _rounded_once(sums: Sum, products: Array, value: Array, units: Array) -> Array:
    """Where every way rounds one and the same number, once, to the type; doubles tell the result `value`.

    `products` tells how many are not 0.

    One term that is not 0: its product is rounded, and zeros beside it change nothing. Who takes along what
    a product has lost adds it again, which is half a step at most, and rounded itself where it is less than
    the smallest number: just half a step then goes to another number, unless steps are that small. In float,
    products of narrow types are exact, and so are products of floats in double. A product of bfloat16 that
    is not exact in float is less than half the smallest bfloat16, or becomes just that: a zero either way.

    Two terms that are numbers of the type, and no others: who takes along what a sum has lost would round it
    again beside a zero. A sum of two numbers of p bits may be rounded to 2p+2 bits or more first, without
    another result: so floats may be added in double, and float16 and bfloat16 in float.
    """
    one = np.asarray(products + _channelwise(sums.start != 0, sums) <= 1)
    if sums.dtype not in _NARROW:
        one &= _kept(sums, units) | (np.abs(value) < 2 * float(FORMATS[sums.dtype].smallest_normal))
    if sums.terms + (sums.B is not None) != 2:
        return one
    return np.asarray(one | (_products_held(sums) & _loss_known(sums)))


def _loss_known(sums: Sum) -> Array:
    """Where two terms and their rounded sum have differences that the accumulator holds.

    Then it is known in either order what the sum has lost; and an infinity has lost nothing that is missed.
    """
    held = numpy_dtype(ACCUMULATOR[sums.dtype])
    terms = [x * w for x, w in _met(sums)]
    if sums.B is not None:
        terms.append(_channelwise(sums.B, sums))
    first, second = (term.astype(held) for term in terms)
    total = first + second
    return np.asarray(np.isinf(total) | (_exactly(total, -first) & _exactly(total, -second)))


def _exactly(one: Array, other: Array) -> Array:
    """Where a sum in the type of its terms is exact: Knuth's way to tell what it has lost, in any order."""
    total = one + other
    taken = total - one
    return np.asarray((one - (total - taken)) + (other - taken) == 0)


def _products_held(sums: Sum) -> Array:
    """Where all products are numbers of the type: neither too long nor too small nor too large."""
    form = FORMATS[sums.dtype]
    held = np.ones((), bool)
    for (x, w), (low_x, low_w) in zip(_met(sums), _met(sums, _lowest_bits), strict=True):
        product, low = np.abs(x * w), low_x + low_w
        long = low < np.frexp(product)[1] - form.precision
        small = low < form.emin - form.precision + 1
        held = held & ~(long | small | (product > float(form.largest)))
    return held


def _met(sums: Sum, of: Callable[[Array], Array] = np.asarray) -> Iterator[tuple[Array, Array]]:
    """Something of the factors of each term, by batch, channel and positions, as far as they have such."""
    positions = output_sizes(sums.X.shape[2:], sums.axes)
    padded = of(pad(sums.X, sums.axes, DType.DOUBLE))
    weights = of(sums.W).reshape(len(sums.W), sums.terms, *(1,) * len(positions))
    for number, window in enumerate(windows(sums.axes, positions, sums.group).cut(padded)):
        # The channels of a group meet the same elements.
        x = window if sums.group == 1 else np.repeat(window, len(sums.W) // sums.group, axis=1)
        yield x, weights[:, number]


def _same_by_way_of_more_bits(exact: Array, value: Array, asked: Array) -> Array:
    """Where numbers that are asked about become the same double when they are rounded to more bits first.

    Only what then lies halfway between doubles can become another one. Of 64 bits or more, 64 reach there
    from farthest; who takes along what is lost may come a step farther.
    """
    same = np.ones(exact.shape, bool)
    for place in zip(*np.nonzero(asked), strict=True):
        number = exact[place]
        bits = Fraction(number.numerator, 2 ** max(number.numerator.bit_length() - _EXTENDED, 0))
        unit = number / bits if bits else bits
        # What 64 bits hold is not rounded to them.
        steps = (0,) if bits.denominator == 1 else (-1, 0, 1)
        near = (nearest((round(bits) + step) * unit, DType.DOUBLE) for step in steps)
        same[place] = all(each == value[place] for each in near)
    return same


def _decided(found: Enclosure, decided: Array, value: Array, signed: Array) -> Enclosure:
    """An enclosure that holds the decided values alone, where there are such.

    A number that is not 0 and rounds to 0 keeps its sign; if that is minus, who adds it to +0 has +0.
    `signed` tells where terms that are zeros make a +0.
    """
    exact, positive = found.exact.copy(), found.positive & ~decided
    zero, finite = decided & (value == 0), decided & np.isfinite(value)
    positive[zero] = np.asarray(exact[zero] > 0, bool) | (np.asarray(exact[zero] == 0, bool) & signed[zero])
    for place in zip(*np.nonzero(finite), strict=True):
        exact[place] = Fraction(float(value[place]))
    return Enclosure(
        np.where(decided & np.isinf(value), value, found.special),
        exact,
        np.where(decided, 0.0, found.bound),
        found.above & ~decided,
        found.below & ~decided,
        positive,
    )


def _units(sums: Sum) -> Array:
    """The exponent of a power of two of which all terms of a sum are multiples; infinite where all are 0."""
    shape = (len(sums.X), len(sums.W), *output_sizes(sums.X.shape[2:], sums.axes))
    found = np.broadcast_to(_channelwise(_lowest_bits(sums.start), sums), shape)
    for low_x, low_w in _met(sums, _lowest_bits):
        low = low_x + low_w
        found = np.where(low < found, low, found)
    return found


def _channelwise(values: Array, sums: Sum) -> Array:
    """Values of the channels, as they stand beside results."""
    return values.reshape(-1, *(1,) * (sums.X.ndim - 2))


def _lowest_bits(operand: Array) -> Array:
    """The exponent of the lowest bit of each element; infinite of a zero."""
    fraction, exponent = np.frexp(operand)
    whole = np.abs(fraction * 2.0**53).astype(np.int64)  # exact: 53 bits are all that a double has
    lowest = exponent - 54.0 + np.frexp((whole & -whole).astype(np.float64))[1]
    return np.where(operand == 0, np.inf, lowest)


def _kept(sums: Sum, units: Array) -> Array:
    """Where no product underflows: the least number of the accumulator divides all terms."""
    return np.asarray(units >= float(np.log2(float(FORMATS[ACCUMULATOR[sums.dtype]].smallest))))


def _unrounded(sums: Sum, units: Array) -> Array:
    """Where all partial sums, in every order, are numbers of the accumulator."""
    form = FORMATS[ACCUMULATOR[sums.dtype]]
    sizes = sums.magnitude(np.ones(sums.terms), 1.0)
    # Far more than any double is what no term is.
    most = np.ldexp(1.0, np.where(np.isinf(units), 2**12, units).astype(np.int64) + form.precision)
    return np.asarray(_kept(sums, units) & (sizes <= most) & (sizes <= float(form.largest)))


def _minus_zeros(sums: Sum) -> Array:
    """Where all terms of a sum are -0.

    A product is -0 where a factor is 0 and their signs differ. Such pairs are counted by convolving truth
    values; what was inserted for padding is 0 among these as among the operands, so it counts as +0.
    """
    x, w = np.signbit(sums.X), np.signbit(sums.W)
    some_x, some_w = sums.X != 0, sums.W != 0

    def pairs(left: Array, right: Array) -> Array:
        return sums.convolve(left * 1.0, right * 1.0, np.zeros(len(sums.W)), DType.DOUBLE)

    count = np.count_nonzero(w.reshape(len(w), sums.terms), axis=1)
    differ = pairs(x, ~w) + _channelwise(count, sums) - pairs(x, w)
    nonzero = pairs(x & some_x, ~w & some_w) + pairs(~x & some_x, w & some_w)
    found = np.asarray(differ - nonzero == sums.terms)
    if sums.B is None:
        return found
    bias = (sums.B == 0) & np.signbit(sums.B)
    return np.asarray(found & _channelwise(bias, sums))


def _doubles(operand: Array) -> Array:
    return operand.astype(np.float64)


def _signs(operand: Array) -> Array:
    """1 or -1 for what is finite and not zero; the rest stays."""
    return np.where(np.isfinite(operand), np.sign(operand), operand)


def _finite(operand: Array) -> Array:
    return np.where(np.isfinite(operand), operand, 0.0)


def _overflows(sums: Sum, bound: Array, fits: Array) -> tuple[Array, Array]:
    """Where a sum of finite terms may become +∞, and where -∞; it may lie `bound` away from the exact one."""
    if fits.all():
        return ~fits, ~fits
    form, n = FORMATS[ACCUMULATOR[sums.dtype]], sums.terms
    growth = float(np.exp(max(n + 1, 1 + _COMPENSATED) * float(form.unit_roundoff))) * (1 + 2.0**-40)
    least = n * float(form.smallest) * growth
    up, down = (_up(_up(total * growth) + least) for total in _by_sign(sums))
    above, below = up > float(form.largest), down > float(form.largest)
    if sums.dtype in _NARROW:
        middle, largest = sums.result(), float(FORMATS[sums.dtype].largest)
        reach = _up(bound + _double_error(sums))
        above, below = above | (_up(reach + middle) > largest), below | (_up(reach - middle) > largest)
    return above, below


def _by_sign(sums: Sum) -> tuple[Array, Array]:
    """Upper bounds of the sum of all positive terms, and of the negative ones without their sign."""

    def of(x: float, w: float, b: float) -> Array:
        bias = None if sums.B is None else _only(sums.B, b)
        part = replace(sums, X=_only(sums.X, x), W=_only(sums.W, w), B=bias)
        return sums.raised(part.result())

    # The bias is there once: of a sign that no number has, nothing is left.
    return _up(of(1, 1, 1) + of(-1, -1, 0)), _up(of(1, -1, -1) + of(-1, 1, 0))


def _only(operand: Array, sign: float) -> Array:
    """The magnitudes of elements with this sign; the others are 0."""
    return np.where(operand * sign > 0, operand * sign, 0.0)


def _double_error(sums: Sum) -> Array:
    """How far sums of narrow elements in doubles may lie from the exact ones: their products are exact."""
    return _up(sums.magnitude(np.ones(sums.terms), 1.0) * ((sums.terms + 2) * 2.0**-52))


def flushed(terms: int, dtype: DType) -> float:
    """What flushing subnormal numbers to zero adds to a bound for any order of `terms` terms.

    Of two operations a term each may lose a subnormal number, and so may the rounding to a narrower type.
    """
    form = FORMATS[ACCUMULATOR[dtype]]
    growth = float(np.exp(terms * float(form.unit_roundoff))) * (1 + 2.0**-40)
    last = float(FORMATS[dtype].smallest_normal) if dtype in _NARROW else 0.0
    return 2 * terms * float(form.smallest_normal) * growth + last * (1 + 2.0**-40)


def _integer_bound(sums: Sum) -> Array:
    """Nothing is rounded; where a sum could leave the type's range it may wrap."""
    info = np.iinfo(numpy_dtype(sums.dtype))
    if info.bits < _LONG:  # doubles add up such magnitudes exactly, as far as the range goes
        total = sums.convolve(np.abs(sums.X), np.abs(sums.W), np.zeros(len(sums.W)), DType.DOUBLE)
    else:  # elements were rounded on their way to double
        wide = replace(sums, X=_up(np.abs(sums.X)), W=_up(np.abs(sums.W)))
        total = wide.magnitude(np.ones(wide.terms), 1.0)
    return np.where(total <= info.max, 0.0, np.inf)


def _bound(sums: Sum, order: str) -> tuple[Array, Array]:
    """How far a sum may lie from the exact one while it is finite, and where it can be nothing else."""
    dtype = sums.dtype
    form = FORMATS[ACCUMULATOR[dtype]]
    u, n = float(form.unit_roundoff), sums.terms
    if n == 0:  # the result is the bias
        bias = sums.result()
        return np.zeros_like(bias), np.isfinite(bias)
    sizes = sums.magnitude(np.ones(n), 1.0)
    most_of_bias = max(n, _COMPENSATED) if order == "wider" else n
    of_terms, of_bias = _growth(_roundings(sums, order), u), _growth(np.array([most_of_bias]), u)
    # Factors of at most 1 keep the sum from overflowing where the result does not. They are taken of the
    # same number for every order, so that roundings here never put one order above another.
    most = _growth(np.array([max(n + 1, 1 + _COMPENSATED)]), u)[0]
    relative = _up(sums.magnitude(_up(of_terms / most), _up(of_bias / most)[0]) * _up(most * u))
    # n·η/2·(1+u)^n, in this order: η/2 itself is no double where the accumulator is one.
    halves = 0.0 if dtype is DType.FLOAT16 else n / 2 * float(np.exp(n * u)) * (1 + 2.0**-40)
    bound = _up(relative + _up(np.asarray(halves * float(form.smallest))))
    # No partial sum is larger than the sum of all magnitudes and the error so far.
    peak = _up(sizes + bound)
    finite = peak <= float(form.largest)
    if dtype in _NARROW:
        bound, fits = _last_rounding(sums, bound)
        finite &= fits
    return bound, finite


def _bound_of_large(sums: Sum) -> Array:
    """The bound for any order where doubles cannot add the magnitudes: by powers of two smaller, then back.

    It says something as long as it is a double itself: a finite result need not be right where terms cancel
    that are far too large.
    """
    small = replace(sums, X=_smaller(sums.X, _FAR), W=_smaller(sums.W, _FAR))
    if sums.B is not None:
        small = replace(small, B=_smaller(sums.B, 2 * _FAR))
    return np.asarray(np.ldexp(_bound(small, "wider")[0], 2 * _FAR))


def _bound_of_small(sums: Sum, products: Array, bound: Array) -> Array:
    """The bound, smaller where all that is added is subnormal; `products` tells how many are not 0.

    Sums are exact there, and every product is off by at most η/2. A wider accumulator rounds one number by
    η/2 in the end; what it has lost until then is less than the other half that is allowed. Doubles have no
    η/2 of their own, so that of an odd number one more is allowed.
    """
    form = FORMATS[sums.dtype]
    smallest = float(form.smallest)
    small = sums.magnitude(np.ones(sums.terms), 1.0) + products * smallest <= float(form.smallest_normal)
    less = np.ceil(products / 2) * smallest
    return np.where(small & (less < bound), less, bound)


def _smaller(operand: Array, exponent: int) -> Array:
    """Magnitudes divided by a power of two, and no smaller than that."""
    return np.where(operand == 0, 0.0, _up(np.ldexp(np.abs(operand), -exponent)))


def _roundings(sums: Sum, order: str) -> Array:
    """How many roundings each product passes through, itself included."""
    n = sums.terms
    if order in ("any", "wider"):
        most = n + (sums.B is not None)
        least = _ONCE_MORE if most == 1 else _COMPENSATED + (sums.dtype not in _NARROW)
        return np.full(n, max(most, least) if order == "wider" else most, np.float64)
    own = 0 if sums.dtype in _NARROW or sums.accumulate == "fused" else 1
    counts = own + np.arange(n, 0, -1, dtype=np.float64)
    if sums.B is None:
        counts[:own] -= 1
    return counts


def _growth(counts: Array, u: float) -> Array:
    """An upper bound of ((1+u)^e - 1) / u for e ≥ 1, so at least 1: e·(1+u)^(e-1) ≤ e·exp(e·u)."""
    return np.asarray(counts * np.exp(counts * u) * (1 + 2.0**-40))


def _last_rounding(sums: Sum, bound: Array) -> tuple[Array, Array]:
    """Add the rounding of the accumulator to a narrower type; tell where its result stays finite."""
    form = FORMATS[sums.dtype]
    # In doubles, because there no such sum overflows.
    largest = _up(_up(np.abs(sums.result()) + _double_error(sums)) + bound)
    step = _up(largest * float(form.unit_roundoff))
    least = float(form.smallest / 2)
    rounding = np.where(step > least, step, least)
    return _up(bound + rounding), largest <= float(form.largest)


def _up(values: Array) -> Array:
    """The next larger double: above the true value of the one operation that made it."""
    return np.nextafter(values, np.inf)
