"""Enclosures of sums: every order of summation lies inside, and what no order gives lies outside."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loops import for_each
from tests.operators.seven_loops import fused as fused_step

from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.onnx.conv.geometry import CONVOLUTION
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_accuracy import convolution_enclosure
from sonnx.operators.xla.conv_with_general_padding.geometry import BY_WORD, GENERAL

pytestmark = pytest.mark.measured

F = np.float32
ONE = (Axis(1, 1, 1, 0, 0), Axis(1, 1, 1, 0, 0))
LARGEST = float(np.finfo(F).max)


def enclosed(x: Any, w: Any, bias: float | None = None, kind: Any = F) -> Enclosure:
    """The enclosure of Σ x·w (+ bias): every term is a channel of its own."""
    X, W = np.array(x, kind).reshape(1, -1, 1, 1), np.array(w, kind).reshape(1, -1, 1, 1)
    B = None if bias is None else np.array([bias], kind)
    return convolution_enclosure(X, W, B, ONE, 1)


def inside(enclosure: Enclosure, result: Any, kind: Any = F) -> bool:
    return bool(enclosure.holds(np.array(result, kind).reshape(1, 1, 1, 1))[0, 0, 0, 0])


def sums_in_every_order(x: Any, w: Any, bias: float | None) -> Iterator[Any]:
    """Of floats, one term after the other, in every order of terms and bias; by pairs; fused; in double."""
    with np.errstate(all="ignore"):
        terms = [F(a) * F(b) for a, b in zip(x, w, strict=True)]
        start = [] if bias is None else [F(bias)]
        for order in permutations(terms + start):
            total = order[0]
            for term in order[1:]:
                total = F(total + term)
            yield total
            yield tree(list(order))
        for pairs in permutations(zip(x, w, strict=True)):
            total = F(0) if bias is None else F(bias)
            for a, b in pairs:
                total = fused_step(total, F(a), F(b))
            yield total
        exact_terms = [np.float64(F(a)) * np.float64(F(b)) for a, b in zip(x, w, strict=True)]
        yield F(sum([*map(np.float64, start), *exact_terms], np.float64(0)))


def tree(terms: list[Any]) -> Any:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return F(tree(terms[:middle]) + tree(terms[middle:]))


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
TAME = st.floats(-1000, 1000, width=32)
SPECIAL = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, LARGEST, -LARGEST, 2.0**-149])
ANY = NUMBERS | TAME | SPECIAL


@pytest.mark.no_cover
@settings(deadline=None)
@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=4), st.none() | ANY)
def test_every_order_of_summation_lies_inside(terms: list[tuple[float, float]], bias: float | None) -> None:
    x, w = zip(*terms, strict=True)
    enclosure = enclosed(x, w, bias)
    for total in sums_in_every_order(x, w, bias):
        assert inside(enclosure, total), total


@settings(deadline=None)
@given(st.lists(st.tuples(TAME, TAME), min_size=1, max_size=4), st.none() | TAME)
def test_nothing_beyond_the_bound_lies_inside(terms: list[tuple[float, float]], bias: float | None) -> None:
    x, w = zip(*terms, strict=True)
    enclosure = enclosed(x, w, bias)
    assert not (enclosure.above | enclosure.below).any()
    middle, bound = float(enclosure.exact[0, 0, 0, 0]), float(enclosure.bound[0, 0, 0, 0])
    for sign in (-1, 1):
        # A step of floats beyond the bound, and beyond what has been rounded here.
        outside = np.nextafter(F(middle + sign * bound * (1 + 2.0**-40)), F(sign * np.inf))
        assert not inside(enclosure, np.nextafter(outside, F(sign * np.inf)))
    assert not any(inside(enclosure, value) for value in (np.nan, np.inf, -np.inf))


# Terms of which some sums overflow and others do not, or do in the last rounding alone.
HALF = LARGEST / 2
FAR = st.sampled_from(
    [LARGEST, -LARGEST, HALF, -HALF, HALF * (1 + 2.0**-23), 2.0**103, -(2.0**103), 1.0, 0.0]
)
WEIGHTS = st.sampled_from([1.0, -1.0, 1 + 2.0**-23, 1 - 2.0**-24, 2.0, -2.0, 0.5, LARGEST])


@settings(deadline=None)
@given(st.lists(st.tuples(FAR, WEIGHTS), min_size=1, max_size=4), st.none() | FAR)
def test_every_order_lies_inside_where_sums_overflow(
    terms: list[tuple[float, float]], bias: float | None
) -> None:
    x, w = zip(*terms, strict=True)
    enclosure = enclosed(x, w, bias)
    for total in sums_in_every_order(x, w, bias):
        assert inside(enclosure, total), total
    values = [a * b for a, b in terms] + ([] if bias is None else [bias])
    if min(values) >= 0:
        assert not any(inside(enclosure, value) for value in (-np.inf, np.nan))
    if max(values) <= 0:
        assert not any(inside(enclosure, value) for value in (np.inf, np.nan))


# A step beside 65504 is 32: half of it more, and a sum of float16 rounds to an infinity.
HALVES = st.sampled_from([65504.0, -65504.0, 32752.0, 16.0, 15.992, -16.0, 8.0, 2.0**-24, 0.0])
NARROW = {np.float16: HALVES, ml_dtypes.bfloat16: FAR}


@pytest.mark.parametrize("kind", NARROW)
@settings(deadline=None)
@given(data=st.data())
def test_every_order_of_narrow_floats_lies_inside(kind: Any, data: st.DataObject) -> None:
    weights = st.sampled_from([1.0, -1.0, 2.0, 0.5])
    terms = data.draw(st.lists(st.tuples(NARROW[kind], weights), min_size=1, max_size=4))
    bias = data.draw(st.none() | NARROW[kind])
    with np.errstate(all="ignore"):
        x, w = (np.array(each, kind).astype(F) for each in zip(*terms, strict=True))
        start = None if bias is None else float(np.array(bias, kind))
        enclosure = enclosed(x, w, start, kind)
        for total in sums_in_every_order(x, w, start):
            assert inside(enclosure, np.asarray(total).astype(kind), kind), total
        products = [*(x * w).tolist(), start or 0.0]
    if min(products) >= 0:
        assert not any(inside(enclosure, value, kind) for value in (-np.inf, np.nan))


def test_a_narrow_sum_overflows_in_its_last_rounding() -> None:
    half = np.float16
    large, small = enclosed([65504, 65504], [1, 1], None, half), enclosed([65504, 1], [-1, -16], None, half)
    for value in (np.nan, np.inf, -np.inf, 65504.0, -65504.0, 0.0):
        assert inside(large, value, half) == (value == np.inf)
        # The sum lies at the edge, where no order rounds anything before: halfway, it is infinite.
        assert inside(small, value, half) == (value == -np.inf)
    # Neither the products nor the sums of float16 leave the range of a float.
    back = enclosed([65504, 65504, -65504], [2, 2, 4], None, half)
    assert [inside(back, value, half) for value in (0.0, np.inf, -np.inf, np.nan)] == [True] + [False] * 3


DECIDED = {
    "a NaN": ([np.nan, 1], [0, 1], [np.nan]),
    "an infinity times zero": ([np.inf, 1], [0, 1], [np.nan]),
    "infinities of both signs": ([np.inf, 1], [1, -np.inf], [np.nan]),
    "one infinity": ([np.inf, 1], [2, 5], [np.inf]),
    "a negative one": ([np.inf, 1], [-2, 5], [-np.inf]),
    "two of one sign": ([np.inf, -np.inf], [2, -5], [np.inf]),
    "an infinity beside what may overflow": ([np.inf, -LARGEST, 1], [1, 4, 1], [np.inf, np.nan]),
    "a negative one beside it": ([np.inf, -LARGEST, 1], [-1, -4, 1], [-np.inf, np.nan]),
    "an infinity beside what may become one": ([np.inf, LARGEST, 1], [1, 4, 1], [np.inf]),
    "a negative one beside such": ([np.inf, LARGEST, 1], [-1, -4, 1], [-np.inf]),
    "a NaN beside what may overflow": ([np.nan, LARGEST, 1], [1, 4, 1], [np.nan]),
    "an overflow for certain": ([LARGEST, 1], [4, 1], [np.inf]),
    "a sum that is too large": ([LARGEST, LARGEST], [1, 1], [np.inf]),
    "one that is too small": ([LARGEST, -LARGEST], [-1, 1], [-np.inf]),
    "products that are far too small": ([LARGEST, -LARGEST, 1], [-LARGEST, LARGEST, 1], [-np.inf]),
    "one of them that is too large": ([LARGEST, LARGEST], [-3, 0.5], [-np.inf]),
    "both": ([LARGEST, LARGEST], [-4, 2], [np.inf, -np.inf, np.nan]),
}


@for_each("name", DECIDED)
def test_what_is_not_finite_is_decided(name: str) -> None:
    x, w, possible = DECIDED[name]
    enclosure = enclosed(x, w)
    for value in (np.nan, np.inf, -np.inf, 0.0, 7.0):
        wanted = any(value == other or (value != value and other != other) for other in possible)  # noqa: PLR0124  NaN
        assert inside(enclosure, value) == wanted, value


def test_a_result_that_is_scaled_by_a_little_is_outside() -> None:
    drawn = np.random.default_rng(5)
    X, W = drawn.normal(size=(2, 3, 8, 8)).astype(F), drawn.normal(size=(4, 3, 3, 3)).astype(F)
    axes = (Axis(3, 1, 1, 1, 1), Axis(3, 2, 1, 0, 1))
    enclosure = convolution_enclosure(X, W, None, axes, 1)
    exact = enclosure.exact.astype(np.float64)
    assert enclosure.holds(exact.astype(F)).all()
    scaled = (exact * (1 + 2.0**-12)).astype(F)
    assert not enclosure.holds(scaled).all()
    assert enclosure.holds(scaled).sum() < scaled.size / 10


def test_zeros_of_the_padding_meet_infinite_weights() -> None:
    X, W = np.ones((1, 1, 1, 3), F), np.array([np.inf, 1], F).reshape(1, 1, 1, 2)
    enclosure = convolution_enclosure(X, W, None, (ONE[0], Axis(2, 1, 1, 1, 0)), 1)
    assert enclosure.holds(np.array([np.nan, np.inf, np.inf], F).reshape(1, 1, 1, 3)).all()
    assert not enclosure.holds(np.array([1.0, np.nan, -np.inf], F).reshape(1, 1, 1, 3)).any()


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_other_types_have_their_own_accumulator(kind: Any) -> None:
    x, w = [0.1, 0.2, 0.3], [3, 5, 7]
    enclosure = enclosed(x, w, 0.5, kind)
    wide = [np.float64(kind(a)) * np.float64(kind(b)) for a, b in zip(x, w, strict=True)]
    total = kind(sum(wide, np.float64(0.5)))
    assert inside(enclosure, total, kind)
    step = np.finfo(kind).eps * float(total)
    assert not inside(enclosure, kind(float(total) + 20 * step), kind)


def test_a_sum_of_nothing_is_the_bias_alone() -> None:
    X, W = np.ones((1, 0, 1, 1), F), np.ones((2, 0, 1, 1), F)
    enclosure = convolution_enclosure(X, W, np.array([0.1, np.inf], F), ONE, 1)
    assert enclosure.holds(np.array([0.1, np.inf], F).reshape(1, 2, 1, 1)).all()
    assert not enclosure.holds(np.array([0.2, np.nan], F).reshape(1, 2, 1, 1)).any()


def test_the_helper_of_these_tests_takes_different_orders() -> None:
    found = {float(total) for total in sums_in_every_order([1.0, 2.0**24, -(2.0**24)], [1, 1, 1], None)}
    assert found == {0.0, 1.0}


def test_where_not_even_a_bound_is_finite_anything_that_overflows_may_come() -> None:
    largest = float(np.finfo(np.float64).max)
    enclosure = enclosed([largest, largest, 0.0], [largest, -largest, largest], None, np.float64)
    assert enclosure.above.all()
    assert enclosure.below.all()
    assert all(inside(enclosure, value, np.float64) for value in (0.0, np.inf, -np.inf, np.nan))


LARGE = 2.0**1000


@pytest.mark.parametrize("bias", [None, 1.0, LARGE])
def test_a_finite_sum_of_doubles_that_are_too_large_is_still_bounded(bias: float | None) -> None:
    # The products are 2^1030, and cancel: off by at most four roundings of their magnitudes, say 2^982.
    enclosure = enclosed([LARGE, LARGE, 1.0], [2.0**30, -(2.0**30), 3.0], bias, np.float64)
    middle = Fraction(3) + Fraction(bias or 0)
    assert enclosure.exact[0, 0, 0, 0] == middle
    bound = Fraction(float(enclosure.bound[0, 0, 0, 0]))
    products, roundings = 2 * Fraction(2) ** 1030 + 3, 3 if bias is None else 4
    least = roundings * products + 3 * Fraction(bias or 0)
    assert least / 2**53 <= bound <= least * Fraction(9, 8) / 2**53
    assert inside(enclosure, float(middle), np.float64)
    for value in (2.0**1010, -(2.0**1010), 2.0**990):
        assert not inside(enclosure, value, np.float64)
    assert all(inside(enclosure, value, np.float64) for value in (np.inf, -np.inf, np.nan))


def test_no_finite_double_is_a_product_that_is_too_large() -> None:
    enclosure = enclosed([LARGE], [2.0**30], None, np.float64)
    assert inside(enclosure, np.inf, np.float64)
    largest = float(np.finfo(np.float64).max)
    assert not any(inside(enclosure, value, np.float64) for value in (largest, 0.0, -np.inf, np.nan))


def test_the_convolutions_of_onnx_and_xla_are_enclosed_alike() -> None:
    drawn = np.random.default_rng(3)
    X, W = drawn.normal(size=(1, 2, 4, 5)).astype(F), drawn.normal(size=(3, 2, 2, 2)).astype(F)
    onnx = {"strides": (2, 1), "dilations": (1, 1), "pads": (0, 0, 0, 1), "group": 1}
    xla = {
        "window_strides": (2, 1),
        "padding": ((0, 0), (0, 1)),
        "lhs_dilation": (1, 1),
        "rhs_dilation": (1, 1),
    }
    found = [
        CONVOLUTION.enclosure({"X": X, "W": W}, onnx)["Y"],
        GENERAL.enclosure({"lhs": X, "rhs": W}, xla)["output"],
        BY_WORD.enclosure({"lhs": X, "rhs": W}, {"window_strides": (2, 1), "padding": "SAME"})["output"],
    ]
    for other in found:
        assert (other.exact == found[0].exact).all()
        assert (other.bound == found[0].bound).all()
    assert found[0].exact.shape == (1, 3, 2, 5)


# --- doubles first -----------------------------------------------------------------------------------------


def exactly(enclosure: Enclosure, values: Any) -> list[bool]:
    """Whether numbers lie as near as the bound says, in fractions alone."""
    bounds = map(Fraction, enclosure.bound.tolist())
    return [
        abs(Fraction(value) - exact) <= bound
        for value, exact, bound in zip(values.tolist(), enclosure.exact, bounds, strict=True)
    ]


MIDDLES = [
    *(Fraction(0), Fraction(1, 3), Fraction(-(10**30), 7), Fraction(5, 2**1074), Fraction(-7, 3 * 2**1074)),
    *(Fraction(2) ** 1023 / 3, Fraction(2) ** 1024, -(Fraction(2) ** 1025), Fraction(2**200 + 1, 2**200)),
]
BOUNDS = [0.0, 5e-324, 1e-310, 2.0**-53, 0.1, 1.0, 1e20, 1e300, float(np.finfo(np.float64).max)]


def test_comparing_doubles_first_changes_no_verdict() -> None:
    exact = np.empty(len(MIDDLES) * len(BOUNDS), object)
    exact[:] = [middle for middle in MIDDLES for _ in BOUNDS]
    bound = np.array(BOUNDS * len(MIDDLES))
    nothing = np.zeros(exact.shape, bool)
    enclosure = Enclosure(np.zeros(exact.shape), exact, bound, nothing, nothing, nothing)
    largest = Fraction(np.finfo(np.float64).max)
    seen = set()
    for sign in (-1, 1):
        ends = [middle + sign * Fraction(each) for middle, each in zip(exact, bound.tolist(), strict=True)]
        near = np.array([float(min(max(end, -largest), largest)) for end in ends])
        with np.errstate(over="ignore"):
            scaled = [near * (1 + step * 2.0**-52) for step in (-(2**20), -8, -3, 3, 8, 2**20)]
            beside = [np.nextafter(near, -np.inf), near, np.nextafter(near, np.inf)]
        for each in (*scaled, *beside, np.zeros_like(near), near / 2):
            values = np.where(np.isfinite(each), each, 1.0)
            found = enclosure.holds(values).tolist()
            assert found == exactly(enclosure, values)
            seen |= set(found)
    assert seen == {False, True}


def test_certain_verdicts_ask_no_fractions() -> None:
    class Silent(Fraction):
        """Turns into a double, and compares with nothing."""

        def __rsub__(self, other: Any) -> Any:
            raise AssertionError(other)

    exact = np.empty(2, object)
    exact[:] = [Silent(1, 3), Silent(10**9)]
    nothing = np.zeros(2, bool)
    enclosure = Enclosure(np.zeros(2), exact, np.array([1e-9, 2.0]), nothing, nothing, nothing)
    assert enclosure.holds(np.array([1 / 3, 1e9 + 3])).tolist() == [True, False]
    with pytest.raises(AssertionError):
        enclosure.holds(np.array([1 / 3, 1e9 + 2]))


ZEROS: dict[str, tuple[list[float], list[float], float | None, bool, bool]] = {
    # factors, factors, bias; whether +0 and -0 are right
    "what cancels": ([1, 1], [1, -1], None, True, False),
    "what cancels with the bias": ([1], [1], -1, True, False),
    "products of both signs": ([0, 0], [1, -1], None, True, False),
    "a bias of +0": ([-0.0, -0.0], [1, 1], 0.0, True, False),
    # Who begins with 0, and adds the bias last, is right as well.
    "nothing but -0": ([-0.0, 0.0], [1, -1], -0.0, True, True),
    "nothing but -0, without a bias": ([-0.0], [1], None, True, True),
    "a product that underflows": ([-(2.0**-149)], [0.25], None, True, True),
}


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_has_the_sign_that_some_order_gives_it(name: str) -> None:
    x, w, bias, plus, minus = ZEROS[name]
    enclosure = enclosed(x, w, bias)
    assert (inside(enclosure, 0.0), inside(enclosure, -0.0)) == (plus, minus)


def test_a_zero_of_the_padding_has_the_sign_of_its_weight() -> None:
    X, W = np.full((1, 1, 1, 1), -0.0, F), np.array([-1, 1], F).reshape(1, 1, 1, 2)
    enclosure = convolution_enclosure(X, W, None, (ONE[0], Axis(2, 1, 1, 1, 0)), 1)
    # +0 times -1 and -0 times 1: both are -0.
    assert enclosure.holds(np.full((1, 1, 1, 1), -0.0, F)).all()
    other = convolution_enclosure(X, -W, None, (ONE[0], Axis(2, 1, 1, 1, 0)), 1)
    assert not other.holds(np.full((1, 1, 1, 1), -0.0, F)).any()


@pytest.mark.parametrize(
    ("kind", "x", "w", "bias"),
    [
        (F, [3, 5, 7], [11, 13, 17], 1),
        (np.float64, [3, 5, 7], [11, 13, 17], None),
        # Multiples of one power of two, not whole, and of the least number that there is.
        (F, [0.75, 2.0**-20], [2.0**-10, 2.0**-2], 2.0**-24),
        (F, [2.0**-149, 3 * 2.0**-149], [1, 1], None),
        (np.float64, [2.0**-1074, 2.0**-1070], [1, 3], 2.0**-1074),
        (np.float16, [3, 5], [7, 11], 1),
    ],
)
def test_what_no_order_rounds_has_one_result(kind: Any, x: Any, w: Any, bias: float | None) -> None:
    enclosure = enclosed(x, w, bias, kind)
    exact = kind(sum(a * b for a, b in zip(x, w, strict=True)) + (bias or 0))
    assert inside(enclosure, exact, kind)
    for other in (np.inf, -np.inf):
        assert not inside(enclosure, np.nextafter(exact, kind(other)), kind)


def test_what_some_order_rounds_has_more_than_one_result() -> None:
    # The third term is half a step of the sum of the others: in one order it is lost, in another it is not.
    enclosure = enclosed([1, 2.0**-24, 2.0**-24], [1, 1, 1])
    assert inside(enclosure, 1.0)
    assert inside(enclosure, 1 + 2.0**-23)


def test_a_compensated_sum_of_two_rounded_products_is_off_by_three_roundings_at_most() -> None:
    """By hand: here a step down is 1.05 roundings of the sum, so two steps are allowed, and not three."""
    x, w = [1.3 + 2.0**-20, 0.6 + 2.0**-21], [1 + 2.0**-15, 1 + 2.0**-14]
    exact = sum(Fraction(float(F(a))) * Fraction(float(F(b))) for a, b in zip(x, w, strict=True))
    steps = [F(float(exact))]
    for _ in range(3):
        steps.append(np.nextafter(steps[-1], F(0)))
    off = [float((exact - Fraction(float(each))) / exact * 2**24) for each in steps]
    assert [round(each) for each in off] == [0, 1, 2, 3]
    assert off[2] < 3 < off[3]
    assert [inside(enclosed(x, w), each) for each in steps] == [True, True, True, False]
