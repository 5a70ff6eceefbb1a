"""The XLA convolutions: equal to loops by index formulas and to the ONNX Conv, bit for bit."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.operators import n_loops as definition
from tests.operators.n_loops import BFLOAT16, n_loops, narrowed, wrapped
from tests.operators.seven_loops import FORMS, STEPS, Accumulation, exactly, rounded, separate, seven_loops
from tests.operators.support import LAYOUTS, Array, bits
from tests.operators.xla_support import FLOATS, INTEGERS, SUMMED, held, ones, random_bits, same_numbers

import sonnx
from sonnx import xla
from sonnx.numeric.arrays import describe
from sonnx.operators.catalogue import operator
from sonnx.vocabulary.call import Call

pytestmark = pytest.mark.measured

Mode = Literal["separate", "fused"]
MODES: list[Mode] = ["separate", "fused"]
Geometry = dict[str, Any]
FORMATS = {"f16": FORMS["float16"], "bf16": BFLOAT16, "f32": FORMS["float32"], "f64": FORMS["float64"]}


def plain(n: int, **changes: Any) -> Geometry:
    """The attributes that pad nothing, step by 1 and dilate nothing."""
    ones = (1,) * n
    given: Geometry = {
        "window_strides": ones,
        "padding": ((0, 0),) * n,
        "lhs_dilation": ones,
        "rhs_dilation": ones,
    }
    return given | changes


@st.composite
def geometries(draw: st.DrawFn, n: int) -> tuple[tuple[int, ...], tuple[int, ...], Geometry]:
    """Shapes of lhs and rhs with every attribute; mostly the window fits, at times nothing is left."""
    most, anything = (2 if n == 3 else 3), draw(st.integers(0, 3)) == 0

    def each(low: int, high: int) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(low, high)] * n))

    batch, features, outputs = draw(st.tuples(*[st.integers(0 if anything else 1, 2)] * 3))
    base, window = each(0, most), each(1, most)
    padding = tuple(zip(each(-most - 1, most), each(-most - 1, most), strict=True))
    spread, taps = each(1, most), each(1, most)
    if not anything:
        sizes = zip(base, window, padding, spread, taps, strict=True)
        base = tuple(size + _least(k, low + high, d, t) for size, k, (low, high), d, t in sizes)
    attributes = {
        "window_strides": each(1, 3),
        "padding": padding,
        "lhs_dilation": spread,
        "rhs_dilation": taps,
    }
    return (batch, features, *base), (outputs, features, *window), attributes


def _least(window: int, ends: int, spread: int, taps: int) -> int:
    """The smallest base area on which a window fits."""
    return next(size for size in range(1, 99) if (size - 1) * spread + ends >= taps * (window - 1))


@st.composite
def elements(draw: st.DrawFn, name: str, shape: tuple[int, ...]) -> Array:
    """Numbers whose sums round at every step (on integers: wrap), or arbitrary bits and special values."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if name == "real":
        tops, bottoms = random.integers(-99, 99, shape), random.integers(1, 12, shape)
        flat = [Fraction(int(a), int(b)) for a, b in zip(tops.flat, bottoms.flat, strict=True)]
        return sonnx.real(np.array(flat, object)).reshape(shape)
    if name in FLOATS and draw(st.integers(0, 3)):
        numbers = np.ldexp(random.uniform(1, 2, shape) * random.choice([-1, 1], shape), 1)
        return np.asarray(np.ldexp(numbers, random.integers(-2, 2, shape)).astype(held(name)))
    return random_bits(random, name, shape)


def loops(X: Array, W: Array, step: Accumulation, geometry: Mapping[str, Any]) -> Array:
    """The independent definition; what its scalars signal (overflow, NaN) is part of IEEE arithmetic."""
    with np.errstate(all="ignore"):
        return n_loops(X, W, step, **geometry)


def step_of(name: str, mode: Mode) -> Accumulation:
    return STEPS[mode] if name in FLOATS else exactly


BOTH = [(name, mode) for name in FLOATS for mode in MODES]
ALL = [*BOTH, *((name, "separate") for name in ["real", *INTEGERS])]


@pytest.mark.no_cover
@for_each("n", range(4))
@for_each(("name", "mode"), ALL)
@settings(deadline=None, max_examples=examples(14))
@given(data=st.data())
def test_conv_with_general_padding_equals_n_loops_bit_for_bit(
    name: str, mode: Mode, n: int, data: st.DataObject
) -> None:
    """D-XLA-5."""
    lhs, rhs, geometry = data.draw(geometries(n))
    X, W = data.draw(elements(name, lhs)), data.draw(elements(name, rhs))
    before = bits(X), bits(W)
    result = xla.conv_with_general_padding(X, W, **geometry, accumulate=mode)
    assert same_numbers(result, loops(X, W, step_of(name, mode), geometry))
    assert (bits(X), bits(W)) == before
    assert isinstance(result, sonnx.RealArray) == (name == "real")


@pytest.mark.no_cover
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f16", "f32", "f64", "real"])
@settings(deadline=None, max_examples=examples(20))
@given(data=st.data())
def test_the_onnx_conv_the_xla_conv_and_seven_loops_are_three_views_of_one(
    name: str, mode: Mode, data: st.DataObject
) -> None:
    """D-CONV-1, D-CONV-6, D-XLA-5, where all are defined: two axes, no bias, one group, padding."""
    lhs, rhs, geometry = data.draw(geometries(2))
    strides, taps = geometry["window_strides"], geometry["rhs_dilation"]
    pads = tuple(max(end, 0) for pair in zip(*geometry["padding"], strict=True) for end in pair)
    # The kernel fits: ONNX has no empty result.
    base = [
        max(size, d * (k - 1) + 1 - a - b, 1)
        for size, k, d, a, b in zip(lhs[2:], rhs[2:], taps, pads[:2], pads[2:], strict=True)
    ]
    X, W = data.draw(elements(name, (*lhs[:2], *base))), data.draw(elements(name, rhs))
    onnx = {"strides": strides, "pads": pads, "dilations": taps, "group": 1}
    pairs = ((pads[0], pads[2]), (pads[1], pads[3]))
    one = sonnx.conv(X, W, **onnx, kernel_shape=rhs[2:], accumulate=mode)
    other = xla.conv_with_general_padding(X, W, strides, pairs, (1, 1), taps, accumulate=mode)
    with np.errstate(all="ignore"):
        third = seven_loops(X, W, None, step_of(name, mode), **onnx)
    assert same_numbers(one, third)
    assert same_numbers(other, third)
    assert same_numbers(
        loops(
            X,
            W,
            step_of(name, mode),
            plain(2, padding=pairs) | {"window_strides": strides, "rhs_dilation": taps},
        ),
        third,
    )


def by_hand(numbers: list[int], window: list[int], **changes: Any) -> list[int]:
    X, W = (np.array(each, np.int32).reshape(1, 1, -1) for each in (numbers, window))
    flat: list[int] = xla.conv_with_general_padding(X, W, **plain(1, **changes)).reshape(-1).tolist()
    return flat


def test_padding_dilations_and_strides_by_hand() -> None:
    """D-XLA-5: dilate the base area first, then pad, then slide."""
    X = [1, 2, 3]
    assert by_hand(X, [1], padding=((2, 1),)) == [0, 0, 1, 2, 3, 0]
    assert by_hand(X, [1], padding=((-1, 0),)) == [2, 3]
    assert by_hand(X, [1], padding=((0, -1),)) == [1, 2]
    assert by_hand(X, [1], lhs_dilation=(3,)) == [1, 0, 0, 2, 0, 0, 3]
    # Padding counts elements of the dilated area: taking 2 away leaves a zero at the front.
    assert by_hand(X, [1], lhs_dilation=(3,), padding=((-2, 1),)) == [0, 2, 0, 0, 3, 0]
    assert by_hand(X, [1], lhs_dilation=(3,), padding=((-2, -4),)) == [0]
    assert by_hand(X, [1], padding=((-4, 4),)) == [0, 0, 0]
    assert by_hand(X, [1], padding=((4, -5),)) == [0, 0]
    assert by_hand(X, [1], padding=((-2, -1),)) == []
    assert by_hand(X, [1], padding=((-7, -7),)) == []
    # 0 0 1 2 3 0 0 under taps 2 apart: 10·1 + 100·3, 10·2, 1·1 + 10·3
    assert by_hand(X, [1, 10, 100], rhs_dilation=(2,), padding=((2, 2),)) == [310, 20, 31]
    assert by_hand(X, [1, 10], window_strides=(2,), padding=((1, 0),)) == [10, 32]
    assert by_hand(X, [1, 10, 100, 1000]) == []
    assert by_hand([], [1], padding=((1, 1),), lhs_dilation=(4,)) == [0, 0]


def test_without_spatial_dimensions_it_is_a_product_of_matrices() -> None:
    """D-XLA-5: n = 0 is allowed."""
    X, W = np.array([[1, 2], [3, 4], [5, 6]], np.int64), np.array([[1, 10]], np.int64)
    assert xla.conv_with_general_padding(X, W, **plain(0)).tolist() == [[21], [43], [65]]
    assert xla.conv(X, W, (), "SAME").tolist() == [[21], [43], [65]]


def test_the_window_is_not_turned_over_and_features_have_their_slices() -> None:
    X = np.array([[[1, 2, 3], [10, 20, 30]]], np.int16)
    W = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], np.int16)
    # Y[0] = x0[p] + x1[p+1]; Y[1] = x0[p+1] + x1[p]
    assert xla.conv_with_general_padding(X, W, **plain(1)).tolist() == [[[21, 32], [12, 23]]]


@pytest.mark.parametrize("name", SUMMED)
def test_an_empty_sum_is_zero_and_an_empty_batch_is_empty(name: str) -> None:
    """D-XLA-5."""
    nothing = xla.conv_with_general_padding(ones(name, 2, 0, 3), ones(name, 1, 0, 2), **plain(1))
    zero = sonnx.real(np.zeros((2, 1, 2))) if name == "real" else np.zeros((2, 1, 2), held(name))
    assert bits(nothing) == bits(zero)
    for lhs, rhs, expected in [
        ((0, 1, 3), (1, 1, 2), (0, 1, 2)),
        ((2, 1, 3), (0, 1, 2), (2, 0, 2)),
        ((2, 1, 0), (1, 1, 2), (2, 1, 0)),
        ((2, 1, 1), (1, 1, 5), (2, 1, 0)),
        ((0, 0), (0, 0), (0, 0)),
    ]:
        empty = xla.conv_with_general_padding(ones(name, *lhs), ones(name, *rhs), **plain(len(lhs) - 2))
        assert empty.shape == expected
        assert describe(empty)[0].dtype == describe(zero)[0].dtype


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_inserted_zeros_take_part_in_the_sum(name: str, mode: Mode) -> None:
    """D-XLA-5: 0·inf is NaN under the padding and between dilated elements; the zero is the positive one."""
    X, W = np.array([[[2, 3]]], held(name)), np.array([[[np.inf]]], held(name))
    padded = xla.conv_with_general_padding(X, W, (1,), ((1, 0),), (1,), (1,), accumulate=mode)
    assert np.isnan(padded).reshape(-1).tolist() == [True, False, False]
    holes = xla.conv_with_general_padding(X, W, (1,), ((0, 0),), (2,), (1,), accumulate=mode)
    assert np.isnan(holes).reshape(-1).tolist() == [False, True, False]
    # The sum starts from +0, so a product -0 gives +0.
    negative = np.array([[[-1]]], held(name))
    corner = xla.conv_with_general_padding(X * 0, negative, (1,), ((1, 1),), (1,), (1,), accumulate=mode)
    assert bits(corner) == bits(np.zeros((1, 1, 4), held(name)))


def test_bfloat16_accumulates_in_float_and_is_rounded_once() -> None:
    """D-XLA-5: 256 + 1 + 1 is 258; sums in bfloat16 would stay at 256."""
    bf16 = ml_dtypes.bfloat16
    X, W = np.array([[[256, 1, 1]]], bf16), np.ones((1, 1, 3), bf16)
    for mode in MODES:
        assert xla.conv(X, W, (1,), "VALID", accumulate=mode).astype(float).item() == 258.0
    # Floats from 2^24 on are 2 apart: a double accumulator would give back the 1.
    lost = np.array([[[2.0**24, 1, -(2.0**24)]]], bf16)
    for mode in MODES:
        assert xla.conv(lost, W, (1,), "VALID", accumulate=mode).astype(float).item() == 0.0


def test_a_subnormal_product_of_bfloat16_is_rounded_itself_unless_fused() -> None:
    """D-XLA-5: in units of 2^-149 the terms are 98304, -1 and 1/2, and 98304 lies halfway for bfloat16."""
    x = np.array([[[1.5 * 2.0**-100, -(2.0**-75), 2.0**-75]]], ml_dtypes.bfloat16)
    w = np.array([[[2.0**-33, 2.0**-74, 2.0**-75]]], ml_dtypes.bfloat16)
    # separate: the half is rounded to 0, and 98303 is rounded down; fused: 98303.5 is rounded to even first.
    results = [xla.conv(x, w, (1,), "VALID", accumulate=mode).astype(float).item() for mode in MODES]
    assert results == [2.0**-133, 2.0**-132]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap_modulo_a_power_of_two(name: str) -> None:
    """D-XLA-5."""
    info = np.iinfo(held(name))
    low, high = int(info.min), int(info.max)
    X = np.array([[[high, 1]]], held(name))
    assert xla.conv(X, np.ones((1, 1, 2), held(name)), (1,), "VALID").item() == low
    twice = xla.conv(X, np.full((1, 1, 1), 2, held(name)), (1,), "VALID")
    assert twice.reshape(-1).tolist() == [wrapped(2 * high, held(name)), 2]
    squared = xla.conv(X, X, (1,), "VALID").item()
    assert squared == 2  # (2^m - 1)² + 1 is 2 modulo 2^m, and modulo 2^(m+1)


SAME_CASES = [
    # size, window, stride, (low, high): ceil(size / stride) positions, the odd zero at the high end
    (5, 3, 1, (1, 1)),
    (5, 2, 1, (0, 1)),
    (6, 3, 2, (0, 1)),
    (7, 3, 2, (1, 1)),
    (7, 4, 3, (1, 2)),
    (8, 1, 4, (0, 0)),
    (5, 2, 3, (0, 0)),
    (1, 6, 1, (2, 3)),
    (2, 5, 7, (1, 2)),
    (0, 3, 1, (1, 1)),
]


@pytest.mark.parametrize(("size", "window", "stride", "ends"), SAME_CASES)
def test_same_puts_the_odd_zero_at_the_high_end(
    size: int, window: int, stride: int, ends: tuple[int, int]
) -> None:
    """D-XLA-4."""
    X = np.arange(1, size + 1, dtype=np.int64).reshape(1, 1, -1)
    W = 10 ** np.arange(window, dtype=np.int64).reshape(1, 1, -1)
    result = xla.conv(X, W, (stride,), "SAME")
    assert result.shape == (1, 1, -(-size // stride))
    general = xla.conv_with_general_padding(X, W, **plain(1, window_strides=(stride,), padding=(ends,)))
    assert bits(result) == bits(general)


@pytest.mark.parametrize("mode", MODES)
@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), n=st.integers(0, 3), name=st.sampled_from(SUMMED))
def test_same_and_valid_stand_for_paddings_in_numbers(
    mode: Mode, n: int, name: str, data: st.DataObject
) -> None:
    """D-XLA-4: as many positions as ceil(in / stride), as few zeros as that takes, low = total // 2."""
    lhs, rhs, geometry = data.draw(geometries(n))
    X, W = data.draw(elements(name, lhs)), data.draw(elements(name, rhs))
    strides = geometry["window_strides"]
    ends = []
    for size, taps, stride in zip(lhs[2:], rhs[2:], strides, strict=True):
        wanted = -(-size // stride)
        # Found by trial, not by a formula; without positions no zero is of consequence.
        total = next(t for t in range(9) if definition.placements(size + t, taps, stride, 1) >= wanted)
        ends.append((total // 2, total - total // 2))
    same = xla.conv(X, W, strides, "SAME", accumulate=mode)
    assert same.shape[2:] == tuple(-(-a // s) for a, s in zip(lhs[2:], strides, strict=True))
    expected = plain(n, window_strides=strides, padding=tuple(ends))
    if 0 not in same.shape:
        assert same_numbers(same, loops(X, W, step_of(name, mode), expected))
        assert same_numbers(same, xla.conv_with_general_padding(X, W, **expected, accumulate=mode))
    valid = xla.conv(X, W, strides, "VALID", accumulate=mode)
    assert same_numbers(valid, loops(X, W, step_of(name, mode), plain(n, window_strides=strides)))


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), n=st.integers(0, 3), name=st.sampled_from(SUMMED))
def test_the_shape_rule_of_the_convolutions_tells_type_and_shape_without_data(
    n: int, name: str, data: st.DataObject
) -> None:
    """D-XLA-4, D-XLA-5."""
    lhs, rhs, geometry = data.draw(geometries(n))
    X, W = ones(name, *lhs), ones(name, *rhs)
    kinds = {"lhs": describe(X)[0], "rhs": describe(W)[0]}
    general = operator("xla.ConvWithGeneralPadding").contract.output_types(Call("", kinds, geometry))
    assert general["output"] == describe(xla.conv_with_general_padding(X, W, **geometry))[0]
    for padding in ("SAME", "VALID"):
        given = {"window_strides": geometry["window_strides"], "padding": padding}
        short = operator("xla.Conv").contract.output_types(Call("", kinds, given))
        assert short["output"] == describe(xla.conv(X, W, **given))[0]


@for_each("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@for_each("name", [name for name in SUMMED if name != "real"])
def test_elements_are_found_however_they_lie_in_memory(name: str, layout: Any) -> None:
    X = layout(np.arange(6).astype(held(name)).reshape(1, 2, 3))
    W = layout(np.array([[[1, 2], [3, 4]]]).astype(held(name)))
    for mode in MODES:
        result = xla.conv(X, W, (1,), "VALID", accumulate=mode)
        assert result.astype(float).tolist() == [[[27.0, 37.0]]]


def test_the_convolutions_do_not_care_for_the_error_state_of_numpy() -> None:
    for name in FLOATS:
        X = random_bits(np.random.default_rng(3), name, (1, 1, 40))
        for mode in MODES:
            with np.errstate(all="raise"):
                assert xla.conv(X, X[..., :9], (1,), "SAME", accumulate=mode).shape == (1, 1, 40)


def test_numbers_of_numpy_serve_as_attributes() -> None:
    X, W = np.ones((1, 1, 4), np.float32), np.ones((1, 1, 2), np.float32)
    given: Any = {
        "window_strides": np.array([2]),
        "padding": [[np.int64(1), np.int8(0)]],
        "lhs_dilation": [np.uint8(1)],
        "rhs_dilation": (1,),
    }
    assert xla.conv_with_general_padding(X, W, **given).tolist() == [[[1.0, 2.0]]]


def sums(X: Array, W: Array, order: list[int], kind: Any) -> Any:
    total = kind(0)
    for k in order:
        total = kind(total + kind(kind(X[k]) * kind(W[k])))
    return total


def test_the_comparison_with_n_loops_catches_every_other_sum() -> None:
    """D-XLA-5: the order, the accumulator's type, the rounding at the end."""
    random = np.random.default_rng(61)
    caught: set[str] = set()
    bf16 = ml_dtypes.bfloat16
    straight = list(range(8))
    orders = {
        "backwards": straight[::-1],
        "columns before lines": [0, 2, 1, 3, 4, 6, 5, 7],
        "features innermost": [0, 4, 1, 5, 2, 6, 3, 7],
    }
    for _ in range(60):
        X, W = (random.standard_normal((1, 2, 2, 2)).astype(np.float32) for _ in range(2))
        right = loops(X, W, separate, plain(2)).item()
        x, w = X.reshape(-1), W.reshape(-1)
        caught |= {name for name, order in orders.items() if sums(x, w, order, np.float32) != right}
        caught |= {"double accumulator"} if np.float32(sums(x, w, straight, np.float64)) != right else set()
        assert sums(x, w, straight, np.float32) == right
        narrow = loops(X.astype(bf16), W.astype(bf16), separate, plain(2)).item()
        x, w = X.astype(bf16).reshape(-1), W.astype(bf16).reshape(-1)
        caught |= {"bfloat16 accumulator"} if sums(x, w, straight, bf16) != narrow else set()
    assert caught == {*orders, "double accumulator", "bfloat16 accumulator"}


MUTANTS: dict[str, Geometry] = {
    "ends swapped": plain(1, padding=((0, 2),)),
    "padding before dilation": plain(1, padding=((4, 0),), lhs_dilation=(2,)),
    "dilation off by one": plain(1, padding=((2, 0),), lhs_dilation=(3,)),
    "window not dilated": plain(1, padding=((2, 0),), lhs_dilation=(2,)),
    "stride ignored": plain(1, padding=((2, 0),), lhs_dilation=(2,), rhs_dilation=(2,)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_with_n_loops_catches_other_geometries(mutant: str) -> None:
    X, W = np.arange(1, 5, dtype=np.int32).reshape(1, 1, 4), np.array([[[1, 10]]], np.int32)
    right = plain(1, padding=((2, 0),), lhs_dilation=(2,), rhs_dilation=(2,), window_strides=(2,))
    expected = loops(X, W, exactly, right)
    assert same_numbers(xla.conv_with_general_padding(X, W, **right), expected)
    assert not same_numbers(loops(X, W, exactly, MUTANTS[mutant]), expected)


def test_skipping_the_zeros_is_caught() -> None:
    X, W = np.ones((1, 1, 1), np.float32), np.array([[[np.inf, 1]]], np.float32)
    expected = loops(X, W, separate, plain(1, padding=((1, 0),)))
    assert not same_numbers(np.array([[[1.0]]], np.float32), expected)
    assert np.isnan(expected).all()


def test_the_rounding_of_these_tests_to_bfloat16_is_that_of_ieee_754() -> None:
    """By hand: a bfloat16 is the upper half of a float, so the lower half decides."""
    random = np.random.default_rng(16)
    words = random.integers(0, 2**32, 4000, np.uint32, endpoint=False)
    halves = (words & np.uint32(0xFFFF0000)) | random.choice([0, 0x7FFF, 0x8000, 0x8001], 4000).astype(
        np.uint32
    )
    for word in (*words.tolist(), *halves.tolist(), 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x80000001, 0x8000):
        value = np.uint32(word).view(np.float32)
        upper, lower = word >> 16, word & 0xFFFF
        expected = upper + (lower > 0x8000 or (lower == 0x8000 and upper % 2 == 1))
        if np.isnan(value):
            assert narrowed(value) & 0x7FFF > 0x7F80
        else:
            assert narrowed(value) == expected
    assert rounded(Fraction(2) ** -134, BFLOAT16) == 0.0


def test_the_wrapping_of_these_tests_is_modulo_a_power_of_two() -> None:
    assert [wrapped(n, np.dtype(np.int8)) for n in (127, 128, -128, -129, 256, 383)] == [
        127,
        -128,
        -128,
        127,
        0,
        127,
    ]
    assert [wrapped(n, np.dtype(np.uint8)) for n in (255, 256, -1)] == [255, 0, 255]
