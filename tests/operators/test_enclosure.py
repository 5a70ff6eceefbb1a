"""Enclosures of sums: every order of summation lies inside, and what no order gives lies outside."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.seven_loops import fused as fused_step

from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.onnx.conv.accuracy import enclosure as conv_enclosure
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_accuracy import convolution_enclosure
from sonnx.operators.xla.conv.accuracy import enclosure as xla_enclosure
from sonnx.operators.xla.conv_with_general_padding.accuracy import enclosure as general_enclosure

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
    """One term after the other, in every order of terms and bias; and by pairs; and fused; and in double."""
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
    assert not enclosure.overflow.any()
    middle, bound = float(enclosure.exact[0, 0, 0, 0]), float(enclosure.bound[0, 0, 0, 0])
    for sign in (-1, 1):
        # A step of floats beyond the bound, and beyond what has been rounded here.
        outside = np.nextafter(F(middle + sign * bound * (1 + 2.0**-40)), F(sign * np.inf))
        assert not inside(enclosure, np.nextafter(outside, F(sign * np.inf)))
    assert not any(inside(enclosure, value) for value in (np.nan, np.inf, -np.inf))


DECIDED = {
    "a NaN": ([np.nan, 1], [0, 1], [np.nan]),
    "an infinity times zero": ([np.inf, 1], [0, 1], [np.nan]),
    "infinities of both signs": ([np.inf, 1], [1, -np.inf], [np.nan]),
    "one infinity": ([np.inf, 1], [2, 5], [np.inf]),
    "a negative one": ([np.inf, 1], [-2, 5], [-np.inf]),
    "two of one sign": ([np.inf, -np.inf], [2, -5], [np.inf]),
    "an infinity beside what may overflow": ([np.inf, -LARGEST, 1], [1, 4, 1], [np.inf, np.nan]),
    "an overflow for certain": ([LARGEST, 1], [4, 1], [np.inf, -np.inf, np.nan]),
}


@pytest.mark.parametrize("name", DECIDED)
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
    assert enclosure.overflow.all()
    assert all(inside(enclosure, value, np.float64) for value in (0.0, np.inf, -np.inf, np.nan))


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
        conv_enclosure({"X": X, "W": W}, onnx)["Y"],
        general_enclosure({"lhs": X, "rhs": W}, xla)["output"],
        xla_enclosure({"lhs": X, "rhs": W}, {"window_strides": (2, 1), "padding": "SAME"})["output"],
    ]
    for other in found:
        assert (other.exact == found[0].exact).all()
        assert (other.bound == found[0].bound).all()
    assert found[0].exact.shape == (1, 3, 2, 5)
