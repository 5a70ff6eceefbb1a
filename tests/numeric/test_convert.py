"""Conversion between all element types, against a definition by Fractions (see converting.py)."""

import ctypes
import struct
from bisect import bisect_left
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
from tests.loops import for_each
from tests.numeric.converting import (
    INTEGER_WIDTHS,
    LAYOUTS,
    SCALARS,
    WIDTHS,
    converted,
    ends,
    magnitude,
    real_converted,
)
from tests.numeric.test_environment import (
    DENORMALS_ARE_ZERO,
    FLUSH_TO_ZERO,
    needs_x86_linux,
    under_flags,
)

from sonnx import same_bits
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, RealArray, numpy_dtype
from sonnx.numeric.convert import convert
from sonnx.numeric.real import real

pytestmark = pytest.mark.measured

PARTS = {DType.COMPLEX64: DType.FLOAT, DType.COMPLEX128: DType.DOUBLE}
TYPES = (*SCALARS, *PARTS)
SHORT = (DType.FLOAT16, DType.BFLOAT16)
PATTERNS = thinned(range(2**16), 2**12)


def from_bits(patterns: Any, dtype: DType) -> Array:
    return np.array(patterns, f"u{WIDTHS[dtype] // 8}").view(numpy_dtype(dtype))


def to_bits(array: Array) -> list[int]:
    return [int(pattern) for pattern in array.reshape(-1).view(f"u{array.dtype.itemsize}")]


def signed_value(pattern: int, dtype: DType) -> Fraction:
    form = LAYOUTS[dtype]
    value = magnitude(pattern % form.sign, form)
    return -value if pattern >= form.sign else value


# Values of the short formats are integers in units that all of them are multiples of.
UNIT = 133


@cache
def scaled_values(dtype: DType) -> list[int]:
    form = LAYOUTS[dtype]
    return [int(magnitude(pattern, form) * 2**UNIT) for pattern in range(form.infinity + 1)]


def encoding(scaled: int, target: DType) -> int:
    """The encoding nearest to a number ≥ 0 of one of the short formats."""
    if target not in SHORT:  # all of them are floats: nothing is rounded
        letter = "<f" if target is DType.FLOAT else "<d"
        return int.from_bytes(struct.pack(letter, float(Fraction(scaled, 2**UNIT))), "little")
    numbers = scaled_values(target)
    above = bisect_left(numbers, scaled)
    if above == len(numbers) or numbers[above] == scaled:
        return min(above, LAYOUTS[target].infinity)
    up, down = numbers[above] - scaled, scaled - numbers[above - 1]
    if up == down:
        return above - above % 2
    return above if up < down else above - 1


def converted_short(pattern: int, source: DType, target: DType) -> int:
    """What `converted` says, by way of integers: it is asked often."""
    negative, rest = divmod(pattern, 0x8000)
    if target is DType.BOOL or target is source or rest >= LAYOUTS[source].infinity:
        return converted(pattern, source, target)
    scaled = scaled_values(source)[rest]
    if target in LAYOUTS:
        return encoding(scaled, target) + negative * LAYOUTS[target].sign
    low, high = ends(target)
    whole = scaled >> UNIT
    return (max(-whole, low) if negative else min(whole, high)) % (1 << WIDTHS[target])


@pytest.mark.no_cover
@pytest.mark.thinned
@for_each("source", SHORT)
@for_each("target", TYPES)
def test_every_number_of_16_bits_is_converted_as_the_definition_says(source: DType, target: DType) -> None:
    result = convert(from_bits(PATTERNS, source), source, target)
    assert result.dtype == numpy_dtype(target)
    if target in PARTS:
        target = PARTS[target]
        parts = result.view(numpy_dtype(target))
        assert not any(to_bits(parts[1::2].copy()))
        result = parts[::2].copy()
    assert to_bits(result) == [converted_short(pattern, source, target) for pattern in PATTERNS]


def test_both_ways_to_the_expected_values_agree() -> None:
    for source in SHORT:
        for target in SCALARS:
            for pattern in range(0, 2**16, 199):
                assert converted_short(pattern, source, target) == converted(pattern, source, target)


@pytest.mark.thinned
@pytest.mark.parametrize("source", SHORT)
def test_every_finite_number_of_16_bits_is_lifted_to_the_reals_exactly(source: DType) -> None:
    patterns = [p for p in PATTERNS if p % 0x8000 < LAYOUTS[source].infinity]
    result = convert(from_bits(patterns, source), source, DType.REAL)
    assert isinstance(result, RealArray)
    scaled = scaled_values(source)
    expected = [Fraction(scaled[p % 0x8000] * (-1 if p >= 0x8000 else 1), 2**UNIT) for p in patterns]
    assert list(result) == expected


@pytest.mark.parametrize("source", [DType.FLOAT, DType.DOUBLE])
@pytest.mark.parametrize("target", SHORT)
def test_every_tie_goes_to_the_even_neighbour_and_what_lies_beside_it_to_the_nearer(
    source: DType, target: DType
) -> None:
    # The middle of two neighbours needs one bit more than they: float and double both hold it.
    middles = np.array([float(Fraction(a + b, 2 ** (UNIT + 1))) for a, b in pairwise(scaled_values(target))])
    held = numpy_dtype(source)
    ties = to_bits(middles.astype(held))
    assert [magnitude(tie, LAYOUTS[source]) for tie in ties[::1000]] == [Fraction(m) for m in middles[::1000]]
    lower = np.arange(len(ties), dtype=np.uint16)
    even = lower + lower % 2
    for step, expected in ((0, even), (-1, lower), (1, lower + 1)):
        for sign in (0, LAYOUTS[source].sign):
            array = from_bits([tie + step + sign for tie in ties], source)
            result = convert(array, source, target)
            assert same_bits(result, from_bits(expected | (0x8000 if sign else 0), target))


def test_ties_between_floats_go_to_the_even_one_and_the_double_beside_them_to_the_nearer() -> None:
    generator = np.random.default_rng(7)
    patterns = [0, 1, 2, 0x7FFFFE, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFE, 0x7F7FFFFF]
    lower = np.array([*patterns, *generator.integers(0, 0x7F800000, 20_000)], np.uint32)
    form = LAYOUTS[DType.FLOAT]
    ties = []
    for pattern in lower.tolist():
        middle = (magnitude(pattern, form) + magnitude(pattern + 1, form)) / 2
        ties.append(to_bits(np.array([float(middle)]))[0])
    for step, expected in ((0, lower + lower % 2), (-1, lower), (1, lower + 1)):
        result = convert(from_bits([tie + step for tie in ties], DType.DOUBLE), DType.DOUBLE, DType.FLOAT)
        assert same_bits(result, from_bits(expected, DType.FLOAT))


@for_each(
    ("source", "value", "target", "expected"),
    [
        # Through float these would become ties, and go to the even neighbour below.
        (DType.DOUBLE, 1 + 2.0**-11 + 2.0**-30, DType.FLOAT16, 1.0009765625),
        (DType.DOUBLE, -(1 + 2.0**-11 + 2.0**-30), DType.FLOAT16, -1.0009765625),
        (DType.DOUBLE, 1 + 2.0**-8 + 2.0**-40, DType.BFLOAT16, 1.0078125),
        (DType.INT64, 2**30 + 2**22 + 1, DType.BFLOAT16, 2.0**30 + 2**23),
        (DType.UINT32, 2**30 + 2**22 + 1, DType.BFLOAT16, 2.0**30 + 2**23),
        (DType.INT32, -(2**30 + 2**22 + 1), DType.BFLOAT16, -(2.0**30 + 2**23)),
        # Through double.
        (DType.INT64, 2**60 + 2**36 + 1, DType.FLOAT, 2.0**60 + 2**37),
        (DType.UINT64, 2**63 + 2**39 + 1, DType.FLOAT, 2.0**63 + 2**40),
        (DType.INT64, -(2**60 + 2**52 + 1), DType.BFLOAT16, -(2.0**60 + 2**53)),
        (DType.UINT64, 2**63 + 2**55 + 1, DType.BFLOAT16, 2.0**63 + 2**56),
        # Ties, and their neighbours.
        (DType.INT64, 2**24 + 1, DType.FLOAT, 2.0**24),
        (DType.INT32, 2**24 + 3, DType.FLOAT, 2.0**24 + 4),
        (DType.UINT32, 2**32 - 1, DType.FLOAT, 2.0**32),
        (DType.INT64, 2**53 + 1, DType.DOUBLE, 2.0**53),
        (DType.INT64, 2**53 + 3, DType.DOUBLE, 2.0**53 + 4),
        (DType.INT64, 2**63 - 1, DType.DOUBLE, 2.0**63),
        (DType.INT64, 2**63 - 513, DType.DOUBLE, 2.0**63 - 1024),
        (DType.INT64, 2**63 - 512, DType.DOUBLE, 2.0**63),
        (DType.INT64, -(2**63), DType.DOUBLE, -(2.0**63)),
        (DType.INT64, -(2**63), DType.BFLOAT16, -(2.0**63)),
        (DType.UINT64, 2**64 - 1, DType.DOUBLE, 2.0**64),
        (DType.UINT64, 2**64 - 1025, DType.DOUBLE, 2.0**64 - 2048),
        (DType.UINT64, 2**64 - 1024, DType.DOUBLE, 2.0**64),
        (DType.UINT64, 2**63 + 1024, DType.DOUBLE, 2.0**63),
        (DType.UINT64, 2**63 + 1025, DType.DOUBLE, 2.0**63 + 2048),
        (DType.UINT16, 257, DType.BFLOAT16, 256.0),
        (DType.INT16, -259, DType.BFLOAT16, -260.0),
        (DType.UINT16, 2049, DType.FLOAT16, 2048.0),
        (DType.INT16, 2051, DType.FLOAT16, 2052.0),
        # Overflow begins half a step beyond the largest number.
        (DType.UINT16, 65519, DType.FLOAT16, 65504.0),
        (DType.UINT16, 65520, DType.FLOAT16, np.inf),
        (DType.INT64, -(2**63), DType.FLOAT16, -np.inf),
        (DType.DOUBLE, 65520.0, DType.FLOAT16, np.inf),
        (DType.DOUBLE, -65519.99999999999, DType.FLOAT16, -65504.0),
        (DType.DOUBLE, (2 - 2.0**-8) * 2.0**127, DType.BFLOAT16, np.inf),
        (DType.FLOAT, (2 - 2.0**-7) * 2.0**127, DType.BFLOAT16, (2 - 2.0**-7) * 2.0**127),
        (DType.DOUBLE, (2 - 2.0**-24) * 2.0**127, DType.FLOAT, np.inf),
        (DType.DOUBLE, (2 - 2.0**-24 - 2.0**-52) * 2.0**127, DType.FLOAT, (2 - 2.0**-23) * 2.0**127),
        (DType.DOUBLE, -1.7976931348623157e308, DType.FLOAT, -np.inf),
        # Subnormal results, and the end of the numbers.
        (DType.DOUBLE, 2.0**-25, DType.FLOAT16, 0.0),
        (DType.DOUBLE, -(2.0**-25), DType.FLOAT16, -0.0),
        (DType.DOUBLE, 2.0**-25 * (1 + 2.0**-52), DType.FLOAT16, 2.0**-24),
        (DType.DOUBLE, 3 * 2.0**-25, DType.FLOAT16, 2.0**-23),
        (DType.DOUBLE, 2.0**-14 * (1 - 2.0**-11), DType.FLOAT16, 2.0**-14),
        (DType.DOUBLE, 2.0**-150, DType.FLOAT, 0.0),
        (DType.DOUBLE, 2.0**-150 * (1 + 2.0**-52), DType.FLOAT, 2.0**-149),
        (DType.DOUBLE, -5e-324, DType.FLOAT, -0.0),
        (DType.FLOAT, 2.0**-149, DType.DOUBLE, 2.0**-149),
        (DType.FLOAT, 2.0**-134, DType.BFLOAT16, 0.0),
        (DType.FLOAT, 2.0**-134 + 2.0**-149, DType.BFLOAT16, 2.0**-133),
        (DType.FLOAT16, 2.0**-24, DType.BFLOAT16, 2.0**-24),
        (DType.FLOAT16, 1023 * 2.0**-24, DType.BFLOAT16, 2.0**-14),
        # Truncation and saturation.
        (DType.FLOAT, 128 - 2.0**-17, DType.INT8, 127),
        (DType.FLOAT, 128.0, DType.INT8, 127),
        (DType.FLOAT, 2.0**-16 - 129, DType.INT8, -128),
        (DType.FLOAT, -129.0, DType.INT8, -128),
        (DType.FLOAT, 300.0, DType.INT8, 127),
        (DType.FLOAT, 256.0, DType.UINT8, 255),
        (DType.FLOAT, 256 - 2.0**-16, DType.UINT8, 255),
        (DType.FLOAT, 255 - 2.0**-16, DType.UINT8, 254),
        (DType.DOUBLE, 0.9999999999999999, DType.INT32, 0),
        (DType.DOUBLE, -0.9999999999999999, DType.UINT32, 0),
        (DType.DOUBLE, -1.0, DType.UINT64, 0),
        (DType.DOUBLE, -1.9999999999999998, DType.INT64, -1),
        (DType.DOUBLE, 0.5, DType.INT64, 0),
        (DType.DOUBLE, 5e-324, DType.INT8, 0),
        (DType.DOUBLE, 2147483647.0, DType.INT32, 2**31 - 1),
        (DType.DOUBLE, 2147483648.0, DType.INT32, 2**31 - 1),
        (DType.DOUBLE, -2147483648.9999995, DType.INT32, -(2**31)),
        (DType.DOUBLE, -2147483649.0, DType.INT32, -(2**31)),
        (DType.DOUBLE, 2.0**53 + 2, DType.INT64, 2**53 + 2),
        (DType.DOUBLE, 2.0**62 + 1024, DType.INT64, 2**62 + 1024),
        (DType.DOUBLE, 2.0**63 - 1024, DType.INT64, 2**63 - 1024),
        (DType.DOUBLE, 2.0**63, DType.INT64, 2**63 - 1),
        (DType.DOUBLE, -(2.0**63), DType.INT64, -(2**63)),
        (DType.DOUBLE, -(2.0**63 + 2048), DType.INT64, -(2**63)),
        (DType.DOUBLE, 2.0**63 + 2048, DType.UINT64, 2**63 + 2048),
        (DType.DOUBLE, 2.0**64 - 2048, DType.UINT64, 2**64 - 2048),
        (DType.DOUBLE, 2.0**64, DType.UINT64, 2**64 - 1),
        (DType.DOUBLE, 1.7976931348623157e308, DType.UINT64, 2**64 - 1),
        (DType.FLOAT16, np.inf, DType.INT32, 2**31 - 1),
        (DType.FLOAT16, -np.inf, DType.INT32, -(2**31)),
        (DType.FLOAT16, 65504.0, DType.INT32, 65504),
        (DType.FLOAT, -np.inf, DType.UINT8, 0),
        (DType.DOUBLE, np.inf, DType.INT64, 2**63 - 1),
        (DType.FLOAT, np.nan, DType.INT16, 0),
        # Low bits.
        (DType.INT64, 2**40 + 300, DType.INT8, 44),
        (DType.INT16, 200, DType.INT8, -56),
        (DType.INT8, -1, DType.UINT64, 2**64 - 1),
        (DType.UINT8, 255, DType.INT16, 255),
        (DType.UINT64, 2**64 - 1, DType.INT32, -1),
        (DType.INT64, -(2**63), DType.UINT32, 0),
        # bool.
        (DType.DOUBLE, np.nan, DType.BOOL, True),
        (DType.FLOAT, -0.0, DType.BOOL, False),
        (DType.DOUBLE, -5e-324, DType.BOOL, True),
        (DType.INT64, 2**40, DType.BOOL, True),
        (DType.UINT8, 0, DType.BOOL, False),
        (DType.BOOL, True, DType.INT8, 1),
        (DType.BOOL, True, DType.BFLOAT16, 1.0),
        (DType.BOOL, False, DType.DOUBLE, 0.0),
        (DType.BOOL, True, DType.COMPLEX64, 1 + 0j),
    ],
)
def test_conversions_by_hand(source: DType, value: Any, target: DType, expected: Any) -> None:
    given = np.array(value, numpy_dtype(source))
    if not isinstance(value, bool) and not np.isnan(value):
        assert given.item() == value  # the operand is the number that is meant
    assert same_bits(convert(given, source, target), np.array(expected, numpy_dtype(target)))


@pytest.mark.parametrize(
    ("source", "pattern", "target", "expected"),
    [
        (DType.FLOAT, 0x7F800001, DType.DOUBLE, 0x7FF8000020000000),
        (DType.FLOAT, 0xFFC00001, DType.DOUBLE, 0xFFF8000020000000),
        (DType.FLOAT, 0xFFFFFFFF, DType.BFLOAT16, 0xFFFF),
        (DType.FLOAT, 0x7F80FFFF, DType.BFLOAT16, 0x7FC0),
        (DType.FLOAT, 0x7FA10000, DType.BFLOAT16, 0x7FE1),
        (DType.DOUBLE, 0x7FF0000000000001, DType.FLOAT16, 0x7E00),
        (DType.DOUBLE, 0xFFF5400000000000, DType.FLOAT16, 0xFF50),
        (DType.DOUBLE, 0x7FFFFFFFFFFFFFFF, DType.FLOAT, 0x7FFFFFFF),
        (DType.BFLOAT16, 0xFF81, DType.FLOAT, 0xFFC10000),
        (DType.FLOAT16, 0x7C01, DType.BFLOAT16, 0x7FC0),
        (DType.BFLOAT16, 0x7F81, DType.FLOAT16, 0x7E08),
    ],
)
def test_a_nan_becomes_quiet_and_keeps_its_sign_and_upper_payload(
    source: DType, pattern: int, target: DType, expected: int
) -> None:
    result = convert(from_bits([pattern], source), source, target)
    assert to_bits(result) == [expected]


def patterns_of(dtype: DType) -> st.SearchStrategy[int]:
    """Encodings of any kind, and such that end in long runs of zeros or ones: near ties and powers of two."""
    if dtype is DType.BOOL:
        return st.integers(0, 1)
    width = WIDTHS[dtype]
    top, shift, low = st.integers(0, 2**width - 1), st.integers(0, width), st.integers(-2, 2)
    runs = st.builds(lambda top, shift, low: ((top >> shift << shift) + low) % 2**width, top, shift, low)
    return st.integers(0, 2**width - 1) | runs


@st.composite
def arrays(draw: st.DrawFn) -> tuple[DType, list[int]]:
    source = draw(st.sampled_from(SCALARS))
    return source, draw(st.lists(patterns_of(source), min_size=1, max_size=6))


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(2000))
@given(arrays(), st.sampled_from(SCALARS))
def test_any_element_is_converted_as_the_definition_says(
    operand: tuple[DType, list[int]], target: DType
) -> None:
    source, patterns = operand
    result = convert(from_bits(patterns, source), source, target)
    assert result.dtype == numpy_dtype(target)
    assert to_bits(result) == [converted(pattern, source, target) for pattern in patterns]


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(1000))
@given(st.data(), st.sampled_from(tuple(LAYOUTS)), st.sampled_from(SCALARS))
def test_a_number_near_the_middle_of_two_others_is_converted_as_the_definition_says(
    data: st.DataObject, source: DType, target: DType
) -> None:
    form = LAYOUTS[target if target in LAYOUTS else DType.DOUBLE]
    pattern = data.draw(st.integers(0, form.infinity - 1))
    middle = (magnitude(pattern, form) + magnitude(pattern + 1, form)) / 2
    near = real_converted(middle, source) + data.draw(st.integers(-1, 1))
    element = abs(near) + data.draw(st.sampled_from([0, LAYOUTS[source].sign]))
    result = convert(from_bits([element], source), source, target)
    assert to_bits(result) == [converted(element, source, target)]


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(500))
@given(st.sampled_from(tuple(LAYOUTS)), st.sampled_from(tuple(INTEGER_WIDTHS)), st.data())
def test_floats_at_the_ends_of_an_integer_type_saturate(
    source: DType, target: DType, data: st.DataObject
) -> None:
    end = data.draw(st.sampled_from(ends(target))) + data.draw(st.integers(-2, 2))
    element = (real_converted(Fraction(end), source) + data.draw(st.integers(-2, 2))) % 2 ** WIDTHS[source]
    result = convert(from_bits([element], source), source, target)
    assert to_bits(result) == [converted(element, source, target)]


fractions = st.builds(
    lambda top, bottom, exponent: Fraction(top, bottom) * Fraction(2) ** exponent,
    st.integers(-(2**70), 2**70),
    st.integers(1, 2**70),
    st.integers(-1200, 1100) | st.integers(-40, 80),
)


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(1000))
@given(st.lists(fractions | st.integers(-300, 300).map(Fraction), max_size=4), st.sampled_from(TYPES))
def test_reals_are_rounded_or_truncated_once(values: list[Fraction], target: DType) -> None:
    result = convert(real(values), DType.REAL, target)
    assert result.dtype == numpy_dtype(target)
    assert result.shape == (len(values),)
    if target in PARTS:
        parts = result.view(numpy_dtype(PARTS[target]))
        assert to_bits(parts[1::2].copy()) == [0] * len(values)
        result, target = parts[::2].copy(), PARTS[target]
    assert to_bits(result) == [real_converted(value, target) for value in values]


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(300))
@given(arrays())
def test_what_is_lifted_to_the_reals_keeps_its_value_and_finds_the_way_back(
    operand: tuple[DType, list[int]],
) -> None:
    source, patterns = operand
    if source in LAYOUTS:
        form = LAYOUTS[source]
        # No real number is a NaN, an infinity or the negative zero.
        patterns = [p for p in patterns if p % form.sign < form.infinity and p != form.sign]
        expected = [signed_value(pattern, source) for pattern in patterns]
    else:
        held = from_bits(patterns, source)
        expected = [Fraction(int(value)) for value in held]
    lifted = convert(from_bits(patterns, source), source, DType.REAL)
    assert isinstance(lifted, RealArray)
    assert list(lifted) == expected
    assert to_bits(convert(lifted, DType.REAL, source)) == patterns


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", list(LAYOUTS))
def test_what_is_no_real_number_is_not_lifted(source: DType, value: float) -> None:
    with pytest.raises(ValueError, match="which is no real number"):
        convert(np.array([1, value], numpy_dtype(source)), source, DType.REAL)


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(500))
@given(st.sampled_from(tuple(PARTS)), st.sampled_from((*PARTS, DType.BOOL)), st.data())
def test_complex_numbers_are_converted_part_by_part(
    source: DType, target: DType, data: st.DataObject
) -> None:
    part = PARTS[source]
    pairs = data.draw(st.lists(st.tuples(patterns_of(part), patterns_of(part)), max_size=4))
    array = from_bits([bits for pair in pairs for bits in pair], part).view(numpy_dtype(source))
    result = convert(array, source, target)
    assert result.dtype == numpy_dtype(target)
    if target is DType.BOOL:
        expected = [any(converted(bits, part, target) for bits in pair) for pair in pairs]
        assert result.tolist() == expected
    else:
        parts = to_bits(result.view(numpy_dtype(PARTS[target])))
        assert parts == [converted(bits, part, PARTS[target]) for pair in pairs for bits in pair]


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(300))
@given(arrays(), st.sampled_from(tuple(PARTS)))
def test_other_numbers_become_complex_with_imaginary_part_zero(
    operand: tuple[DType, list[int]], target: DType
) -> None:
    source, patterns = operand
    parts = convert(from_bits(patterns, source), source, target).view(numpy_dtype(PARTS[target]))
    assert to_bits(parts[::2].copy()) == [converted(pattern, source, PARTS[target]) for pattern in patterns]
    assert to_bits(parts[1::2].copy()) == [0] * len(patterns)


@for_each("target", [DType.REAL, *SCALARS])
@for_each("source", list(PARTS))
def test_complex_numbers_become_nothing_else(source: DType, target: DType) -> None:
    array = np.ones(2, numpy_dtype(source))
    if target is DType.BOOL:
        assert convert(array, source, target).all()
    else:
        with pytest.raises(ValueError, match=f"there is no conversion from {source} to {target}"):
            convert(array, source, target)


@pytest.mark.parametrize(("source", "target"), [(DType.STRING, DType.FLOAT), (DType.INT8, DType.STRING)])
def test_strings_are_not_converted(source: DType, target: DType) -> None:
    with pytest.raises(ValueError, match=f"there is no conversion from {source} to {target}"):
        convert(np.zeros(1, numpy_dtype(source)), source, target)


@for_each("dtype", [DType.REAL, DType.STRING, *TYPES])
def test_a_type_is_converted_to_itself_by_the_same_array(dtype: DType) -> None:
    array = np.zeros(3, numpy_dtype(dtype))
    assert convert(array, dtype, dtype) is array


def small(dtype: DType, shape: tuple[int, ...]) -> Array:
    """An array of the numbers 0, 1, 2, … up to 100, which every type but bool holds."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape) % 101
    return real(numbers) if dtype is DType.REAL else numbers.astype(numpy_dtype(dtype))


PAIRS = [
    (source, target)
    for source in (DType.REAL, *TYPES)
    for target in (DType.REAL, *TYPES)
    if source is not target and (source not in PARTS or target in (*PARTS, DType.BOOL))
]


@pytest.mark.no_cover
@for_each(("source", "target"), PAIRS)
@for_each("shape", [(), (0,), (2, 0, 3), (1,), (5, 3)])
def test_shapes_are_kept_and_the_operand_is_left_alone(
    source: DType, target: DType, shape: tuple[int, ...]
) -> None:
    array = small(source, shape)
    before = array.copy()
    array.setflags(write=False)
    result = convert(array, source, target)
    # Exact small numbers, so that every way between the types gives the same.
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    if DType.BOOL in (source, target):
        numbers = (numbers != 0).astype(np.int64)
    expected = real(numbers) if target is DType.REAL else numbers.astype(numpy_dtype(target))
    assert isinstance(result, np.ndarray)
    assert same_bits(result, expected)
    assert same_bits(array, before)
    assert not np.shares_memory(result, array)
    assert result.flags.writeable


@for_each(("source", "target"), PAIRS)
def test_the_layout_in_memory_does_not_matter(source: DType, target: DType) -> None:
    array = small(source, (4, 6, 2))
    plain = convert(array, source, target)
    assert same_bits(convert(array.transpose(2, 0, 1), source, target), plain.transpose(2, 0, 1))
    assert same_bits(convert(array[::-2, 1::2], source, target), plain[::-2, 1::2])
    repeated = np.broadcast_to(array[:1], (3, 6, 2), subok=True)
    assert same_bits(convert(repeated, source, target), np.broadcast_to(plain[:1], (3, 6, 2), subok=True))


@for_each("target", [DType.BOOL, DType.INT8, DType.INT64, DType.BFLOAT16, DType.DOUBLE, DType.COMPLEX64])
@for_each("source", [DType.BOOL, DType.INT16, DType.FLOAT, DType.COMPLEX128])
def test_long_arrays_are_converted_to_their_end(source: DType, target: DType) -> None:
    if source in PARTS and target in (DType.INT8, DType.INT64, DType.BFLOAT16, DType.DOUBLE):
        return
    array = small(source, (100_003,))
    result = convert(array, source, target)
    pieces = [convert(array[start : start + 1000], source, target) for start in range(0, 100_003, 1000)]
    assert same_bits(result, np.concatenate(pieces))


def test_every_byte_but_zero_in_a_bool_is_true() -> None:
    odd = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert convert(odd, DType.BOOL, DType.INT32).tolist() == [0, 1, 1, 1]
    assert convert(odd, DType.BOOL, DType.FLOAT).tolist() == [0, 1, 1, 1]
    assert convert(odd, DType.BOOL, DType.REAL).tolist() == [0, 1, 1, 1]


# The processor's register MXCSR holds the rounding direction in bits 13 and 14.
DOWNWARD, UPWARD, TOWARD_ZERO = 0x2000, 0x4000, 0x6000


@needs_x86_linux
@pytest.mark.parametrize("flags", [FLUSH_TO_ZERO | DENORMALS_ARE_ZERO, DOWNWARD, UPWARD, TOWARD_ZERO])
def test_no_state_of_the_processor_changes_a_result(flags: int) -> None:
    library = ctypes.CDLL("libm.so.6")
    generator = np.random.default_rng(11)
    tiny = [0, 1, 2, 3, 0x7FFFFF, 0x800000, 0x80000001, 0x7F800001, 0xFF800000]
    operands = {
        DType.FLOAT: from_bits([*tiny, *generator.integers(0, 2**32, 200)], DType.FLOAT),
        DType.DOUBLE: from_bits([*tiny, *generator.integers(0, 2**64, 200, np.uint64)], DType.DOUBLE),
        DType.INT64: from_bits([*range(2**63 - 40, 2**63 + 40), 2**64 - 1, 0, 1], DType.INT64),
        DType.UINT64: from_bits([*range(2**64 - 40, 2**64), 0, 1, 2**54 - 1], DType.UINT64),
    }
    results: dict[tuple[DType, DType], Array] = {}

    def run() -> str | None:
        for source, array in operands.items():
            for target in SCALARS:
                results[source, target] = convert(array, source, target)
        return None

    under_flags(library, flags, run)
    for (source, target), result in results.items():
        assert to_bits(result) == [converted(bits, source, target) for bits in to_bits(operands[source])]


def test_numpy_agrees_where_it_rounds_once() -> None:
    generator = np.random.default_rng(5)
    doubles = from_bits(generator.integers(0, 2**64, 300_000, np.uint64), DType.DOUBLE)
    doubles = np.concatenate([doubles, generator.normal(0, 1e-3, 300_000), generator.normal(0, 3e4, 300_000)])
    with np.errstate(all="ignore"):
        for target in (DType.FLOAT16, DType.FLOAT):
            expected = doubles.astype(numpy_dtype(target))
            assert same_bits(convert(doubles, DType.DOUBLE, target), expected, nan="any")
        floats = doubles.astype(np.float32)
        assert same_bits(convert(floats, DType.FLOAT, DType.FLOAT16), floats.astype(np.float16), nan="any")
        shortened = floats.astype(ml_dtypes.bfloat16)
        assert same_bits(convert(floats, DType.FLOAT, DType.BFLOAT16), shortened, nan="any")
    for source in INTEGERS:
        integers = generator.integers(0, 256, 2**19, np.uint8).view(numpy_dtype(source))
        for target in (DType.FLOAT, DType.DOUBLE):
            assert same_bits(convert(integers, source, target), integers.astype(numpy_dtype(target)))
