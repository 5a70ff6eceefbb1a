"""Comparison by bits, and distances in units in the last place."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sonnx.numeric.arrays import RealArray
from sonnx.numeric.bits import NO_DISTANCE, same_bits, ulp_distance

pytestmark = pytest.mark.measured

FLOATS = pytest.mark.parametrize("held", [np.float16, np.float32, np.float64])


def reals(*values: int) -> Any:
    return np.array([Fraction(value) for value in values], dtype=object).view(RealArray)


def nan_bits(*patterns: int) -> NDArray[Any]:
    return np.array(patterns, dtype=np.uint32).view(np.float32)


@pytest.mark.parametrize("nan", ["bits", "any"])
def test_zeros_of_different_sign_have_different_bits(nan: Any) -> None:
    assert same_bits(np.array([0.0, 1.0], np.float32), np.array([0.0, 1.0], np.float32), nan=nan)
    assert not same_bits(np.array([0.0], np.float32), np.array([-0.0], np.float32), nan=nan)
    assert not same_bits(np.array([1.0, 2.0], np.float32), np.array([1.0, 3.0], np.float32), nan=nan)


def test_two_nans_are_the_same_by_their_bits_or_whatever_their_bits() -> None:
    quiet, payload, negative = 0x7FC00000, 0x7FC00001, 0xFFC00000
    assert same_bits(nan_bits(quiet), nan_bits(quiet))
    for other in (payload, negative):
        assert not same_bits(nan_bits(quiet), nan_bits(other))
        assert not same_bits(nan_bits(quiet), nan_bits(other), nan="bits")
        assert same_bits(nan_bits(quiet), nan_bits(other), nan="any")


def test_a_nan_is_never_the_same_as_a_number() -> None:
    number, infinity = np.array([np.nan], np.float32), np.array([np.inf], np.float32)
    assert not same_bits(number, infinity, nan="bits")
    assert not same_bits(number, infinity, nan="any")


def test_each_part_of_a_complex_number_may_be_any_nan_on_its_own() -> None:
    one = nan_bits(0x7FC00000, 0x3F800000).view(np.complex64)
    other = nan_bits(0xFFC00001, 0x3F800000).view(np.complex64)
    different = nan_bits(0xFFC00001, 0x40000000).view(np.complex64)
    assert not same_bits(one, other)
    assert same_bits(one, other, nan="any")
    assert not same_bits(one, different, nan="any")
    wide = np.array([complex(0.0, -0.0)])
    assert same_bits(wide, wide.copy())
    assert not same_bits(wide, np.array([complex(0.0, 0.0)]))


def test_bfloat16_is_compared_by_bits_too() -> None:
    patterns = np.array([0x7FC0, 0x3F80, 0x8000], dtype=np.uint16)
    other = np.array([0xFFC1, 0x3F80, 0x8000], dtype=np.uint16)
    left, right = patterns.view(ml_dtypes.bfloat16), other.view(ml_dtypes.bfloat16)
    assert same_bits(left, left.copy())
    assert not same_bits(left, right)
    assert same_bits(left, right, nan="any")
    assert not same_bits(left[2:], np.zeros(1, ml_dtypes.bfloat16), nan="any")


def test_strings_reals_integers_and_booleans_are_compared_as_values() -> None:
    assert same_bits(np.array(["a", "bc"]), np.array(["a", "bc"], dtype=object))
    assert not same_bits(np.array(["a", "bc"]), np.array(["a", "bd"]))
    assert same_bits(reals(1, 2), reals(1, 2))
    assert not same_bits(reals(1, 2), reals(1, 3))
    assert same_bits(Fraction(1, 3), Fraction(2, 6))
    assert not same_bits(np.array([-1], np.int64), np.array([1], np.int64), nan="any")
    assert same_bits(np.array([True]), np.array([True]), nan="any")


def test_another_type_or_shape_is_not_the_same() -> None:
    ones = np.ones(2, np.float32)
    assert not same_bits(ones, ones.astype(np.float64))
    assert not same_bits(ones, np.ones((1, 2), np.float32))
    assert not same_bits(ones, np.ones(3, np.float32))
    assert not same_bits(np.array([1], np.int32), np.array([1], np.uint32))
    assert not same_bits(np.array(["1"]), reals(1))
    assert not same_bits(reals(1), reals(1, 2))
    assert not same_bits(np.array([], dtype=object), np.array([], dtype=object).view(RealArray))


def test_layout_byte_order_and_lack_of_axes_do_not_matter() -> None:
    grid = np.arange(6.0).reshape(2, 3)
    assert same_bits(grid.T, np.ascontiguousarray(grid.T))
    assert not same_bits(grid[:, ::-1], grid)
    assert same_bits(grid, grid.astype(">f8"))
    assert same_bits(1.5, np.array(1.5))
    assert same_bits(np.empty((0, 2)), np.empty((0, 2)))


@pytest.mark.parametrize(("left", "right"), [([1.0], 1.0), (1.0, [1.0]), (None, None), (b"a", 1.0)])
def test_what_is_no_array_of_the_profile_cannot_be_compared(left: Any, right: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"same_bits: (Python|NumPy|absent).* is no array of one of the profile's types; give",
    ):
        same_bits(left, right)


def test_an_unknown_rule_for_nan_is_refused() -> None:
    with pytest.raises(ValueError, match=r"same_bits: write nan=\"bits\" or nan=\"any\""):
        same_bits(1.0, 1.0, nan="all")  # type: ignore[arg-type]  # that is the point


@FLOATS
def test_a_neighbour_is_one_step_away(held: Any) -> None:
    values = np.array([0.0, 1.0, -1.0, 0.1, 60000.0, float(np.finfo(held).smallest_normal)], dtype=held)
    for towards in (np.inf, -np.inf):
        assert ulp_distance(values, np.nextafter(values, held(towards))).tolist() == [1] * 6
    assert ulp_distance(values, values).tolist() == [0] * 6


@FLOATS
def test_both_zeros_are_one_place_and_steps_are_counted_across_it(held: Any) -> None:
    smallest = np.finfo(held).smallest_subnormal
    left = np.array([0.0, smallest, -smallest, 2 * smallest], dtype=held)
    right = np.array([-0.0, -0.0, smallest, -3 * smallest], dtype=held)
    assert ulp_distance(left, right).tolist() == [0, 1, 2, 5]
    assert ulp_distance(right, left).tolist() == [0, 1, 2, 5]


@pytest.mark.parametrize(
    ("held", "infinity"), [(np.float16, 0x7C00), (np.float32, 0x7F800000), (np.float64, 0x7FF0000000000000)]
)
def test_infinity_is_one_step_beyond_the_largest_number(held: Any, infinity: int) -> None:
    largest = np.finfo(held).max
    assert int(ulp_distance(held(np.inf), largest)) == 1
    assert int(ulp_distance(held(np.inf), held(-np.inf))) == 2 * infinity
    assert int(ulp_distance(-largest, largest)) == 2 * infinity - 2


@FLOATS
def test_nans_are_no_steps_from_each_other_and_no_number_of_steps_from_numbers(held: Any) -> None:
    left = np.array([np.nan, np.nan, 1.0, np.inf], dtype=held)
    right = np.array([-np.nan, 1.0, np.nan, np.nan], dtype=held)
    assert ulp_distance(left, right).tolist() == [0, 2**64 - 1, 2**64 - 1, 2**64 - 1]
    assert int(NO_DISTANCE) == 2**64 - 1


def test_distances_have_the_shape_of_the_arrays_whatever_their_layout() -> None:
    grid = np.arange(1.0, 7.0).reshape(2, 3)
    assert ulp_distance(grid.T, np.nextafter(grid.T, 9)).tolist() == [[1, 1]] * 3
    assert ulp_distance(1.0, 2.0).shape == ()
    assert int(ulp_distance(1.0, 2.0)) == 2**52
    assert ulp_distance(grid.astype(">f8"), grid).tolist() == [[0] * 3] * 2
    assert ulp_distance(np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)


def ordinal(bits: int) -> int:
    """Numbers the floats in order, from the sign and the magnitude of the encoding."""
    return -(bits & 0x7FFFFFFF) if bits >> 31 else bits


@settings(deadline=None)
@given(*[st.floats(width=32, allow_nan=False)] * 2)
def test_distances_are_differences_of_places(left: float, right: float) -> None:
    a, b = np.float32(left), np.float32(right)
    steps = abs(ordinal(int(a.view(np.uint32))) - ordinal(int(b.view(np.uint32))))
    assert int(ulp_distance(a, b)) == steps


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.array([1.0], np.float32), np.array([1.0], np.float64)),
        (np.array([1.0], np.float32), np.array([1.0, 2.0], np.float32)),
        (np.array([1], np.int32), np.array([1], np.int32)),
        ([1.0], [1.0]),
        (np.zeros(1, ml_dtypes.bfloat16), np.zeros(1, ml_dtypes.bfloat16)),
    ],
)
def test_distances_need_two_arrays_of_one_float_type_and_shape(left: Any, right: Any) -> None:
    with pytest.raises(ValueError, match="ulp_distance: needs two arrays of one float type and shape, got"):
        ulp_distance(left, right)
