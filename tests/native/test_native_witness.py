"""What kernels compute, held against sums worked out by hand and against sums in plain Python."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.native.support import Conv, functions, planned
from tests.operators.seven_loops import STEPS, rounded, seven_loops
from tests.operators.support import FLOATS

import sonnx

Array = Any
MODES = ("separate", "fused")


def run(case: Conv, dtype: str = "float", mode: Any = "separate", **arrays: Array) -> Array:
    """Y of a Conv on these arrays; a dimension of size 1 may be left to broadcasting."""
    graph, like = replace(case, constant=False, biased="B" in arrays).model(dtype)
    given = {
        name: np.ascontiguousarray(np.broadcast_to(arrays[name], array.shape).astype(array.dtype))
        for name, array in like.items()
    }
    return graph.compile(accumulate=mode)(given)["Y"]


def kernel_of(case: Conv) -> set[str]:
    return functions(planned(case.model("float")[0], width=32))


# x[i][j] = 10 i + j under these weights is x[i][j] + 2 x[i+1][j+2] + 3 x[i+2][j+1] = 60 i + 6 j + 87.
WEIGHTS = np.array([[1, 0, 0], [0, 0, 2], [0, 3, 0]], np.float32)


def ramp(height: int, width: int) -> Array:
    return (10 * np.arange(height)[:, None] + np.arange(width)).astype(np.float32)


HANDS = {
    "sums_dense": Conv((1, 1, 6, 13), 5, (3, 3)),
    "sums_dense at stride 2": Conv((1, 1, 9, 40), 5, (3, 3), (2, 2)),
    "sums_dense at stride 3": Conv((1, 1, 9, 40), 5, (3, 3), (2, 3)),
    "sums_swapped": Conv((1, 1, 4, 5), 40, (3, 3)),
    "sums_swapped at stride 2": Conv((1, 1, 5, 5), 40, (3, 3), (2, 2)),
    "sums_depthwise": Conv((1, 5, 9, 19), 5, (3, 3), depthwise=True),
    "sums_depthwise at stride 2": Conv((1, 5, 19, 39), 5, (3, 3), (2, 2), depthwise=True),
    "sums_depthwise at stride 3": Conv((1, 5, 19, 39), 5, (3, 3), (3, 3), depthwise=True),
    "sums_across": Conv((1, 21, 9, 4), 21, (3, 3), depthwise=True),
    "sums_across at stride 2": Conv((1, 21, 9, 5), 21, (3, 3), (2, 2), depthwise=True),
}


@for_each("dtype", FLOATS)
@for_each("name", HANDS)
def test_a_ramp_becomes_the_ramp_worked_out_by_hand(name: str, dtype: str) -> None:
    case = HANDS[name]
    assert name.split(maxsplit=1)[0] in kernel_of(case)
    # Channel c has the weights times c + 1 and the bias 100 c; small enough to be exact in float16.
    scale = 1 + np.arange(case.outputs)[:, None, None, None] % 2
    B = 100 * (np.arange(case.outputs) % 3)
    found = run(case, dtype, X=ramp(*case.X[2:]), W=WEIGHTS * scale, B=B)
    lines, columns = (
        np.arange(size) * stride for size, stride in zip(case.positions, case.strides, strict=True)
    )
    by_hand = scale * (60 * lines[:, None] + 6 * columns + 87)[None] + B[:, None, None, None]
    assert sonnx.same_bits(found[0], by_hand[:, 0].astype(FLOATS[dtype]))


def test_channels_and_images_are_summed_as_worked_out_by_hand() -> None:
    # Two images, two channels: 1·1 + 10·2 + bias; 3·1 + 30·2 + bias; the second kernel counts twice.
    X = np.array([[[[1]], [[10]]], [[[3]], [[30]]]], np.float32) * np.ones((2, 2, 1, 20), np.float32)
    W = np.array([[[[1]], [[2]]], [[[2]], [[4]]]], np.float32)
    found = run(Conv((2, 2, 1, 20), 2, (1, 1)), X=X, W=W, B=np.array([5, 7], np.float32))
    assert found[..., 0, 0].tolist() == [[26, 49], [68, 133]]
    assert (found == found[..., :1]).all()


@pytest.mark.parametrize(
    "case",
    [
        Conv((1, 1, 2, 2), 4, (3, 3), pads=(1, 1, 1, 1)),
        Conv((1, 4, 2, 2), 4, (3, 3), pads=(1, 1, 1, 1), depthwise=True),
        Conv((1, 1, 2, 2), 64, (3, 3), pads=(1, 1, 1, 1)),
    ],
)
def test_padding_is_zeros_and_zero_times_infinity_is_nan(case: Conv) -> None:
    # All of [[1, 2], [3, 4]] lies under every 3 x 3 window.
    X = np.array([[1, 2], [3, 4]], np.float32)
    ones = run(case, X=X, W=np.float32(1))
    assert sonnx.same_bits(ones, np.full_like(ones, 10))
    W = np.ones((3, 3), np.float32)
    W[0, 0] = np.inf  # under the padding but for the last pixel, where it meets 1 (D-CONV-5)
    found = run(case, X=X, W=W)
    assert np.isnan(found).tolist() == [[[[True, True], [True, False]]] * case.outputs]
    assert (found[..., 1, 1] == np.inf).all()


def test_dilation_and_asymmetric_pads_as_worked_out_by_hand() -> None:
    # Line 1 2 3 4 5 with 1 zero before and 3 behind; taps two apart, steps of 3: (0,2) (3,5) (0,0).
    X = np.array([1, 2, 3, 4, 5], np.float32)
    case = Conv((1, 1, 1, 5), 4, (1, 2), (1, 3), (1, 2), (0, 1, 0, 3))
    assert case.positions == (1, 3)
    found = run(case, X=X, W=np.array([10, 1], np.float32))
    assert found[0, 0, 0].tolist() == [2, 35, 0]


KERNELS = {
    "sums_dense": Conv((1, 3, 1, 17), 5, (1, 1)),
    "sums_swapped": Conv((1, 3, 1, 2), 40, (1, 1)),
    "sums_depthwise": Conv((1, 2, 3, 17), 2, (3, 1), depthwise=True),
    "sums_across": Conv((1, 20, 3, 2), 20, (3, 1), depthwise=True),
}
BIG = 2.0**24


def along_the_sum(case: Conv, values: Sequence[float]) -> Array:
    """Three values in the order of the sum: along the channels, or along the lines of a kernel."""
    return np.array(values, np.float32).reshape((1, 3, 1) if case.depthwise else (3, 1, 1))


@pytest.mark.parametrize("name", KERNELS)
def test_a_sum_begins_with_the_bias_and_keeps_its_order(name: str) -> None:
    case = KERNELS[name]
    assert name in kernel_of(case)

    def found(values: Sequence[float], bias: float, mode: str = "separate") -> set[float]:
        W = along_the_sum(case, values)
        return set(run(case, mode=mode, X=np.float32(1), W=W, B=np.float32(bias)).ravel().tolist())

    # 2^24 + 1 lies between two floats and goes to the even one, 2^24: what comes later survives (D-CONV-6).
    assert found([BIG, -BIG, 0], 1) == {0}
    assert found([BIG, -BIG, 1], 0) == {1}
    assert found([BIG, 1, -BIG], 0) == {0}
    assert found([1, BIG, -BIG], 0) == {0}
    assert found([-BIG, 0, 1], BIG) == {1}
    assert found([1, 1, -BIG], BIG) == {0}


@pytest.mark.parametrize("name", KERNELS)
def test_products_are_rounded_in_one_mode_and_not_in_the_other(name: str) -> None:
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: a float has no 2^-24 beside 1.
    case, third = KERNELS[name], 1 + 2.0**-12
    X = along_the_sum(case, [1, third, 0])
    if case.depthwise:
        X = X * np.ones((1, 1, case.X[3]), np.float32)
    W = along_the_sum(case, [-1 - 2.0**-11, third, 0])
    assert set(run(case, mode="separate", X=X, W=W).ravel().tolist()) == {0}
    assert set(run(case, mode="fused", X=X, W=W).ravel().tolist()) == {2.0**-24}


def nearest_float(number: float) -> float:
    """The nearest float of a double, by the rules of the machine."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def separate_step(total: float, x: float, w: float) -> float:
    """A double holds a product of floats exactly, and rounding a sum of floats twice changes nothing."""
    return nearest_float(total + nearest_float(x * w))


def fused_step(total: float, x: float, w: float) -> float:
    exact = Fraction(x) * Fraction(w) + Fraction(total)
    return rounded(exact, (24, -126, 127)) if exact else 0.0


@pytest.mark.parametrize(("mode", "step"), [("separate", separate_step), ("fused", fused_step)])
def test_a_long_sum_is_that_of_plain_python(mode: str, step: Callable[[float, float, float], float]) -> None:
    # 65 channels of 3 x 3: several blocks of terms.
    case = Conv((1, 65, 4, 11), 5, (3, 3))
    assert "sums_dense" in kernel_of(case)
    random = np.random.default_rng(5)
    X, W, B = (
        random.normal(0, 1, shape).astype(np.float32) for shape in (case.X, case.weights, (case.outputs,))
    )
    found = run(case, mode=mode, X=X, W=W, B=B)
    for output, line, column in ((0, 0, 0), (3, 1, 8), (4, 0, 7)):
        total = float(B[output])
        for channel in range(65):
            for i in range(3):
                for j in range(3):
                    x, w = X[0, channel, line + i, column + j], W[output, channel, i, j]
                    total = step(total, float(x), float(w))
        assert float(found[0, output, line, column]) == total


SMALL = {
    "sums_dense": Conv((1, 2, 4, 5), 3, (2, 3), (1, 2), (2, 1), (1, 0, 0, 2)),
    "sums_swapped": Conv((1, 2, 3, 3), 9, (2, 2), (2, 2), pads=(1, 1, 0, 0)),
    "sums_depthwise": Conv((1, 2, 5, 9), 2, (3, 3), pads=(0, 1, 1, 0), depthwise=True),
    "sums_across": Conv((1, 9, 4, 4), 9, (3, 2), (2, 1), (1, 2), depthwise=True),
}


@for_each("data", ["special", "subnormal"])
@for_each("mode", MODES)
@for_each("dtype", FLOATS)
@for_each("name", SMALL)
def test_kernels_agree_with_seven_loops_over_scalars(name: str, dtype: str, mode: Any, data: str) -> None:
    case = replace(SMALL[name], data=data, constant=False)
    assert name in kernel_of(case)
    graph, arrays = case.model(dtype)
    with np.errstate(all="ignore"):
        expected = seven_loops(
            *(arrays["X"], arrays["W"], arrays["B"], STEPS[mode]),
            strides=case.strides,
            pads=case.pads,
            dilations=case.dilations,
            group=case.X[1] if case.depthwise else 1,
        )
    assert sonnx.same_bits(graph.compile(accumulate=mode)(arrays)["Y"], expected, nan="any")
