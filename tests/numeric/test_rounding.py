"""The one rounding of all formats: to nearest, ties to even, overflow to infinity."""

import random
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples, thinned

from sonnx.model.dtype import DType
from sonnx.numeric.rounding import FORMATS, nearest, nearest_bits, nearest_bits_of, number

HELD: dict[DType, Any] = {
    DType.FLOAT16: np.float16,
    DType.BFLOAT16: ml_dtypes.bfloat16,
    DType.FLOAT: np.float32,
    DType.DOUBLE: np.float64,
}
TYPES = pytest.mark.parametrize("dtype", list(HELD))
# Bits of the fraction, and the bias.
SHORT = {DType.FLOAT16: (10, 15), DType.BFLOAT16: (7, 127)}
finfo: Any = ml_dtypes.finfo  # knows bfloat16 too


def bits(value: Any) -> int:
    return int(np.asarray(value).view(f"u{value.dtype.itemsize}"))


@cache
def magnitudes(dtype: DType) -> list[Fraction]:
    """All numbers ≥ 0 of a 16-bit format in the order of their bits, by IEEE 754-2019, 3.4.

    The last one, which stands where infinity begins, is the power of two after the largest number.
    """
    fraction_bits, bias = SHORT[dtype]
    one, infinity = 1 << fraction_bits, 0x7FFF >> fraction_bits << fraction_bits
    fields = ((pattern >> fraction_bits, pattern % one) for pattern in range(infinity + 1))
    return [
        Fraction(fraction if field == 0 else one + fraction)
        * Fraction(2) ** (max(field, 1) - bias - fraction_bits)
        for field, fraction in fields
    ]


SHORT_TYPES = pytest.mark.parametrize("dtype", list(SHORT))


@pytest.mark.thinned
@SHORT_TYPES
def test_every_number_of_16_bits_rounds_to_itself_with_either_sign(dtype: DType) -> None:
    for pattern, value in thinned(list(enumerate(magnitudes(dtype)[:-1]))):
        assert bits(nearest(-value, dtype)) == (pattern | 0x8000 if pattern else 0)
        assert nearest_bits(value, FORMATS[dtype]) == pattern


@pytest.mark.thinned
@SHORT_TYPES
def test_rounding_goes_to_the_even_neighbour_at_a_tie_and_to_the_nearer_one_beside_it(dtype: DType) -> None:
    hair = Fraction(1, 2**160)
    for pattern, (low, high) in thinned(list(enumerate(pairwise(magnitudes(dtype))))):
        middle = (low + high) / 2
        even = pattern if pattern % 2 == 0 else pattern + 1
        for value, expected in ((middle, even), (middle - hair, pattern), (middle + hair, pattern + 1)):
            assert nearest_bits(value, FORMATS[dtype]) == expected
        if pattern % 16 in (0, 15):
            assert bits(nearest(-middle, dtype)) == even | 0x8000


def test_numpy_agrees_on_float16_of_doubles_at_and_beside_ties() -> None:
    middles = np.array([float((low + high) / 2) for low, high in pairwise(magnitudes(DType.FLOAT16))])[::7]
    values = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)])
    with np.errstate(over="ignore", under="ignore"):
        expected = values.astype(np.float16)
    for value, half in zip(values.tolist(), expected, strict=True):
        assert bits(nearest(Fraction(value), DType.FLOAT16)) == bits(half)


@settings(deadline=None, max_examples=examples(500))
@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_python_agrees_on_double(value: Fraction) -> None:
    # float(Fraction) divides integers, which Python rounds correctly.
    assert bits(nearest(value, DType.DOUBLE)) == bits(np.float64(float(value)))


@settings(deadline=None, max_examples=examples(500))
@given(st.integers(-1130, 1020), st.integers(2**52, 2**53 - 1), st.integers(-1, 1), st.integers(60, 2000))
def test_python_agrees_on_double_at_and_beside_ties(e: int, top: int, side: int, distance: int) -> None:
    value = (Fraction(2 * top + 1) + Fraction(side, 2**distance)) * Fraction(2) ** (e - 53)
    assert bits(nearest(value, DType.DOUBLE)) == bits(np.float64(float(value)))


@settings(deadline=None, max_examples=examples(500))
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
    smallest = Fraction(float(finfo(HELD[dtype]).smallest_subnormal))
    tie, more = smallest / 2, smallest / 2 * (1 + Fraction(1, 10**9))
    assert bits(nearest(tie, dtype)) == 0
    assert bits(nearest(more, dtype)) == 1
    assert nearest(-tie, dtype) == 0
    assert np.signbit(nearest(-tie, dtype))
    assert nearest(-more, dtype) == -finfo(HELD[dtype]).smallest_subnormal


@TYPES
def test_beyond_half_a_step_above_the_largest_number_lies_infinity(dtype: DType) -> None:
    largest = finfo(HELD[dtype]).max
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
    smallest_normal = Fraction(float(finfo(HELD[dtype]).smallest_normal))
    assert nearest(smallest_normal * (1 - Fraction(1, 10**30)), dtype) == float(smallest_normal)


@TYPES
def test_the_formats_are_those_numpy_and_ml_dtypes_know(dtype: DType) -> None:
    info, form = finfo(HELD[dtype]), FORMATS[dtype]
    assert form.precision == info.nmant + 1
    assert (form.emin, form.emax) == (info.minexp, info.maxexp - 1)
    assert form.held_as.itemsize == np.dtype(HELD[dtype]).itemsize
    assert form.smallest == Fraction(float(info.smallest_subnormal))
    assert form.largest == Fraction(float(info.max))
    assert form.unit_roundoff == Fraction(float(info.eps)) / 2


def test_nearest_bits_is_the_encoding_without_its_sign() -> None:
    assert nearest_bits(Fraction(3, 2), FORMATS[DType.FLOAT]) == 0x3FC00000
    assert nearest_bits(Fraction(1, 3), FORMATS[DType.FLOAT]) == 0x3EAAAAAB


@TYPES
def test_the_encodings_of_infinity_and_of_the_sign_are_those_of_the_numbers(dtype: DType) -> None:
    form = FORMATS[dtype]
    assert form.infinity == bits(HELD[dtype](np.inf))
    assert form.sign_bit == bits(HELD[dtype](-0.0))
    assert form.infinity | form.sign_bit == bits(HELD[dtype](-np.inf))


@TYPES
def test_a_number_has_just_the_bits_that_are_asked_for(dtype: DType) -> None:
    form = FORMATS[dtype]
    for magnitude in (0, 1, form.infinity - 1, form.infinity, form.infinity + 1, form.sign_bit - 1):
        assert bits(number(magnitude, dtype, negative=False)) == magnitude
        assert bits(number(magnitude, dtype, negative=True)) == magnitude + form.sign_bit
        assert number(magnitude, dtype, negative=True).dtype == HELD[dtype]


def leading_form(value: Fraction) -> tuple[int, int]:
    """A real number > 0 as the significand of 62 bits and the exponent that `nearest_bits_of` takes."""
    exponent = 0
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while value < Fraction(2) ** exponent:
        exponent -= 1
    scaled = value * Fraction(2) ** (61 - exponent)
    whole = scaled.numerator // scaled.denominator
    return whole | int(scaled.denominator != 1), exponent


def rounded_as_an_array(values: list[Fraction], dtype: DType) -> list[int]:
    significands, exponents = zip(*(leading_form(value) for value in values), strict=True)
    result = nearest_bits_of(np.array(significands, np.uint64), np.array(exponents), FORMATS[dtype])
    return [int(pattern) for pattern in result]


@SHORT_TYPES
def test_arrays_round_as_the_definition_says_at_ties_and_beside_them(dtype: DType) -> None:
    hair = Fraction(1, 2**200)
    start = 30_000 if dtype is DType.FLOAT16 else 0
    pairs = list(enumerate(pairwise(magnitudes(dtype))))
    for pattern, (low, high) in pairs[:300] + pairs[start::97] + pairs[-300:]:
        middle = (low + high) / 2
        even = pattern + pattern % 2
        values = [middle, middle - hair, middle + hair, high]
        assert rounded_as_an_array(values, dtype) == [even, pattern, pattern + 1, pattern + 1]


@settings(deadline=None, max_examples=examples(500))
@given(st.integers(1, 2**70), st.integers(-1200, 1000))
def test_arrays_round_as_python_does_to_double(top: int, exponent: int) -> None:
    value = Fraction(top) * Fraction(2) ** exponent
    try:
        expected = float(value)
    except OverflowError:
        expected = np.inf
    assert rounded_as_an_array([value], DType.DOUBLE) == [bits(np.float64(expected))]


@TYPES
def test_arrays_round_each_number_by_itself_also_zero_and_the_far_too_large_or_small(
    dtype: DType,
) -> None:
    form = FORMATS[dtype]
    one = 2**61
    cases = [
        (0, form.emin, 0),
        (0, -4000, 0),
        (one, -4000, 0),
        (one, form.emin - form.precision, 0),  # half the smallest number: a tie
        (one + 1, form.emin - form.precision, 1),
        (2 * one - 1, form.emin - form.precision - 1, 0),
        (one, form.emin - form.precision + 1, 1),
        (one, form.emin, 1 << (form.precision - 1)),
        (2 * one - 1, form.emin - 1, 1 << (form.precision - 1)),
        (2 * one - 1, form.emax, form.infinity),
        (one, form.emax, form.infinity - (1 << (form.precision - 1))),
        (one, form.emax + 1, form.infinity),
        (one + 1, 1024, form.infinity),
    ]
    significands, exponents, expected = (list(column) for column in zip(*cases, strict=True))
    result = nearest_bits_of(np.array(significands, np.uint64), np.array(exponents), form)
    assert result.tolist() == expected
    assert result.dtype == np.uint64
