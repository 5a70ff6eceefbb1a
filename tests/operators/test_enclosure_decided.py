"""Sums of floats that all ways of adding round alike: there one result lies inside, and no other."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.budgets import examples

from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.enclosure import Enclosure
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_accuracy import convolution_enclosure

F16, BF16, F32, F64 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE
FLOATS = (*IEEE, BF16)
ONE = (Axis(1, 1, 1, 0, 0), Axis(1, 1, 1, 0, 0))
# A number, or a zero of either sign.
Term = tuple[Fraction | float, Fraction | float]
ZEROS: tuple[Term, ...] = ((0.0, 3.0), (-2.0, 0.0), (-0.0, -0.0), (-0.0, 1.0))


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def enclosed(dtype: DType, terms: Sequence[Term], bias: Fraction | float | None = None) -> Enclosure:
    """The enclosure of the sum: every term is a channel of its own."""
    kind, columns = numpy_dtype(dtype), [[float(factor) for factor in term] for term in terms]
    X, W = (np.array([term[i] for term in columns], kind).reshape(1, -1, 1, 1) for i in (0, 1))
    for array, factors in zip((X, W), zip(*terms, strict=True), strict=True):
        assert [Fraction(float(v)) for v in array.reshape(-1)] == [Fraction(v) for v in factors]
    B = None if bias is None else np.array([float(bias)], kind)
    return convolution_enclosure(X, W, B, ONE, 1)


def inside(enclosure: Enclosure, value: Any) -> bool:
    return bool(enclosure.holds(np.asarray(value).reshape(1, 1, 1, 1)).all())


def others(value: Any, dtype: DType) -> list[Any]:
    """The numbers beside one, or beside an infinity, and what it must not become."""
    kind = numpy_dtype(dtype).type
    with np.errstate(all="ignore"):
        found = [*(np.nextafter(value, kind(end)) for end in (-np.inf, np.inf)), *map(kind, (np.inf, np.nan))]
    return [other for other in found if not other == value]  # noqa: SIM201  a NaN differs from itself


def total(terms: Sequence[Term], bias: Fraction | float | None) -> Fraction:
    return sum((Fraction(x) * Fraction(w) for x, w in terms), Fraction(bias or 0))


def holds_one(dtype: DType, terms: Sequence[Term], bias: Fraction | float | None = None) -> bool:
    """Tell whether the exact sum, rounded once, lies inside, and what is beside it does not."""
    right, enclosure = nearest(total(terms, bias), dtype), enclosed(dtype, terms, bias)
    return inside(enclosure, right) and not any(inside(enclosure, other) for other in others(right, dtype))


def odd(random: Random, bits: int) -> int:
    """An odd number of so many bits."""
    return random.getrandbits(bits) | 1 << (bits - 1) | 1


def with_zeros(random: Random, terms: Sequence[Term]) -> list[Term]:
    found = [*terms, *random.choices(ZEROS, k=random.randrange(3))]
    random.shuffle(found)
    return found


# --- one rounding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_product_is_rounded_once_whatever_zeros_are_beside_it(dtype: DType) -> None:
    random, form = Random(1), FORMATS[dtype]
    bottom, top = form.emin - form.precision + 1, form.emax
    for _ in range(60):
        # Of doubles no more than 64 bits; half of all products lie at one of the range's ends.
        long = random.randint(1, form.precision)
        short = random.randint(1, min(form.precision, 64 - long))
        place = random.choice([bottom - 1, bottom + 1, top, random.randint(-3, 3), random.randint(-3, 3)])
        x, w = Fraction(odd(random, long)), Fraction(odd(random, short))
        shift = place - long - short + random.randint(0, 2)
        terms = [(random.choice([-1, 1]) * x * power(shift // 2), w * power(shift - shift // 2))]
        if not all(nearest(factor, dtype) == float(factor) for term in terms for factor in term):
            continue  # a factor is too small for the type itself
        assert holds_one(dtype, with_zeros(random, terms), random.choice([None, 0.0, -0.0])), terms


def near_a_tie(random: Random, dtype: DType) -> tuple[Fraction, Fraction]:
    """Two numbers of the type whose sum lies at the middle of two others, or not far from it."""
    form = FORMATS[dtype]
    last = random.choice([0, random.randint(-9, 3), form.emax - form.precision + 1])
    first = (2**form.precision - random.choice([1, 1, 2, 3])) * power(last)
    more = min(8, form.precision - 2)
    drawn = Fraction(random.getrandbits(more), 2**more)
    rest = random.choice([Fraction(0), Fraction(0), power(-more), -power(-more), drawn])
    return first * random.choice([-1, 1]), (Fraction(1, 2) + rest) * power(last) * random.choice([-1, 1])


def kahan(terms: Sequence[Any], kind: Any) -> Any:
    """Kahan's sum of 1965, with the last correction made, in the type of an accumulator."""
    total = lost = kind(0)
    with np.errstate(all="ignore"):
        for term in terms:
            more = kind(term) - lost
            larger = total + more
            lost = (larger - total) - more if np.isfinite(larger) else kind(0)
            total = larger
        return total - lost


def loses_what_it_knows(pair: Sequence[Fraction], dtype: DType) -> bool:
    """Tell whether the rounded sum less either of its terms is a number: then Kahan's correction is right."""
    held = F64 if dtype is F64 else F32
    rounded = float(nearest(sum(pair, Fraction(0)), held))
    if not np.isfinite(rounded):
        return True
    left = [Fraction(rounded) - each for each in pair]
    return all(Fraction(float(nearest(each, held))) == each for each in left)


@pytest.mark.thinned
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_sum_of_two_numbers_is_rounded_once_where_every_way_knows_what_it_loses(dtype: DType) -> None:
    random, form, kind = Random(2), FORMATS[dtype], np.float64 if dtype is F64 else np.float32
    seen = {True: 0, False: 0}
    tries = examples(150)
    for _ in range(tries):
        pair = list(near_a_tie(random, dtype))
        if random.random() < 0.5:  # two odd and even numbers of one size make a tie
            unit = power(random.choice([0, random.randint(-9, 3), form.emax - form.precision + 1]))
            pair = [random.choice([-1, 1]) * odd(random, form.precision) * unit, pair[0]]
            pair[1] = pair[0] + 2 * random.randint(0, 1) * unit - unit
        random.shuffle(pair)
        if not all(Fraction(float(nearest(each, dtype))) == each for each in pair):
            continue
        sign, of_bias = random.choice([-1, 1]), random.choice([False, True])
        terms: list[Term] = [(sign * pair[0], sign), (pair[1], 1)]
        found = (terms[:1], pair[1]) if of_bias else (terms, None)
        known = loses_what_it_knows(pair, dtype)
        seen[known] += 1
        assert holds_one(dtype, *found) or not known, found
        numbers, enclosure = [float(each) for each in pair], enclosed(dtype, *found)
        for order in (numbers, numbers[::-1], [*numbers, 0.0], [0.0, *numbers[::-1]]):
            with np.errstate(over="ignore"):
                result = kahan(order, kind).astype(numpy_dtype(dtype))
            assert inside(enclosure, result), (found, order)
    assert seen[True] > tries // 6
    assert seen[False] > tries // 6 or dtype in (F16, BF16)


def test_who_adds_what_a_product_has_lost_is_right_beside_the_subnormals_too() -> None:
    # The error of the product is rounded to half a step of the product, and the tie goes to its neighbour.
    x, w = Fraction(float.fromhex("0x1.fffffep-63")), Fraction(float.fromhex("-0x1.02e368p-63"))
    product = nearest(x * w, F32)
    lost = nearest(x * w - Fraction(float(product)), F32)
    other = np.float32(product) + np.float32(lost)
    assert other != product
    found = enclosed(F32, [(x, w)])
    assert inside(found, product)
    assert inside(found, other)
    # Where steps are as small as can be, nothing of it can be told.
    assert holds_one(F32, [(x * power(-2), w)])
    assert holds_one(F32, [(x * power(24), w)])


@pytest.mark.parametrize("dtype", [F32, F64])
def test_products_count_as_numbers_where_the_type_has_them(dtype: DType) -> None:
    form = FORMATS[dtype]
    half = form.precision // 2
    x, w = Fraction(2**half + 1), Fraction(2 ** (form.precision - half - 1) + 1)
    # x·w has as many bits as the type.
    tie = x * w + Fraction(1, 2)
    assert holds_one(dtype, [(x, w)], x * w + 1)
    # One more bit, and rounding the product by itself gives another sum than rounding once.
    long = enclosed(dtype, [(x * 2 + 1, w * 2 + 1)], -tie)
    assert float(long.bound[0, 0, 0, 0]) > 0
    # Too small: the product is no number of the type, nor is it lost beside another.
    place = form.emin - form.precision + 1
    small = enclosed(dtype, [(power(place // 2), 3 * power(place - place // 2 - 1))], form.smallest)
    assert [inside(small, nearest(n * form.smallest, dtype)) for n in (1, 2, 3, 4)] == [
        False,
        True,
        True,
        False,
    ]
    # Too large: a product overflows that would fit beside its negative.
    large = enclosed(dtype, [(form.largest, 2)], -form.largest)
    assert all(inside(large, nearest(value, dtype)) for value in (form.largest, 2 * form.largest))


@pytest.mark.parametrize("dtype", [F16, BF16])
def test_a_narrow_sum_that_float_holds_is_rounded_once(dtype: DType) -> None:
    random, form = Random(3), FORMATS[dtype]
    for _ in range(60):
        first, second = near_a_tie(random, dtype)
        terms: list[Term] = [(first, 1), (second, random.choice([-1, 1]))]
        terms += [(power(0), random.choice([-1, 1]))] if abs(first) < power(form.precision + 6) else []
        random.shuffle(terms)
        if abs(first) + abs(second) > FORMATS[F32].largest:
            continue
        assert holds_one(dtype, with_zeros(random, terms)), terms
    assert holds_one(F16, [(65504, 1), (8, 1)])
    assert holds_one(F16, [(65504, 1), (16, 1)])
    assert not inside(enclosed(F16, [(65504, 1), (16, 1)]), np.float16(65504))


def test_every_place_of_a_convolution_is_decided_by_its_own_terms() -> None:
    random = Random(4)
    drawn = [near_a_tie(random, F32) for _ in range(2 * 2 * 3)]
    X = np.array([[float(v) for v in pair] for pair in drawn], np.float32).reshape(2, 2, 3, 2)
    W = np.array([[1, -1], [2, 1], [1, 0.5], [3, 1]], np.float32).reshape(4, 1, 1, 2)
    found = convolution_enclosure(X, W, None, (Axis(1, 1, 1, 0, 0), Axis(2, 1, 1, 0, 1)), 2)
    single = 0
    for place in np.ndindex(2, 4, 3, 2):
        batch, channel, line, column = place
        meets = [*X[batch, channel // 2, line].tolist(), 0.0][column : column + 2]
        here = enclosed(F32, list(zip(meets, W[channel, 0, 0].tolist(), strict=True)))
        assert (found.special[place], found.bound[place]) == (here.special.item(), here.bound.item())
        assert found.exact[place] == here.exact.item()
        single += found.bound[place] == 0
    assert 0 < single < found.bound.size  # a triple of a long number is rounded by itself


# --- where roundings may differ ----------------------------------------------------------------------------


def test_doubles_may_be_rounded_to_64_bits_first() -> None:
    # The sum lies below a tie by less than 64 bits tell; halfway, 1 + 2^-51 is the even one.
    found = enclosed(F64, [(power(-53) - power(-70), 1)], 1 + power(-52))
    assert [inside(found, 1 + n * 2.0**-52) for n in (-1, 0, 1, 2, 3)] == [False, False, True, True, False]
    # So does a product: 1 + 3·2^-53 - 2^-64 + 3·2^-85, with as little more than 1 as shows the bound.
    found = enclosed(F64, [(1 + power(-32), 1 - power(-32) + 3 * power(-53))])
    assert [inside(found, 1 + n * 2.0**-52) for n in (-1, 0, 1, 2, 3)] == [False, False, True, True, False]
    # Of 106 bits, but far from a tie: there is one result.
    assert holds_one(F64, [(2**53 - 21, 2**53 - 21)])


def test_two_numbers_beside_a_zero_may_be_rounded_again() -> None:
    # Who takes along what 2^-24 + (1 + 2^-23) lost has lost a whole step, and takes it away beside the zero.
    step = power(-23)
    found = enclosed(F32, [(1 + step, 1), (0.0, 1)], step / 2)
    assert all(inside(found, np.float32(1 + n * step)) for n in (1, 2))


SIGNS: dict[str, tuple[DType, list[Term], bool, bool]] = {
    # whether +0 and -0 are right
    "a positive product of floats": (F32, [(power(-75), power(-76))], True, False),
    "a positive product of doubles": (F64, [(power(-537), power(-538)), (-0.0, 1)], True, False),
    "a positive product of bfloat16": (BF16, [(power(-100), power(-100))], True, False),
    "a positive sum of float16": (F16, [(power(-12), power(-12)), (power(-13), -power(-12))], True, False),
    "a negative product, added to 0 or not": (F64, [(power(-537), -power(-538))], True, True),
    "nothing but zeros beside what underflows elsewhere": (F64, [(0.0, power(-538))], True, False),
}


@pytest.mark.parametrize("name", SIGNS)
def test_what_is_rounded_to_zero_keeps_its_sign(name: str) -> None:
    dtype, terms, plus, minus = SIGNS[name]
    found, zero = enclosed(dtype, terms), nearest(Fraction(0), dtype)
    assert (inside(found, zero), inside(found, -zero)) == (plus, minus)


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("number", [2, 3, 9])
def test_sums_of_subnormal_products_are_off_by_half_a_step_for_each(dtype: DType, number: int) -> None:
    smallest = FORMATS[dtype].smallest
    place = FORMATS[dtype].emin - FORMATS[dtype].precision
    term = power(place // 2), power(place - place // 2)
    found = enclosed(dtype, [*[term] * number, (0.0, 1)])
    # Every product is half the smallest number: all may be lost, each by itself, or none.
    assert inside(found, nearest(Fraction(0), dtype))
    assert inside(found, nearest(number // 2 * smallest, dtype))
    assert not inside(found, nearest(-smallest, dtype))
    assert not inside(found, nearest((number + 1) * smallest, dtype))


@pytest.mark.parametrize("dtype", [F32, F64])
def test_steps_of_normal_products_are_larger(dtype: DType) -> None:
    # A product lies halfway between two numbers that are 8 of the smallest apart; the bias is two steps.
    form = FORMATS[dtype]
    x, w, bias = 1 + 2 * form.unit_roundoff, 3 * power(form.emin + 2), 16 * form.smallest
    separate = Fraction(float(nearest(x * w, dtype))) + bias
    assert abs(separate - (x * w + bias)) == 4 * form.smallest
    assert inside(enclosed(dtype, [(x, w)], bias), nearest(separate, dtype))


def test_a_zero_is_positive_although_some_orders_round() -> None:
    found = enclosed(F32, [(1, 1), (power(25), 1), (-power(25), 1)])
    assert [inside(found, np.float32(value)) for value in (1.0, 0.0, -0.0)] == [True, True, False]


def test_one_finite_product_does_not_decide_beside_what_is_not_finite() -> None:
    largest = float(np.finfo(np.float32).max)
    for other, right in ((np.nan, {"nan"}), (-np.inf, {"nan", "-inf"})):
        X, W = np.array([other, largest], np.float32), np.array([1, 2], np.float32)
        found = convolution_enclosure(X.reshape(1, 2, 1, 1), W.reshape(1, 2, 1, 1), None, ONE, 1)
        values = (np.nan, np.inf, -np.inf, largest)
        assert {str(value) for value in values if inside(found, np.float32(value))} == right


# --- ways --------------------------------------------------------------------------------------------------

Round = Callable[[Fraction], Fraction]


def shortened(bits: int) -> Round:
    """To so many bits, of any exponent; ties to even."""

    def change(value: Fraction) -> Fraction:
        top, bottom = abs(value.numerator), value.denominator
        last = power(top.bit_length() - bottom.bit_length() - bits)
        # One place too many where the numerator's leading bits are the smaller ones.
        last *= 2 if abs(value) >= last * 2**bits else 1
        return round(value / last) * last

    return change


def of_type(dtype: DType) -> Round:
    return lambda value: Fraction(float(nearest(value, dtype)))


def taken(random: Random, terms: Sequence[Term], bias: Fraction | None, rounded: Round) -> Fraction:
    """The sum in some order, by some bracketing, some products fused into it."""
    factors = [(Fraction(x), Fraction(w)) for x, w in terms]
    parts = [] if bias is None else [bias]
    while factors:
        x, w = factors.pop(random.randrange(len(factors)))
        if random.random() < 0.4:  # fused into something that is there already, or into 0
            start = parts.pop(random.randrange(len(parts))) if parts else Fraction(0)
            parts.append(rounded(start + x * w))
        else:
            parts.append(rounded(x * w))
    while len(parts) > 1:
        first, second = (parts.pop(random.randrange(len(parts))) for _ in range(2))
        parts.append(rounded(first + second))
    return parts[0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_few_terms_near_ties_lie_inside_whatever_way_they_are_added(dtype: DType) -> None:
    random, form = Random(5), FORMATS[dtype]
    plain = of_type(F64 if dtype is F64 else F32)
    wider = [shortened(64), shortened(113)] if dtype is F64 else [of_type(F64), shortened(64)]
    several = 0
    for _ in range(80):
        first, second = (
            value if abs(value) < power(20) else value / power(form.emax - 4)
            for value in near_a_tie(random, dtype)
        )
        third = nearest(second * random.randint(-9, 9) * power(-random.choice([5, 12, 20])), dtype)
        terms: list[Term] = [(first, 1), (second, random.choice([1, -1])), (Fraction(float(third)), second)]
        chosen = random.sample(terms, random.randint(1, 3))
        bias = random.choice([None, None, first, second])
        found, ways = enclosed(dtype, with_zeros(random, chosen), bias), set()
        for rounded in (plain, plain, *wider, lambda value: value):
            result = nearest(taken(random, chosen, bias, rounded), dtype)
            assert inside(found, result) or inside(found, -result if result == 0 else result), chosen
            ways.add(float(result))
        several += len(ways) > 1
    assert several  # else the draws show nothing
