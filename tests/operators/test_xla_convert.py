"""ConvertElementType: which pairs of types are converted, and what the rulings say of each kind of pair.

The conversion of every value of the narrow types is compared with an independent definition elsewhere.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.support import LAYOUTS, Array, bits, broken
from tests.operators.xla_support import (
    COMPLEX,
    EVERY_TYPE,
    FLOATS,
    INTEGERS,
    SPELLED,
    array,
    held,
    nans,
    random_bits,
    refused,
    same_numbers,
    specials,
)

import sonnx
from sonnx import xla
from sonnx.numeric.arrays import describe
from sonnx.operators.catalogue import operator
from sonnx.vocabulary.call import Call

pytestmark = pytest.mark.measured

TARGETS = list(SPELLED)
PREFIX = "xla.convert_element_type"
INF, NAN = float("inf"), float("nan")
# precision and the exponents of the smallest and the largest normal number
RANGES = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def small(name: str) -> Array:
    """0, 1 and 2, which every type holds (2 is true for pred)."""
    return sonnx.real([0, 1, 2]) if name == "real" else np.array([0, 1, 2]).astype(held(name))


def converted(values: Any, source: str, target: str) -> list[Any]:
    flat = xla.convert_element_type(np.array(values, held(source)), target)
    return np.asarray(flat, object).tolist() if target == "bf16" else list(flat.tolist())


def allowed(source: str, target: str) -> bool:
    """D-XLA-3: from a complex type only to a complex type and to pred."""
    return source not in COMPLEX or target in (*COMPLEX, "pred")


@for_each("target", TARGETS)
@for_each("source", EVERY_TYPE)
def test_every_pair_of_types_is_converted_or_refused_as_ruled(source: str, target: str) -> None:
    """D-XLA-3, D-XLA-6."""
    X = small(source)
    for shape in ((3,), (3, 1), (1, 3, 1)):
        given_one = X.reshape(shape)
        if not allowed(source, target):
            assert refused(xla.convert_element_type, given_one, target) == [f"{PREFIX}.new_element_type.D2"]
            continue
        result = xla.convert_element_type(given_one, target)
        assert result.dtype == held(target)
        assert result.shape == shape
        true = "pred" in (source, target)
        assert result.astype(complex).reshape(-1).tolist() == [0, 1, 1 if true else 2]
        kinds = {"operand": describe(given_one)[0]}
        call = Call("xla.ConvertElementType", kinds, {"new_element_type": target})
        assert operator(call.operator).contract.output_types(call)["output"] == describe(result)[0]
    for empty in (X[:0], X[:1].reshape(())):
        if allowed(source, target):
            assert xla.convert_element_type(empty, target).shape == empty.shape


@pytest.mark.parametrize("target", TARGETS)
def test_strings_and_tuples_are_not_converted(target: str) -> None:
    """D-XLA-3."""
    convert = xla.convert_element_type
    assert broken(convert, np.array(["1"]), target) == [f"{PREFIX}.operand.D1"]
    assert broken(convert, "1", target) == [f"{PREFIX}.operand.D1"]
    X = np.ones(2, np.float32)
    for several in ((X, X), (X,), ()):
        assert refused(convert, several, target) == [f"{PREFIX}.operand.D1"]
    assert refused(convert, (X, X), "tuple") == [f"{PREFIX}.operand.D1", f"{PREFIX}.new_element_type.D1"]


def test_to_a_tuple_or_to_no_type_at_all_is_refused() -> None:
    """D-XLA-3."""
    for target in (
        *("tuple", "(f32, f32)", "", "float", "F32", "f8", "string", "real", "f32[2]", "f32 ", "\x1b"),
        *(None, 1, NAN, b"f32", ["f32"], ("f32", "s32"), np.float32, np.dtype(np.float32), True, 10**5000),
    ):
        found = refused(xla.convert_element_type, np.ones(2, np.float32), target)
        assert found == [f"{PREFIX}.new_element_type.D1"]


@pytest.mark.parametrize("name", EVERY_TYPE[1:])
@settings(deadline=None, max_examples=examples(8))
@given(data=st.data())
def test_to_its_own_type_every_bit_is_kept(name: str, data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = data.draw(st.sampled_from(LAYOUTS))(random_bits(random, name, (2, 3)))
    assert bits(xla.convert_element_type(X, name)) == bits(X)


def test_a_float_becomes_an_integer_by_truncation_and_saturates() -> None:
    """D-XLA-3."""
    values = [2.9, -2.9, 0.5, -0.5, -0.0, 127.9, 128.0, -128.9, -129.0, 1e30, -1e30, INF, -INF, NAN]
    signed = [2, -2, 0, 0, 0, 127, 127, -128, -128, 127, -128, 127, -128, 0]
    unsigned = [2, 0, 0, 0, 0, 127, 128, 0, 0, 255, 0, 255, 0, 0]
    assert converted(values, "f64", "s8") == signed
    assert converted(values, "f64", "u8") == unsigned
    assert converted([2.0**31, -(2.0**31), 2.0**31 - 128, -INF], "f32", "s32") == [
        *(2**31 - 1, -(2**31)),
        *(2**31 - 128, -(2**31)),
    ]
    assert converted([2.0**64, 2.0**64 - 2.0**40, -1, NAN], "f32", "u64") == [2**64 - 1, 2**64 - 2**40, 0, 0]
    assert converted([2.0**63, -(2.0**63), -(2.0**64)], "bf16", "s64") == [2**63 - 1, -(2**63), -(2**63)]


def test_integers_become_narrower_ones_by_their_low_bits() -> None:
    """D-XLA-3."""
    assert converted([0, 127, 128, 255, 256, -1, -129, 2**31 - 1], "s32", "s8") == [
        *(0, 127, -128, -1),
        *(0, -1, 127, -1),
    ]
    assert converted([-1, -128, 127], "s8", "u64") == [2**64 - 1, 2**64 - 128, 127]
    assert converted([2**64 - 1, 2**63], "u64", "s64") == [-1, -(2**63)]
    assert converted([2**32 + 5, -(2**32) + 5], "s64", "u16") == [5, 5]


def test_integers_become_floats_by_rounding_to_nearest_even() -> None:
    """D-XLA-3."""
    assert converted([2**24 + 1, 2**24 + 3, -(2**24) - 1], "s32", "f32") == [2**24, 2**24 + 4, -(2**24)]
    assert converted([2**53 + 1, 2**53 + 3, 2**63 - 1], "s64", "f64") == [2**53, 2**53 + 4, 2.0**63]
    assert converted([2**64 - 1, 2**63 + 1024, 2**63 + 1025], "u64", "f64") == [
        2.0**64,
        2.0**63,
        2.0**63 + 2048,
    ]
    assert converted([65519, 65520, 2049, 2051], "u16", "f16") == [65504.0, INF, 2048.0, 2052.0]
    assert converted([257, 259], "s16", "bf16") == [256.0, 260.0]


def test_floats_are_rounded_once() -> None:
    """D-XLA-3: by way of float, 1 + 2^-11 + 2^-30 would be a tie and give 1."""
    assert converted([1 + 2.0**-11 + 2.0**-30, 1 + 2.0**-11], "f64", "f16") == [1.0009765625, 1.0]
    assert converted([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8], "f64", "bf16") == [1.0078125, 1.0]
    assert converted([65519.99, 65520.0, -1e300], "f64", "f16") == [65504.0, INF, -INF]
    assert converted([2.0**-25, 2.0**-25 * 1.001, 2.0**-24], "f64", "f16") == [0.0, 2.0**-24, 2.0**-24]
    assert converted([1e-45, -1e-46], "f64", "f32") == [2.0**-149, 0.0]
    assert np.signbit(xla.convert_element_type(np.array([-0.0, -1e-99]), "f32")).tolist() == [True, True]


def test_anything_but_zero_is_true() -> None:
    """D-XLA-3."""
    assert converted([0, 1, -1, 256], "s16", "pred") == [False, True, True, True]
    assert converted([0.0, -0.0, NAN, INF, 5e-324, -0.25], "f64", "pred") == [False, False, *[True] * 4]
    assert converted([0, 1j, 1, complex(-0.0, -0.0), complex(0, NAN)], "c64", "pred") == [
        *(False, True, True),
        *(False, True),
    ]
    assert xla.convert_element_type(sonnx.real(["0", "1/3"]), "pred").tolist() == [False, True]
    raw = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    for target in ("s8", "u64", "f16", "bf16", "f64", "c64"):
        assert xla.convert_element_type(raw, target).astype(complex).tolist() == [0, 1, 1, 1]


def test_a_complex_number_is_converted_part_by_part() -> None:
    """D-XLA-3."""
    wide = np.array([complex(1 + 2.0**-24, -(2.0**-150)), complex(1e300, NAN)])
    narrow = xla.convert_element_type(wide, "c64")
    assert narrow[0] == 1
    assert np.signbit(narrow.imag).tolist()[0]
    assert (narrow[1].real, bool(np.isnan(narrow[1].imag))) == (INF, True)
    for source in (*FLOATS, "s8", "u64", "pred"):
        result = xla.convert_element_type(small(source), "c128")
        assert not np.signbit(result.imag).any()
        assert result.imag.tolist() == [0, 0, 0]
    assert converted([-3], "s8", "c64") == [complex(-3, 0)]


def test_a_nan_stays_a_nan_of_any_kind() -> None:
    for source in FLOATS:
        special = [x for x in specials(source) if x != x]  # noqa: PLR0124  only a NaN differs from itself
        for target in FLOATS:
            assert nans(xla.convert_element_type(array(source, (len(special),), special), target)).all()


@for_each("target", FLOATS)
@for_each("source", ["real", "pred", *INTEGERS, *FLOATS])
def test_in_the_reals_floats_stay_exact(source: str, target: str) -> None:
    """D-XLA-3 with `domain` real: a float type holds every real number."""
    X: Array
    exact: list[Any]
    if source == "real":
        X, exact = sonnx.real(["1/3", "-1e-4000", "1e4000"]), [Fraction(1, 3), Fraction("-1e-4000"), 10**4000]
    else:
        numbers = [x for x in specials(source) if source not in FLOATS or np.isfinite(float(x))]
        X = array(source, (len(numbers),), numbers)
        exact = [Fraction(bool(x)) if source == "pred" else Fraction(x.item()) for x in X]
    result = xla.convert_element_type(X, target, domain="real")
    assert isinstance(result, sonnx.RealArray)
    assert result.tolist() == exact


def test_in_the_reals_integers_and_pred_are_what_they_are() -> None:
    """D-XLA-3: truncation and low bits are part of the definition there too."""

    def convert(values: Any, target: str) -> list[Any]:
        result = xla.convert_element_type(values, target, domain="real")
        assert result.dtype == held(target)
        return list(result.tolist())

    assert convert(sonnx.real(["5/2", "-5/2", "1e30", "-1e30"]), "s8") == [2, -2, 127, -128]
    assert convert(np.array([2.5, -2.5, 300], np.float32), "s8") == [2, -2, 127]
    assert convert(np.array([300, -1], np.int32), "u8") == [44, 255]
    assert convert(sonnx.real(["0", "1e-999"]), "pred") == [False, True]
    assert convert(np.array([1.5], np.float32), "c64") == [1.5]


def test_nan_and_infinities_have_no_place_in_the_reals() -> None:
    for value in (NAN, INF, -INF):
        with pytest.raises(ValueError, match="no real number"):
            xla.convert_element_type(np.array([value], np.float32), "f64", domain="real")
        # To an integer nothing becomes a real.
        result = xla.convert_element_type(np.array([value], np.float32), "s8", domain="real")
        assert result.tolist() == [{NAN: 0, INF: 127, -INF: -128}[value]]


def nearest_real(x: Fraction, name: str) -> Fraction:
    """Round to a precision with integers alone; for numbers far from the ends of the range."""
    precision = RANGES[name][0]
    exponent = 0
    while abs(x) * Fraction(2) ** -exponent >= 2**precision:
        exponent += 1
    while abs(x) * Fraction(2) ** -exponent < 2 ** (precision - 1):
        exponent -= 1
    return round(x * Fraction(2) ** -exponent) * Fraction(2) ** exponent  # Python rounds ties to even


@pytest.mark.parametrize("target", FLOATS)
@settings(deadline=None, max_examples=examples(40))
@given(top=st.integers(-(10**6), 10**6).filter(bool), bottom=st.integers(1, 999))
def test_a_real_is_rounded_once_to_the_nearest_float(target: str, top: int, bottom: int) -> None:
    x = Fraction(top, bottom) / 64
    result = xla.convert_element_type(sonnx.real([x]), target)
    assert Fraction(float(result[0])) == nearest_real(x, target)


def test_the_result_is_the_same_in_a_computation() -> None:
    builder = xla.ComputationBuilder("to_half")
    builder.convert_element_type(builder.parameter(0, "f64[2]"), "f16")
    X = np.array([1 + 2.0**-11 + 2.0**-30, -0.0])
    assert same_numbers(builder.build().run(X), xla.convert_element_type(X, "f16"))
