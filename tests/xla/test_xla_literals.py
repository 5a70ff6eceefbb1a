"""Literals of the XLA document: read and printed without loss, refused with the place of the mistake."""

import pickle
import random
from fractions import Fraction
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples, thinned
from tests.loops import for_each

import sonnx
from sonnx.model.dtype import DType
from sonnx.numeric import literals as numbers
from sonnx.xla.literals import LiteralError, Position, format_literal, parse_literal

BF16 = np.dtype(ml_dtypes.bfloat16)
# The types of D-XLA-6 with the NumPy dtypes that hold them.
HELD: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": BF16,
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
FLOATS = {"f16": DType.FLOAT16, "bf16": DType.BFLOAT16, "f32": DType.FLOAT, "f64": DType.DOUBLE}
V = np.array(
    [
        [[10, 11, 12], [15, 16, 17]],
        [[20, 21, 22], [25, 26, 27]],
        [[30, 31, 32], [35, 36, 37]],
        [[40, 41, 42], [45, 46, 47]],
    ],
    np.float32,
)


def bits(number: Any) -> int:
    array = np.asarray(number)
    return int(array.view(f"u{array.dtype.itemsize}"))


def from_bits(patterns: Any, name: str) -> Any:
    held = HELD[name]
    return np.array(patterns, dtype=f"u{held.itemsize}").view(held)


# The document's examples, and forms beside them

READ = {
    "f32[2,3] {{1, 2, 3}, {4, 5, 6}}": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
    "s32[3] {-1, 5, 9}": np.array([-1, 5, 9], np.int32),
    "s32[3]{0, 5, 6}": np.array([0, 5, 6], np.int32),
    "s32 0": np.array(0, np.int32),
    "s32[] 6": np.array(6, np.int32),
    "f32[] 2": np.array(2, np.float32),
    "f32[3]{0.0, 1.0, 2.0}": np.array([0, 1, 2], np.float32),
    """f32[4x2x3] {{{10, 11, 12},  {15, 16, 17}},
                    {{20, 21, 22},  {25, 26, 27}},
                    {{30, 31, 32},  {35, 36, 37}},
                    {{40, 41, 42},  {45, 46, 47}}}""": V,
    """f32[24] {10, 11, 12, 15, 16, 17,
                      20, 21, 22, 25, 26, 27,
                      30, 31, 32, 35, 36, 37,
                      40, 41, 42, 45, 46, 47}""": V.reshape(24),
    """f32[4x6] {{10, 11, 12, 15, 16, 17},
                      {20, 21, 22, 25, 26, 27},
                      {30, 31, 32, 35, 36, 37},
                      {40, 41, 42, 45, 46, 47}}""": V.reshape(4, 6),
    "s32[4,2] {\n  {1, 2},\n  {3, 4},\n  {5, 6},\n  {7, 8},\n}": np.arange(1, 9, dtype=np.int32).reshape(
        4, 2
    ),
    "f32[0] {}": np.zeros(0, np.float32),
    "f32[2,0] {{}, {}}": np.zeros((2, 0), np.float32),
    "f32[0,2] {}": np.zeros((0, 2), np.float32),
    "f32[0x2] {}": np.zeros((0, 2), np.float32),
    "\r\n\tf32\f[ 2 ,\v1 ]\n{ { 1 } ,\n{ 2 , } , } \n": np.array([[1], [2]], np.float32),
    "u8[ 2 x 1 ]{{ 0xfF},{+7}}": np.array([[255], [7]], np.uint8),
    "s8[4]{-128, 127, -0x80, -0}": np.array([-128, 127, -128, 0], np.int8),
    "s64[2]{-9223372036854775808, 9223372036854775807}": np.array([-(2**63), 2**63 - 1], np.int64),
    "u64[1]{18446744073709551615}": np.array([2**64 - 1], np.uint64),
    "pred[4]{true, false, 1, 0}": np.array([True, False, True, False]),
    "c64[2]{(1, -0.5), ( inf ,\n-0)}": np.array([1, -0.5, np.inf, -0.0], np.float32).view(np.complex64),
    "c128 (0x1p-1074, 2)": np.array([5e-324, 2], np.float64).view(np.complex128).reshape(()),
    "f32[6]{.5, 5., 1E2, +1, 0x0.8p1, 007}": np.array([0.5, 5, 100, 1, 1, 7], np.float32),
    "f32[007]{1,2,3,4,5,6,7}": np.arange(1, 8, dtype=np.float32),
    "f64[2]{0x1p99999, -0X1P+99999}": np.array([np.inf, -np.inf]),
}


@for_each("text", READ)
def test_a_literal_reads_as_its_array(text: str) -> None:
    assert sonnx.same_bits(parse_literal(text), READ[text])


# Encodings worked out by hand from the formats.
ENCODED = {
    "f32 -0": 0x80000000,
    "f32 -1e-60": 0x80000000,
    "f32 inf": 0x7F800000,
    "f32 -inf": 0xFF800000,
    "f32 1e39": 0x7F800000,
    "f32 nan": 0x7FC00000,
    "f32 -nan": 0xFFC00000,
    "f32 nan(0x1)": 0x7F800001,
    "f32 -nan(0x400001)": 0xFFC00001,
    "f64 nan(0x1)": 0x7FF0000000000001,
    "f16 nan(0x3ff)": 0x7FFF,
    "bf16 nan(0x7f)": 0x7FFF,
    "f32 1e-45": 0x00000001,
    "f64 5e-324": 0x0000000000000001,
    "f16 65519.999": 0x7BFF,
    "f16 65520": 0x7C00,
    "f16 2049": 0x6800,
    "f16 2051": 0x6802,
    "bf16 257": 0x4380,
    "bf16 259": 0x4382,
    # Just above a tie between 1 and its successor: a middle type would make it the tie, and round to 1.
    "f16 1.00048828125000000000000001": 0x3C01,
    "f16 1.00048828125": 0x3C00,
    "f16 0x1.0020000000000000000001p+0": 0x3C01,
    "bf16 1.00390625000000000000000001": 0x3F81,
    "bf16 1.00390625": 0x3F80,
    "bf16 -1.00390625000000000000000001": 0xBF81,
    "f32 1.00000005960464477539062500000000000000001": 0x3F800001,
    "f32 1.000000059604644775390625": 0x3F800000,
    # 2^60 + 2^36 is a tie, and one more is not, though both are one double.
    "f32 1152921573326323712": 0x5D800000,
    "f32 1152921573326323713": 0x5D800001,
    "f64 0x1.00000000000008p+0": 0x3FF0000000000000,
    "f64 0x1.000000000000080001p+0": 0x3FF0000000000001,
}


@for_each("text", ENCODED)
def test_a_float_is_rounded_once(text: str) -> None:
    assert bits(parse_literal(text)) == ENCODED[text]


DIGITS = st.text("0123456789", min_size=1, max_size=30)


@st.composite
def decimals(draw: st.DrawFn) -> str:
    sign, whole, part = draw(st.sampled_from(("", "-", "+"))), draw(DIGITS), draw(DIGITS)
    exponent = draw(st.one_of(st.integers(-60, 60), st.integers(-400, 400)))
    return f"{sign}{whole}.{part}e{exponent}"


@st.composite
def near_ties(draw: st.DrawFn) -> str:
    """The exact decimal of a number half way between two floats, with or without a digit more."""
    bits_kept = draw(st.sampled_from((8, 11, 24)))
    odd = 2 * draw(st.integers(2 ** (bits_kept - 1), 2**bits_kept - 1)) + 1
    exponent = draw(st.integers(-40, 20))
    value = Fraction(odd) * Fraction(2) ** exponent
    whole, rest = divmod(value.numerator * 10**60 // value.denominator, 10**60)
    return f"{whole}.{rest:060d}{draw(st.sampled_from(('', '01', '9')))}"


HEXES = st.builds(
    "{}0x{:x}.{:x}p{}".format,
    st.sampled_from(("", "-")),
    st.integers(0, 2**60),
    st.integers(0, 2**40),
    st.one_of(st.integers(-200, 100), st.integers(-1200, 1200)),
)
WORDS = st.lists(st.one_of(decimals(), near_ties(), HEXES), min_size=1, max_size=4)


@settings(deadline=None, max_examples=examples(400))
@given(WORDS, st.sampled_from(sorted(FLOATS)))
def test_the_quick_way_gives_the_bits_of_the_definition(words: list[str], name: str) -> None:
    expected = [bits(numbers.parse_literal(word, FLOATS[name])) for word in words]
    read = parse_literal(f"{name}[{len(words)}] {{{', '.join(words)}}}")
    assert read.view(f"u{read.dtype.itemsize}").tolist() == expected


# Printing

WRITTEN = {
    "f32[2,3] {{1, 2, 3}, {4, 5, 6}}": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
    "s32[3] {-1, 5, 9}": np.array([-1, 5, 9], np.int32),
    "f32[] 2": np.float32(2),
    "f64[] -0.5": -0.5,
    "pred[2] {true, false}": np.array([True, False]),
    "c64[1] {(1, -0.5)}": np.array([1 - 0.5j], np.complex64),
    "f32[0] {}": np.zeros(0, np.float32),
    "f32[2,0] {{}, {}}": np.zeros((2, 0), np.float32),
    "f32[2,0,3] {{}, {}}": np.zeros((2, 0, 3), np.float32),
    "f32[4] {0, -0, inf, -inf}": np.array([0.0, -0.0, np.inf, -np.inf], np.float32),
    "f32[4] {nan, -nan, nan(0x1), -nan(0x400001)}": from_bits(
        [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFC00001], "f32"
    ),
    "bf16[5] {0.1, 3, 1e+10, 999424, nan(0x1)}": from_bits([0x3DCD, 0x4040, 0x5015, 0x4974, 0x7F81], "bf16"),
    "f16[4] {65504, 0.1, 6e-08, 2048}": from_bits([0x7BFF, 0x2E66, 1, 0x6800], "f16"),
    "f32[5] {9999999, 1e+07, 16777216, 0.1, 1e-45}": np.array(
        [9999999, 1e7, 16777216, 0.1, 1e-45], np.float32
    ),
    "f64[6] {0.001, 0.0001, 1e-05, 123.5, -1.5e+300, 5e-324}": np.array(
        [0.001, 0.0001, 0.00001, 123.5, -1.5e300, 5e-324]
    ),
    "u64[1] {18446744073709551615}": np.array([2**64 - 1], np.uint64),
    "f32[1,1,1] {{{7}}}": np.array([[[7]]], ">f4"),
}


@for_each("text", WRITTEN)
def test_an_array_is_written_as_in_the_document(text: str) -> None:
    assert format_literal(WRITTEN[text]) == text


def test_hexadecimal_floats_are_written_on_request() -> None:
    array = np.array([1.5, -0.0, 2.0**-149, np.inf], np.float32)
    assert format_literal(array, hexadecimal=True) == "f32[4] {0x1.8p+0, -0x0p+0, 0x0.000002p-126, inf}"
    assert format_literal(np.complex128(3 - 1j), hexadecimal=True) == "c128[] (0x1.8p+1, -0x1p+0)"
    assert format_literal(np.array([10], np.uint8), hexadecimal=True) == "u8[1] {10}"


def test_a_long_literal_has_its_rows_below_each_other() -> None:
    assert format_literal(V.reshape(4, 6), width=60) == (
        "f32[4,6] {{10, 11, 12, 15, 16, 17},\n"
        "          {20, 21, 22, 25, 26, 27},\n"
        "          {30, 31, 32, 35, 36, 37},\n"
        "          {40, 41, 42, 45, 46, 47}}"
    )
    assert format_literal(V[:2], width=20) == (
        "f32[2,2,3] {{{10, 11, 12},\n"
        "             {15, 16, 17}},\n"
        "            {{20, 21, 22},\n"
        "             {25, 26, 27}}}"
    )
    assert format_literal(V[0, 0], width=1) == "f32[3] {10, 11, 12}"
    line = "f32[2,2] {{1, 2}, {3, 4}}"
    assert format_literal(parse_literal(line), width=len(line)) == line
    assert "\n" in format_literal(parse_literal(line), width=len(line) - 1)


@pytest.mark.parametrize("value", ["text", np.array(["a"]), np.array([None]), sonnx.real([1]), None, [1.0]])
def test_what_has_no_type_of_xla_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match="XLA has no type for"):
        format_literal(value)


def test_an_array_with_too_many_elements_is_not_written() -> None:
    with pytest.raises(ValueError, match="at most 2147483647 elements"):
        format_literal(np.broadcast_to(np.int8(0), (2**16, 2**15)))
    with pytest.raises(ValueError, match="at most 2147483647 elements"):
        format_literal(np.zeros((2**31, 0), np.int8))


# Both ways

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple).filter(lambda shape: prod(shape) <= 40)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Arrays of every type from any bits: NaN payloads, subnormals, both zeros, infinities."""
    name, shape = draw(st.sampled_from(sorted(HELD))), draw(SHAPES)
    held, count = HELD[name], prod(shape)
    if name == "pred":
        return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool).reshape(shape)
    word = held.itemsize // (2 if held.kind == "c" else 1)
    top = 2 ** (8 * word) - 1
    sign, full = (top + 1) // 2, {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "c64": 0x7F800000}
    infinity = full.get(name, 0x7FF << 52) & top
    special = [0, sign, 1, sign + 1, infinity, infinity | sign, infinity | 1, infinity | sign | 1, top]
    element = st.one_of(st.integers(0, top), st.integers(0, min(top, 2000)), st.sampled_from(special))
    count *= held.itemsize // word
    words = draw(st.lists(element, min_size=count, max_size=count))
    return np.array(words, f"u{word}").view(held).reshape(shape)


@settings(deadline=None, max_examples=examples(800))
@given(arrays(), st.booleans(), st.sampled_from((0, 30, 100)))
def test_what_is_written_reads_back_to_the_same_bits(array: Any, hexadecimal: bool, width: int) -> None:
    assert sonnx.same_bits(parse_literal(format_literal(array, hexadecimal=hexadecimal, width=width)), array)


@pytest.mark.thinned
@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("hexadecimal", [False, True])
def test_every_float_of_16_bits_reads_back_to_the_same_bits(name: str, hexadecimal: bool) -> None:
    array = from_bits(thinned(range(2**16), 2**12), name).reshape(2**6, -1)
    assert sonnx.same_bits(parse_literal(format_literal(array, hexadecimal=hexadecimal)), array)


def exact(pattern: int, fraction_bits: int, bias: int) -> Fraction:
    """The value of a finite encoding, from the definition of the formats."""
    exponent, fraction = pattern >> fraction_bits, pattern & ((1 << fraction_bits) - 1)
    if exponent == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - bias - fraction_bits)
    return Fraction(fraction + (1 << fraction_bits)) * Fraction(2) ** (exponent - bias - fraction_bits)


def decimal_point(value: Fraction) -> int:
    """The p with 10^(p-1) ≤ value < 10^p."""
    place = 0
    while Fraction(10) ** place <= value:
        place += 1
    while Fraction(10) ** (place - 1) > value:
        place -= 1
    return place


@pytest.mark.parametrize(("name", "fraction_bits", "bias"), [("f16", 10, 15), ("bf16", 7, 127)])
def test_no_decimal_with_fewer_digits_reads_back_to_the_same_bits(
    name: str, fraction_bits: int, bias: int
) -> None:
    largest = ((2 * bias + 1) << fraction_bits) - 1
    patterns = [p for p in range(1, largest) if p % 5 == 0 or p % (1 << fraction_bits) in (0, 1)]
    texts = format_literal(from_bits(patterns, name)).split("{")[1].rstrip("}").split(", ")
    for pattern, text in zip(patterns, texts, strict=True):
        value = exact(pattern, fraction_bits, bias)
        if value.denominator == 1 and value < 10**7:
            assert text == str(value.numerator)
            continue
        digits = len(text.split("e")[0].replace(".", "").strip("0"))
        if digits == 1:
            continue
        low, high = ((exact(pattern + way, fraction_bits, bias) + value) / 2 for way in (-1, 1))
        # Numbers with one digit less are multiples of this; even encodings have the ends of their interval.
        step = Fraction(10) ** (decimal_point(value) - digits + 1)
        first = -(-low // step) * step if pattern % 2 == 0 else (low // step + 1) * step
        assert first > high or (first == high and pattern % 2), (text, first)


def test_a_large_literal_reads_back() -> None:
    words = np.random.default_rng(4).integers(0, 2**32, 100_000, dtype=np.uint32)
    array = words.view(np.float32).reshape(-1, 4)
    assert sonnx.same_bits(parse_literal(format_literal(array)), array)


# Mistakes: the text, with ^ before the place, and what the message says of it

TYPES = "pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128"
ELEMENT = "a number of f32 such as 1, -0.5, 2e-3, 0x1.8p+3, inf or nan"
PAIR = "an element in parentheses, such as (1, -0.5) (c64[1] has 1 level of braces)"
REFUSED = [
    ("^", f"an element type ({TYPES}), found the end of the text"),
    ("^ \n ", f"an element type ({TYPES}), found the end of the text"),
    ("^f31[2]{1,2}", f"an element type ({TYPES}), found 'f31'"),
    ("\n ^F32[2]{1,2}", f"an element type ({TYPES}), found 'F32'"),
    ("^{1, 2}", f"an element type ({TYPES}), found '{{'"),
    ("f32[^a]{1}", "a size, which is a decimal number without sign, found 'a'"),
    ("f32[2, ^-1]{1}", "a size, which is a decimal number without sign, found '-1'"),
    ("f32[^3.5]{1}", "a size, which is a decimal number without sign, found '3.5'"),
    ("f32[^\u0663]{1}", "a size, which is a decimal number without sign, found '\\u0663'"),
    ("f32[2,^]{1,2}", "a size, which is a decimal number without sign, found ']'"),
    ("f32[2x^x3]{1}", "a size, which is a decimal number without sign, found 'x'"),
    ("f32[^", "a size, which is a decimal number without sign, found the end of the text"),
    ("f32[2^ \n", "',' or ']' after a size, found the end of the text"),
    ("f32[2 ^3]{1}", "',' or ']' after a size, found '3'"),
    ("f32[2x3^{1}", "'x' or ']' after a size, found '{'"),
    ("f32[2,3^x4]{1}", "',' as between the sizes before, found 'x'"),
    ("f32[2x3 ^,4]{1}", "'x' as between the sizes before, found ','"),
    ("f32[^2147483648]{1}", "sizes with a product of at most 2147483647, found '2147483648'"),
    ("f32[65536,0,^65536]{}", "sizes with a product of at most 2147483647, found '65536'"),
    (f"f32[{'1,' * 64}^1]", "']' after 64 sizes, the most there can be, found '1'"),
    ("f32^", "an element (f32[] is a scalar and has no braces), found the end of the text"),
    ("f32[]^ \n ", "an element (f32[] is a scalar and has no braces), found the end of the text"),
    ("f32[] ^{1}", "an element (f32[] is a scalar and has no braces), found '{'"),
    ("f32 ^}", "an element (f32[] is a scalar and has no braces), found '}'"),
    ("f32 ^,1", "an element (f32[] is a scalar and has no braces), found ','"),
    ("f32[2] ^1, 2", "'{' (f32[2] has 1 level of braces, 0 open here), found '1'"),
    ("f32[2,2] {^1, 2}", "'{' (f32[2,2] has 2 levels of braces, 1 open here), found '1'"),
    ("f32[2,2] {^", "'{' (f32[2,2] has 2 levels of braces, 1 open here), found the end of the text"),
    ("f32[2]{^{1}, {2}}", "an element (f32[2] has 1 level of braces), found '{'"),
    ("f32[2,3] {{1, 2, 3},\n {4, 5^}}", "3 items along axis 1 of f32[2,3], found '}' after 2"),
    ("f32[2,3] {{1, 2, 3},\n {4, 5, 6, ^7}}", "'}' after 3 items along axis 1 of f32[2,3], found '7'"),
    ("f32[2,1] {{1}^}", "2 items along axis 0 of f32[2,1], found '}' after 1"),
    ("f32[2,1] {{1},{2},^{3}}", "'}' after 2 items along axis 0 of f32[2,1], found '{'"),
    ("f32[1] {^}", "1 item along axis 0 of f32[1], found '}' after 0"),
    ("f32[0] {^1}", "'}' after 0 items along axis 0 of f32[0], found '1'"),
    ("f32[0] {^", "'}' after 0 items along axis 0 of f32[0], found the end of the text"),
    ("f32[2] {1 ^2}", "',' or '}' after an item along axis 0, found '2'"),
    ("f32[2,1] {{1} ^{2}}", "',' or '}' after an item along axis 0, found '{'"),
    ("f32[2] {1, ^, 2}", "an element (f32[2] has 1 level of braces), found ','"),
    ("f32[2] {1, 2, ^,}", "an element (f32[2] has 1 level of braces), found ','"),
    ("f32[0] {^,}", "an element (f32[0] has 1 level of braces), found ','"),
    ("f32[2] {1^", "',' after 1 of 2 items along axis 0 of f32[2], found the end of the text"),
    ("f32[2] {1,^", "an element (f32[2] has 1 level of braces), found the end of the text"),
    ("f32[2] {1, 2^ \n", "'}' after 2 items along axis 0 of f32[2], found the end of the text"),
    ("f32[2,1] {{1}, {2}^", "'}' after 2 items along axis 0 of f32[2,1], found the end of the text"),
    ("f32[1] {1}^}", "the end of the literal, found '}'"),
    ("f32[1] {1}^;", "the end of the literal, found ';'"),
    ("f32[1] {1}\n^{1}", "the end of the literal, found '{'"),
    ("f32[1] {1} ^,", "the end of the literal, found ','"),
    ("f32 1 ^2", "the end of the literal, found '2'"),
    ("f32 ^2.0f", f"{ELEMENT}; the suffix of C is no part of it, found '2.0f'"),
    ("f32[2] {1, ^x}", f"{ELEMENT}, found 'x'"),
    ("f32 ^1/3", f"{ELEMENT}, found '1/3'"),
    ("f32 ^1_0", f"{ELEMENT}, found '1_0'"),
    ("f32 ^infinity", f"{ELEMENT}, found 'infinity'"),
    ("f32 ^\u0661", f"{ELEMENT}, found '\\u0661'"),
    ("f32 ^\u00a01", f"{ELEMENT}, found '\\xa01'"),
    ("f32 ^\x1b[31m\u202e\x00", f"{ELEMENT}, found '\\x1b[31m\\u202e\\x00'"),
    ("f32[1]{^(1, 2)}", f"{ELEMENT}, found '(1, 2)'"),
    ("f32[1]{^(1}", "an element (f32[1] has 1 level of braces), found '('"),
    ("f32 ^nan(0x0)", "a number that f32 can hold (nan(0x0) is no NaN of float: its fraction has 23 bits"),
    ("f16 ^nan(0x400)", "a number that f16 can hold (nan(0x400) is no NaN of float16: its fraction has 10"),
    ("f32 ^1e999999", "a number that f32 can hold ("),
    ("f32 ^" + "1" * 4001, f"a number of at most 4000 characters, found '{'1' * 40}...' (4001 characters)"),
    ("s8[2] {1, ^128}", "an integer from -128 to 127 (s8), found '128'"),
    ("s8[2] {1,\r\n\t^-129}", "an integer from -128 to 127 (s8), found '-129'"),
    ("u8[1] {^-1}", "an integer from 0 to 255 (u8), found '-1'"),
    ("s32[3] {1, ^1.5, 2.5}", "an integer from -2147483648 to 2147483647 (s32), found '1.5'"),
    ("s32 ^1e3", "an integer from -2147483648 to 2147483647 (s32), found '1e3'"),
    ("u64 ^0x10000000000000000", "an integer from 0 to 18446744073709551615 (u64), found '0x1000000000000"),
    ("s8 ^007", "an integer from -128 to 127 (s8), without zeros before it, found '007'"),
    ("s8 ^0b1", "an integer from -128 to 127 (s8), found '0b1'"),
    ("s64 ^" + "9" * 5000, "an integer from -9223372036854775808 to 9223372036854775807 (s64), found '9999"),
    ("pred[2] {true, ^2}", "true, false, 1 or 0, found '2'"),
    ("pred[1] {^True}", "true, false, 1 or 0, found 'True'"),
    ("c64[2] {(1, 2), ^3}", "a pair in parentheses of c64, such as (1, -0.5), found '3'"),
    ("c64[1] {^(1, 2, 3)}", f"{PAIR}, found '('"),
    ("c64[2] {(1, 2), (^y, z)}", f"{ELEMENT}, found 'y'"),
    ("c64[2] {(1, 2), ( 1,\n  ^z )}", f"{ELEMENT}, found 'z'"),
]


def place(marked: str) -> tuple[str, Position]:
    """The text without its mark, and the position of the mark."""
    before, after = marked.rsplit("^", 1)
    lines = before.split("\n")
    return before + after, Position(len(lines), len(lines[-1]) + 1, len(before))


@for_each(("marked", "message"), REFUSED)
def test_a_mistake_is_refused_with_its_place(marked: str, message: str) -> None:
    text, position = place(marked)
    with pytest.raises(LiteralError) as caught:
        parse_literal(text)
    assert caught.value.position == position
    first = str(caught.value).split("\n")[0]
    assert first.startswith(f"line {position.line}, column {position.column}: expected {message}")


def test_the_message_shows_the_line_and_a_caret_below_the_column() -> None:
    with pytest.raises(LiteralError) as caught:
        parse_literal("s8[2,2]\n{{1, 2},\r\n\t{3, 400}}\r\n ")
    assert str(caught.value) == (
        "line 3, column 6: expected an integer from -128 to 127 (s8), found '400'\n  \\t{3, 400}}\n        ^"
    )


def test_a_long_line_is_shown_around_the_column() -> None:
    with pytest.raises(LiteralError) as caught:
        parse_literal("s32[1001] {" + "1, " * 500 + "x" * 99 + ", 1" * 500 + "}")
    first, line, caret = str(caught.value).split("\n")
    assert first.endswith(f"found '{'x' * 40}...' (99 characters)")
    assert line == "  ..." + "1, " * 20 + "x" * 20 + "..."
    assert caret == " " * 65 + "^"


def test_an_error_survives_the_way_between_processes() -> None:
    with pytest.raises(LiteralError) as caught:
        parse_literal("f32 x")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.position) == (str(caught.value), Position(1, 5, 4))


@pytest.mark.parametrize("value", [b"f32 1", None, 1, ["f32 1"], np.float32(1)])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="parse_literal: needs text, got "):
        parse_literal(value)


# Hostile texts: short answers, without time or memory of the size that a text only claims.
MANY = 100_000
HOSTILE = {
    "braces": "f32[1]" + "{" * MANY,
    "axes": "f32[" + "1," * MANY + "1]" + "{" * MANY,
    "digits of a size": "f32[" + "9" * MANY + "]{}",
    "a claimed shape": "f64[2147483647]{1}",
    "claimed rows": "f64[2147483647,0]{{}}",
    "a long number": "f32 " + "1" * MANY,
    "a long hexadecimal": "f32 0x" + "1" * MANY,
    "a long integer": "s64 " + "1" * MANY,
    "a long exponent": "f64 1e" + "1" * MANY,
    "a long hexadecimal exponent": "f64 0x1p" + "1" * MANY,
    "a long fraction": "f64 nan(0x" + "1" * MANY + ")",
    "a long word": "f32 " + "\x00" * MANY,
    "a long type": "\u202e" * MANY,
    "parentheses": "c64[2]{" + "(1 " * MANY,
    "blanks in a pair": "c64[2]{(" + " " * MANY + "1" + " " * MANY,
    "digits before a letter": "f32[20]{" + ",".join(["1" * 1900 + "g"] * 20) + "}",
    "lone surrogates": "f32 " + "\ud800" * MANY,
}


@for_each("name", HOSTILE)
def test_a_hostile_text_gets_a_short_answer(name: str) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_literal(HOSTILE[name])
    message = str(caught.value)
    assert len(message) < 2000
    assert message.isascii()
    assert all(line.isprintable() for line in message.split("\n"))


def test_leading_zeros_and_long_exact_numbers_are_read() -> None:
    assert sonnx.same_bits(parse_literal("f32[" + "0" * 5000 + "1]{1}"), np.array([1], np.float32))
    assert sonnx.same_bits(parse_literal("s8 0x" + "0" * 5000 + "1"), np.int8(1))
    assert sonnx.same_bits(parse_literal("f32 1." + "0" * 3900 + "1"), np.float32(1))
    # Too many digits for the quick way, and above a tie by the last of them only.
    assert bits(parse_literal("f16 1.00048828125" + "0" * 3900 + "1")) == 0x3C01


VALID = (
    "f32[2,3] {{1, -2.5e3, 0x1.8p+3},\n {nan(0x7), -inf, 6}}",
    "c64[2] {(1, -0.5), (nan, 2)}",
    "s8[2x2] {{1, -128}, {0x7f, 5},}",
    "pred[3]{true, false, 1}",
    "bf16 0.1",
)
PIECES = (
    "{",
    "}",
    ",",
    "(",
    ")",
    "[",
    "]",
    "x",
    " ",
    "\n",
    "\x00",
    "nan",
    "0x",
    "e",
    "-",
    "9" * 50,
    "é",
    "f32",
)


def refusal(text: str) -> LiteralError | None:
    """The error with which a text is refused; nothing else may be raised."""
    try:
        parse_literal(text)
    except LiteralError as error:
        return error
    return None


@settings(deadline=None, max_examples=examples(600))
@given(st.sampled_from(VALID), st.integers(0, 2**32))
def test_a_damaged_literal_is_read_or_refused(text: str, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 1, 1, 5)))
        text = text[:start] + chance.choice(("", "", *PIECES)) + text[end:]
    error = refusal(text)
    if error is None:
        array = parse_literal(text)
        assert sonnx.same_bits(parse_literal(format_literal(array)), array)
    else:
        assert 0 <= error.position.offset <= len(text)
        assert place(f"{text[: error.position.offset]}^")[1] == error.position


@settings(deadline=None, max_examples=examples(300))
@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for whole in (text, f"f32 {text}", f"c64[1]{{{text}}}", f"s32[{text}"):
        error = refusal(whole)
        assert error is None or 0 <= error.position.offset <= len(whole)
