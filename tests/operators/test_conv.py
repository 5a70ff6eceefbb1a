"""Conv: laws over the reals, and equality with seven nested loops, bit for bit, in both modes."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.operators.seven_loops import FORMS, STEPS, Accumulation, exactly, rounded, separate, seven_loops
from tests.operators.support import FLOATS, LAYOUTS, Array, arrays, bits, plain

import sonnx
from sonnx.numeric.arrays import describe
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(40))
Mode = Literal["separate", "fused"]
MODES: list[Mode] = ["separate", "fused"]
Geometry = Mapping[str, Any]


@st.composite
def geometries(draw: st.DrawFn, *, small: bool = False) -> tuple[dict[str, tuple[int, ...]], Geometry]:
    """Shapes of X, W and B that fit, with strides and dilations from 1 to 3 and pads of any kind."""
    depthwise = draw(st.booleans())
    channels = draw(st.integers(1, 2 if small else 3))
    outputs = channels if depthwise else draw(st.integers(1, 2))
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3 if not small else 2)))
    strides, dilations = (draw(st.tuples(st.integers(1, 3), st.integers(1, 3))) for _ in range(2))
    pads = draw(st.tuples(*[st.integers(0, 2)] * 4))
    sizes = []
    for axis in range(2):
        extent = dilations[axis] * (kernel[axis] - 1) + 1
        least = max(extent - pads[axis] - pads[axis + 2], 1)
        sizes.append(draw(st.integers(least, least + 3)))
    batch = draw(st.sampled_from([1, 1, 2, 0]))
    shapes = {
        "X": (batch, channels, *sizes),
        "W": (outputs, 1 if depthwise else channels, *kernel),
        "B": (outputs,),
    }
    group = channels if depthwise else 1
    return shapes, {
        "strides": strides,
        "pads": pads,
        "dilations": dilations,
        "group": group,
        "kernel_shape": kernel,
    }


def loops(X: Array, W: Array, B: Array | None, step: Accumulation, geometry: Geometry) -> Array:
    """The independent definition; what its scalars signal (overflow, NaN) is part of IEEE arithmetic."""
    without = {name: value for name, value in geometry.items() if name != "kernel_shape"}
    with np.errstate(all="ignore"):
        return seven_loops(X, W, B, step, **without)


def same_numbers(left: Array, right: Array) -> bool:
    """Tell whether two arrays have the same bits, where every NaN is as good as another (D-ALL-4)."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    nans = np.isnan(left) & np.isnan(right)
    return bits(np.where(nans, left.dtype.type(0), left)) == bits(np.where(nans, left.dtype.type(0), right))


@st.composite
def ordinary(draw: st.DrawFn, name: str, shape: tuple[int, ...]) -> Array:
    """Numbers whose sums round at every step: all bits of the significand, exponents close together."""
    held = FLOATS[name]
    width = held.itemsize
    count = int(np.prod(shape, dtype=np.int64))
    raw = np.frombuffer(draw(st.binary(min_size=count * width, max_size=count * width)), f"u{width}")
    precision, _, emax = FORMS[held.name]
    fraction = raw & np.array(2 ** (precision - 1) - 1, raw.dtype)
    exponent = np.array(emax - 2, raw.dtype) + (
        raw >> np.array(8 * width - 3, raw.dtype) & np.array(3, raw.dtype)
    )
    sign = raw & np.array(2 ** (8 * width - 1), raw.dtype)
    words: Array = sign | exponent << np.array(precision - 1, raw.dtype) | fraction
    return words.view(held).reshape(shape)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
@settings(deadline=None, max_examples=examples(25))
@given(data=st.data())
def test_conv_equals_seven_loops_bit_for_bit(name: str, mode: Mode, data: st.DataObject) -> None:
    """D-CONV-1, D-CONV-2, D-CONV-3, D-CONV-5, D-CONV-6."""
    shapes, geometry = data.draw(geometries(small=mode == "fused"))
    kind = data.draw(st.sampled_from([ordinary, ordinary, arrays]))
    X, W, B = (data.draw(kind(name, shapes[operand])) for operand in "XWB")
    bias = data.draw(st.sampled_from([B, None]))
    before = bits(X), bits(W), bits(B)
    result = sonnx.conv(X, W, bias, **geometry, accumulate=mode)
    native = [np.asarray(array, FLOATS[name]) for array in (X, W, B)]
    expected = loops(native[0], native[1], None if bias is None else native[2], STEPS[mode], geometry)
    assert same_numbers(result, expected)
    assert (bits(X), bits(W), bits(B)) == before


def small_fractions(shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    count = int(np.prod(shape, dtype=np.int64))
    numbers = st.fractions(-9, 9, max_denominator=12)
    return st.lists(numbers, min_size=count, max_size=count).map(lambda flat: sonnx.real(flat).reshape(shape))


@settings(deadline=None, max_examples=examples(15))
@given(data=st.data())
def test_conv_over_the_reals_equals_seven_loops_exactly(data: st.DataObject) -> None:
    shapes, geometry = data.draw(geometries(small=True))
    X, W, B = (data.draw(small_fractions(shapes[operand])) for operand in "XWB")
    result = sonnx.conv(X, W, B, **geometry)
    assert isinstance(result, sonnx.RealArray)
    assert bits(result) == bits(loops(X, W, B, exactly, geometry))
    # The accumulation mode says how to round; over the reals nothing is rounded.
    assert bits(sonnx.conv(X, W, B, **geometry, accumulate="fused")) == bits(result)


@settings(deadline=None, max_examples=examples(20))
@given(data=st.data())
def test_conv_is_additive_in_image_kernel_and_bias_over_the_reals(data: st.DataObject) -> None:
    shapes, geometry = data.draw(geometries(small=True))
    (X, X2), (W, W2), (B, B2) = ([data.draw(small_fractions(shapes[o])) for _ in range(2)] for o in "XWB")
    assert bits(sonnx.conv(X + X2, W, B, **geometry)) == bits(
        sonnx.conv(X, W, B, **geometry) + sonnx.conv(X2, W, **geometry)
    )
    assert bits(sonnx.conv(X, W + W2, B, **geometry)) == bits(
        sonnx.conv(X, W, B, **geometry) + sonnx.conv(X, W2, **geometry)
    )
    assert bits(sonnx.conv(X, W, B + B2, **geometry)) == bits(
        sonnx.conv(X, W, B, **geometry) + sonnx.conv(0 * X, W, B2, **geometry)
    )


@pytest.mark.parametrize("mode", MODES)
@LAWS
@given(data=st.data())
def test_items_of_a_batch_do_not_see_each_other(mode: Mode, data: st.DataObject) -> None:
    shapes, geometry = data.draw(geometries())
    shapes["X"] = (3, *shapes["X"][1:])
    X, W, B = (data.draw(arrays("float", shapes[operand])) for operand in "XWB")
    whole = sonnx.conv(X, W, B, **geometry, accumulate=mode)
    for item in range(3):
        alone = sonnx.conv(X[item : item + 1], W, B, **geometry, accumulate=mode)
        assert same_numbers(whole[item : item + 1], alone)


@LAWS
@given(data=st.data(), name=st.sampled_from([*FLOATS, "real"]))
def test_the_shape_rule_of_conv_tells_type_and_shape_without_data(data: st.DataObject, name: str) -> None:
    """D-CONV-1."""
    shapes, geometry = data.draw(geometries())
    tensors = {operand: np.zeros(shapes[operand], FLOATS.get(name, np.float64)) for operand in "XWB"}
    operands = {operand: sonnx.real(t) if name == "real" else t for operand, t in tensors.items()}
    kinds = {operand: describe(tensor)[0] for operand, tensor in operands.items()}
    foretold = CONV.contract.output_types(Call("Conv", kinds, geometry))["Y"]
    assert foretold == describe(sonnx.conv(*operands.values(), **geometry))[0]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_conv_looks_at_elements_however_they_lie_in_memory(mode: Mode, layout: Any) -> None:
    X = layout(np.arange(9, dtype=np.float64).reshape(1, 1, 3, 3))
    W = layout(np.array([[[[1, 10], [100, 1000]]]], np.float64))
    result = sonnx.conv(X, W, layout(np.array([0.5])), **plain((2, 2)), accumulate=mode)
    assert result.tolist() == [[[[4310.5, 5421.5], [7643.5, 8754.5]]]]


def test_an_empty_batch_gives_an_empty_result_of_the_right_shape() -> None:
    X, W = np.zeros((0, 2, 5, 5), np.float16), np.zeros((3, 2, 2, 2), np.float16)
    assert sonnx.conv(X, W, **plain((2, 2))).shape == (0, 3, 4, 4)
    assert sonnx.conv(sonnx.real(X), sonnx.real(W), **plain((2, 2))).shape == (0, 3, 4, 4)


def test_without_channels_only_the_bias_is_left() -> None:
    X, W = np.zeros((1, 0, 2, 2), np.float32), np.zeros((2, 0, 1, 1), np.float32)
    assert sonnx.conv(X, W, np.array([1.5, -0.0], np.float32), **plain()).tolist() == [
        [[[1.5] * 2] * 2, [[-0.0] * 2] * 2]
    ]
    assert sonnx.conv(sonnx.real(X), sonnx.real(W), **plain()).tolist() == [[[[0, 0], [0, 0]]] * 2]


def test_conv_does_not_care_for_the_error_state_of_numpy() -> None:
    for dtype in FLOATS.values():
        X = np.array([np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype).reshape(1, 1, 2, 2)
        for mode in MODES:
            with np.errstate(all="raise"):
                assert sonnx.conv(X, X, **plain((2, 2)), accumulate=mode).shape == (1, 1, 1, 1)


def test_the_mode_decides_the_last_bits() -> None:
    """D-CONV-6: (1+2^-12)^2 - 1 is 2^-11 + 2^-24 exactly; the rounded product has lost the last term."""
    x = np.full((1, 1, 1, 1), 1 + 2.0**-12, np.float32)
    bias = np.array([-1], np.float32)
    assert sonnx.conv(x, x, bias, **plain()).item() == 2.0**-11
    assert sonnx.conv(x, x, bias, **plain(), accumulate="fused").item() == 2.0**-11 + 2.0**-24


def taps(X: Array, W: Array, order: list[int], *, bias: float = 0.0) -> np.float32:
    total = np.float32(bias)
    for k in order:
        total = total + X[k] * W[k]
    return total


def wrong_orders(X: Array, W: Array, B: Array) -> dict[str, float]:
    """What a 2x2 kernel over 2 channels gives where the sum is taken in some other way."""
    x, w, straight = X.reshape(-1), W.reshape(-1), list(range(8))
    columns_first = [0, 2, 1, 3, 4, 6, 5, 7]
    channels_last = [0, 4, 1, 5, 2, 6, 3, 7]
    return {
        "backwards": taps(x, w, straight[::-1], bias=B[0]),
        "columns before lines": taps(x, w, columns_first, bias=B[0]),
        "channels innermost": taps(x, w, channels_last, bias=B[0]),
        "bias at the end": taps(x, w, straight) + B[0],
        "a double accumulator": np.float32(
            float(B[0]) + sum(float(a) * float(b) for a, b in zip(x, w, strict=True))
        ),
    }


def test_the_comparison_with_seven_loops_catches_every_other_order_of_summation() -> None:
    """D-CONV-6."""
    random = np.random.default_rng(6)
    caught: set[str] = set()
    for _ in range(40):
        X, W = (random.standard_normal((1, 2, 2, 2)).astype(np.float32) for _ in range(2))
        B = random.standard_normal(1).astype(np.float32)
        expected = loops(X, W, B, separate, plain((2, 2)))
        assert same_numbers(sonnx.conv(X, W, B, **plain((2, 2))), expected)
        caught |= {name for name, value in wrong_orders(X, W, B).items() if value != expected.item()}
    assert caught == {
        "backwards",
        "columns before lines",
        "channels innermost",
        "bias at the end",
        "a double accumulator",
    }


def test_skipping_the_padding_is_caught() -> None:
    """D-CONV-5: under the padding 0·inf is NaN."""
    X, W = np.ones((1, 1, 1, 1), np.float32), np.array([[[[np.inf, 1]]]], np.float32)
    padded = plain((1, 2), pads=(0, 1, 0, 0))
    skipped = np.array([[[[1.0]]]], np.float32)
    expected = loops(X, W, None, separate, padded)
    assert not same_numbers(skipped, expected)
    assert same_numbers(sonnx.conv(X, W, **padded), expected)


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_the_rounding_of_these_tests_is_the_one_of_ieee_754(name: str) -> None:
    random = np.random.default_rng(754)
    doubles = random.integers(0, 2**64, 4000, np.uint64, endpoint=False).view(np.float64)
    near = np.ldexp(random.integers(-(2**13), 2**13, 4000) / 2, random.integers(-30, 8, 4000))
    for value in (*doubles[np.isfinite(doubles)], *near, 65519.999, 65520.0, 2.0**-25, 2.0**-25 * 1.0001):
        with np.errstate(all="ignore"):
            expected = float(np.dtype(name).type(value))
        assert rounded(Fraction(float(value)), FORMS[name]) == expected
