"""Literals that lose nothing."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples, thinned
from tests.loops import for_each

from sonnx.model.dtype import DType
from sonnx.numeric.literals import format_float, parse_literal

pytestmark = pytest.mark.measured

HELD: dict[DType, Any] = {
    DType.FLOAT16: np.float16,
    DType.BFLOAT16: ml_dtypes.bfloat16,
    DType.FLOAT: np.float32,
    DType.DOUBLE: np.float64,
}


def bits(number: Any) -> int:
    return int(np.asarray(number).view(f"u{number.dtype.itemsize}"))


def number(pattern: int, dtype: DType) -> Any:
    held = np.dtype(HELD[dtype])
    return np.array(pattern, dtype=f"u{held.itemsize}").view(held)[()]


def plain(text: str) -> str:
    """Python's spelling of a hexadecimal float (float.hex) without its trailing zeros."""
    mantissa, exponent = text.split("p")
    shorter = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{shorter}p{exponent}"


@pytest.mark.no_cover
@pytest.mark.thinned
@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_every_number_of_16_bits_reads_back_to_the_same_bits(dtype: DType) -> None:
    for pattern in thinned(range(2**16)):
        text = format_float(number(pattern, dtype))
        assert bits(parse_literal(text, dtype)) == pattern, text


@pytest.mark.thinned
def test_every_bfloat16_is_written_as_the_number_it_is() -> None:
    # A bfloat16 is the upper half of the float of the same value.
    for pattern in thinned(range(0x7F80)):
        value = float(np.array(pattern << 16, np.uint32).view(np.float32))
        assert float.fromhex(format_float(number(pattern, DType.BFLOAT16))) == value


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(1000))
@given(st.integers(0, 2**32 - 1))
def test_every_float_reads_back_to_the_same_bits(pattern: int) -> None:
    assert bits(parse_literal(format_float(number(pattern, DType.FLOAT)), DType.FLOAT)) == pattern


@settings(deadline=None, max_examples=examples(1000))
@given(st.integers(0, 2**64 - 1))
def test_every_double_reads_back_to_the_same_bits(pattern: int) -> None:
    assert bits(parse_literal(format_float(number(pattern, DType.DOUBLE)), DType.DOUBLE)) == pattern


@settings(deadline=None, max_examples=examples(500))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_written_as_python_writes_them(value: float) -> None:
    assert format_float(value) == plain(value.hex())


@settings(deadline=None, max_examples=examples(500))
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_floats_are_written_in_a_form_that_python_reads(value: float) -> None:
    text = format_float(np.float32(value))
    assert float.fromhex(text).hex() == value.hex()


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(500))
@given(st.integers(-(2**70), 2**70), st.integers(-1200, 1000), st.integers(0, 20))
def test_hexadecimal_floats_are_read_as_python_reads_them(top: int, exponent: int, places: int) -> None:
    digits = f"{abs(top):x}"
    text = f"{'-' if top < 0 else ''}0x{digits}.{'8'[:places]}{digits[:places]}p{exponent}"
    try:
        expected = float.fromhex(text)
    except OverflowError:
        expected = -np.inf if top < 0 else np.inf
    assert bits(parse_literal(text, DType.DOUBLE)) == bits(np.float64(expected))


@settings(deadline=None, max_examples=examples(500))
@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=30)
    | st.floats(allow_nan=False, allow_infinity=False)
)
def test_decimals_are_read_as_python_reads_them(value: Any) -> None:
    assert bits(parse_literal(str(value), DType.DOUBLE)) == bits(np.float64(float(str(value))))


@for_each(
    ("value", "text"),
    [
        (np.float32(0.0), "0x0p+0"),
        (np.float32(-0.0), "-0x0p+0"),
        (np.float32(12.0), "0x1.8p+3"),
        (np.float32(-1.0), "-0x1p+0"),
        (np.float32(0.1), "0x1.99999ap-4"),
        (np.float32(2.0**-149), "0x0.000002p-126"),
        (np.float16(2.0**-24), "0x0.004p-14"),
        (np.float64(5e-324), "0x0.0000000000001p-1022"),
        (np.float16(65504), "0x1.ffcp+15"),
        (number(0x0001, DType.BFLOAT16), "0x0.02p-126"),
        (number(0x8080, DType.BFLOAT16), "-0x1p-126"),
        (number(0x3DCD, DType.BFLOAT16), "0x1.9ap-4"),
        (number(0x7F7F, DType.BFLOAT16), "0x1.fep+127"),
        (number(0x8000, DType.BFLOAT16), "-0x0p+0"),
        (number(0xFF80, DType.BFLOAT16), "-inf"),
        (number(0x7F81, DType.BFLOAT16), "nan(0x1)"),
        (number(0xFFC0, DType.BFLOAT16), "-nan(0x40)"),
        (np.float64(-np.inf), "-inf"),
        (np.inf, "inf"),
        (np.nan, "nan(0x8000000000000)"),
        (np.array(0xFFC00001, np.uint32).view(np.float32), "-nan(0x400001)"),
    ],
)
def test_literals_are_written_so(value: Any, text: str) -> None:
    assert format_float(value) == text


@for_each(
    ("text", "dtype", "pattern"),
    [
        ("1", DType.FLOAT, 0x3F800000),
        ("+1.5e0", DType.FLOAT, 0x3FC00000),
        ("1/3", DType.FLOAT, 0x3EAAAAAB),
        (" -2 ", DType.FLOAT, 0xC0000000),
        ("-0", DType.FLOAT, 0x80000000),
        ("-0.0", DType.DOUBLE, 0x8000000000000000),
        ("-1e-400", DType.DOUBLE, 0x8000000000000000),
        ("-0x1p-2000", DType.FLOAT16, 0x8000),
        ("1e400", DType.DOUBLE, 0x7FF0000000000000),
        ("-1e400", DType.DOUBLE, 0xFFF0000000000000),
        ("0X1P3", DType.FLOAT, 0x41000000),
        ("+0x.8", DType.FLOAT, None),
        ("0x1.8", DType.FLOAT, 0x3FC00000),
        ("0x1.", DType.FLOAT, 0x3F800000),
        ("0x10", DType.FLOAT, 0x41800000),
        ("inf", DType.FLOAT16, 0x7C00),
        ("+inf", DType.FLOAT16, 0x7C00),
        ("-inf", DType.FLOAT16, 0xFC00),
        ("nan", DType.FLOAT, 0x7FC00000),
        ("+nan", DType.DOUBLE, 0x7FF8000000000000),
        ("-nan", DType.FLOAT16, 0xFE00),
        ("nan(0x1)", DType.FLOAT, 0x7F800001),
        ("-nan(0x7fffff)", DType.FLOAT, 0xFFFFFFFF),
        # 1 + 2^-11 + 2^-60: through double it would become a tie, and round to 1.
        ("0x1.002000000000001p0", DType.FLOAT16, 0x3C01),
        # 1 + 2^-8 + 2^-40: through float it would become a tie, and round to 1.
        ("0x1.0100000001p0", DType.BFLOAT16, 0x3F81),
        ("1.00390625", DType.BFLOAT16, 0x3F80),
        ("1.01171875", DType.BFLOAT16, 0x3F82),
        ("-0.1", DType.BFLOAT16, 0xBDCD),
        ("1/3", DType.BFLOAT16, 0x3EAB),
        ("-0", DType.BFLOAT16, 0x8000),
        ("-1e-50", DType.BFLOAT16, 0x8000),
        ("0x1p-133", DType.BFLOAT16, 0x0001),
        ("0x1p-134", DType.BFLOAT16, 0x0000),
        ("3.3895e38", DType.BFLOAT16, 0x7F7F),
        ("0x1.ffp127", DType.BFLOAT16, 0x7F80),
        ("+inf", DType.BFLOAT16, 0x7F80),
        ("-inf", DType.BFLOAT16, 0xFF80),
        ("nan", DType.BFLOAT16, 0x7FC0),
        ("-nan", DType.BFLOAT16, 0xFFC0),
        ("-nan(0x1)", DType.BFLOAT16, 0xFF81),
        ("nan(0x7f)", DType.BFLOAT16, 0x7FFF),
    ],
)
def test_literals_are_read_so(text: str, dtype: DType, pattern: int | None) -> None:
    if pattern is None:
        with pytest.raises(ValueError, match="no decimal number"):
            parse_literal(text, dtype)
    else:
        assert bits(parse_literal(text, dtype)) == pattern
        assert parse_literal(text, dtype).dtype == HELD[dtype]


@for_each(
    ("text", "dtype", "message"),
    [
        ("nan(0x0)", DType.FLOAT, r"nan\(0x0\) is no NaN of float: its fraction has 23 bits, not all 0"),
        ("nan(0x800000)", DType.FLOAT, "its fraction has 23 bits"),
        ("nan(1)", DType.FLOAT, "no decimal number"),
        ("NaN", DType.FLOAT, "no decimal number"),
        ("infinity", DType.FLOAT, "no decimal number"),
        ("", DType.FLOAT, "no decimal number"),
        ("0x", DType.FLOAT, "no decimal number"),
        ("--1", DType.FLOAT, "no decimal number"),
        ("1e999999999", DType.FLOAT, "exponents to 100000"),
        ("0x1p100000", DType.FLOAT, "has an exponent that no type holds"),
        ("0x1p-" + "9" * 10000, DType.FLOAT, "has an exponent that no type holds"),
        ("0x1p+" + "0" * 10000, DType.FLOAT, "has an exponent that no type holds"),
        ("128", DType.INT8, "'128' does not fit int8, which holds -128 to 127"),
        ("-1", DType.UINT8, "'-1' does not fit uint8, which holds 0 to 255"),
        ("0x" + "f" * 10000, DType.INT64, "0xf+' does not fit int64"),
        ("1.0", DType.INT8, "'1.0' is no integer"),
        ("9" * 10000, DType.INT64, "is no integer"),
        ("true", DType.BOOL, "literals of type bool are not read from text"),
        ("1", DType.COMPLEX64, "literals of type complex64 are not read from text"),
        ("nan(0x80)", DType.BFLOAT16, "is no NaN of bfloat16: its fraction has 7 bits, not all 0"),
        ("nan(0x" + "f" * 10000 + ")", DType.DOUBLE, "is no NaN of double: its fraction has 52 bits"),
        ("x", DType.REAL, "no decimal number"),
    ],
)
def test_what_is_no_literal_of_the_type_is_refused(text: str, dtype: DType, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_literal(text, dtype)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("-128", DType.INT8, np.int8(-128)),
        ("0xff", DType.UINT8, np.uint8(255)),
        ("18446744073709551615", DType.UINT64, np.uint64(2**64 - 1)),
        ("-9223372036854775808", DType.INT64, np.int64(-(2**63))),
    ],
)
def test_integers_are_read_to_their_ends(text: str, dtype: DType, value: Any) -> None:
    assert parse_literal(text, dtype) == value
    assert parse_literal(text, dtype).dtype == value.dtype


def test_reals_are_read_exactly() -> None:
    assert parse_literal("0.1", DType.REAL) == Fraction(1, 10)
    assert type(parse_literal("1/3", DType.REAL)) is Fraction


@pytest.mark.parametrize(
    "value", [1, "1.0", np.zeros(2), np.longdouble(1), np.int8(1), np.ma.masked, np.complex64(1)]
)
def test_only_one_float_is_written(value: Any) -> None:
    with pytest.raises(ValueError, match="format_float: needs one float16, bfloat16, float or double, got"):
        format_float(value)


def test_a_type_may_be_named_by_its_spelling_and_an_unknown_one_is_refused() -> None:
    assert parse_literal("0x1.8p+1", "float") == np.float32(3)
    with pytest.raises(ValueError, match="there are the types real, float16, float, double"):
        parse_literal("1", "float32")


def test_a_float_of_the_other_byte_order_is_written_like_any_other() -> None:
    assert format_float(np.array(3.0, ">f4")) == "0x1.8p+1"


def test_integers_in_digits_of_other_scripts_are_refused() -> None:
    with pytest.raises(ValueError, match="is no integer"):
        parse_literal("\u0663", "int8")


@pytest.mark.parametrize("text", [1.5, None, b"1", [1, 2], True])
def test_only_text_is_read(text: Any) -> None:
    with pytest.raises(TypeError, match="parse_literal: needs text, got "):
        parse_literal(text, "real")
    with pytest.raises(ValueError, match="there are the types"):
        parse_literal("1", [])  # type: ignore[arg-type]  # wrong on purpose
