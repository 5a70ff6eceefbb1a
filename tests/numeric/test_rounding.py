"""The one rounding of all formats: to nearest, ties to even, overflow to infinity."""

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonnx.model.dtype import DType
from sonnx.numeric.rounding import FORMATS, nearest, nearest_bits

HELD: dict[DType, Any] = {DType.FLOAT16: np.float16, DType.FLOAT: np.float32, DType.DOUBLE: np.float64}
TYPES = pytest.mark.parametrize("dtype", list(HELD))


def bits(number: Any) -> int:
    return int(np.asarray(number).view(f"u{number.dtype.itemsize}"))


def half_value(pattern: int) -> Fraction:
    """A float16 ≥ 0 from its bits, by IEEE 754-2019, 3.4; 2^16 stands where infinity begins."""
    field, fraction = pattern >> 10, pattern & 1023
    return Fraction(fraction if field == 0 else 1024 + fraction) * Fraction(2) ** (max(field, 1) - 25)


INFINITE_HALF = 31 << 10
HALVES = [half_value(pattern) for pattern in range(INFINITE_HALF + 1)]


def test_every_float16_rounds_to_itself_with_either_sign() -> None:
    for pattern, value in enumerate(HALVES[:-1]):
        assert bits(nearest(-value, DType.FLOAT16)) == (pattern | 0x8000 if pattern else 0)
        assert nearest_bits(value, FORMATS[DType.FLOAT16]) == pattern


def test_rounding_goes_to_the_even_neighbour_at_a_tie_and_to_the_nearer_one_beside_it() -> None:
    hair = Fraction(1, 2**60)
    for pattern, (low, high) in enumerate(pairwise(HALVES)):
        middle = (low + high) / 2
        even = pattern if pattern % 2 == 0 else pattern + 1
        for value, expected in ((middle, even), (middle - hair, pattern), (middle + hair, pattern + 1)):
            assert nearest_bits(value, FORMATS[DType.FLOAT16]) == expected
        if pattern % 16 in (0, 15):
            assert bits(nearest(-middle, DType.FLOAT16)) == even | 0x8000


def test_numpy_agrees_on_float16_of_doubles_at_and_beside_ties() -> None:
    middles = np.array([float((low + high) / 2) for low, high in pairwise(HALVES)])[::7]
    values = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)])
    with np.errstate(over="ignore", under="ignore"):
        expected = values.astype(np.float16)
    for value, number in zip(values.tolist(), expected, strict=True):
        assert bits(nearest(Fraction(value), DType.FLOAT16)) == bits(number)


@settings(deadline=None, max_examples=500)
@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_python_agrees_on_double(value: Fraction) -> None:
    # float(Fraction) divides integers, which Python rounds correctly.
    assert bits(nearest(value, DType.DOUBLE)) == bits(np.float64(float(value)))


@settings(deadline=None, max_examples=500)
@given(st.integers(-1130, 1020), st.integers(2**52, 2**53 - 1), st.integers(-1, 1), st.integers(60, 2000))
def test_python_agrees_on_double_at_and_beside_ties(e: int, top: int, side: int, distance: int) -> None:
    value = (Fraction(2 * top + 1) + Fraction(side, 2**distance)) * Fraction(2) ** (e - 53)
    assert bits(nearest(value, DType.DOUBLE)) == bits(np.float64(float(value)))


@settings(deadline=None, max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numpy_agrees_on_float_of_any_double(value: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        expected = np.float64(value).astype(np.float32)
    # A negative zero is no real number: Fraction has only one zero.
    assert bits(nearest(Fraction(value), DType.FLOAT)) == (bits(expected) if value else 0)


def test_numpy_agrees_on_float_at_and_beside_ties() -> None:
    generator = random.Random(4)
    for _ in range(5000):
        tie = (2 * generator.randrange(2**24) + 1) * 2.0 ** generator.randrange(-151, 104)
        for value in (tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf)):
            with np.errstate(over="ignore", under="ignore"):
                expected = np.float64(value).astype(np.float32)
            assert bits(nearest(Fraction(float(value)), DType.FLOAT)) == bits(expected)


@TYPES
def test_zero_rounds_to_the_positive_zero(dtype: DType) -> None:
    assert bits(nearest(Fraction(0), dtype)) == 0
    assert nearest(Fraction(0), dtype).dtype == HELD[dtype]


@TYPES
def test_half_the_smallest_number_vanishes_and_more_than_half_does_not(dtype: DType) -> None:
    smallest = Fraction(float(np.finfo(HELD[dtype]).smallest_subnormal))
    tie, more = smallest / 2, smallest / 2 * (1 + Fraction(1, 10**9))
    assert bits(nearest(tie, dtype)) == 0
    assert bits(nearest(more, dtype)) == 1
    assert nearest(-tie, dtype) == 0
    assert np.signbit(nearest(-tie, dtype))
    assert nearest(-more, dtype) == -np.finfo(HELD[dtype]).smallest_subnormal


@TYPES
def test_beyond_half_a_step_above_the_largest_number_lies_infinity(dtype: DType) -> None:
    largest = np.finfo(HELD[dtype]).max
    step = Fraction(float(largest)) - Fraction(float(np.nextafter(largest, HELD[dtype](0))))
    threshold = Fraction(float(largest)) + step / 2
    assert nearest(threshold * (1 - Fraction(1, 10**30)), dtype) == largest
    assert nearest(threshold, dtype) == np.inf
    assert nearest(-threshold, dtype) == -np.inf
    assert nearest(threshold**5, dtype) == np.inf


@TYPES
def test_numbers_that_round_up_to_a_power_of_two_get_the_next_exponent(dtype: DType) -> None:
    almost_two = 2 - Fraction(1, 10**30)
    assert nearest(almost_two, dtype) == 2
    smallest_normal = Fraction(float(np.finfo(HELD[dtype]).smallest_normal))
    assert nearest(smallest_normal * (1 - Fraction(1, 10**30)), dtype) == float(smallest_normal)


@TYPES
def test_the_formats_are_those_numpy_knows(dtype: DType) -> None:
    info, form = np.finfo(HELD[dtype]), FORMATS[dtype]
    assert form.precision == info.nmant + 1
    assert (form.emin, form.emax) == (info.minexp, info.maxexp - 1)
    assert form.held_as.itemsize == np.dtype(HELD[dtype]).itemsize
    assert form.smallest == Fraction(float(info.smallest_subnormal))
    assert form.largest == Fraction(float(info.max))
    assert form.unit_roundoff == Fraction(float(info.eps)) / 2


def test_nearest_bits_is_the_encoding_without_its_sign() -> None:
    assert nearest_bits(Fraction(3, 2), FORMATS[DType.FLOAT]) == 0x3FC00000
    assert nearest_bits(Fraction(1, 3), FORMATS[DType.FLOAT]) == 0x3EAAAAAB
