"""Sums of products on IEEE types: one term at a time, in order, with one or two roundings a term."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.numeric.sliding import sliding

from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric import products
from sonnx.numeric.products import ACCUMULATOR, sum_of_products
from sonnx.numeric.windows import Windows

pytestmark = pytest.mark.measured

Array = NDArray[Any]
Accumulation = Callable[[Any, Any, Any], Any]

HELD: dict[DType, Any] = {DType.FLOAT16: np.float16, DType.FLOAT: np.float32, DType.DOUBLE: np.float64}
WIDER: dict[DType, Any] = {DType.FLOAT16: np.float32, DType.FLOAT: np.float32, DType.DOUBLE: np.float64}
TYPES = pytest.mark.parametrize("dtype", list(HELD))
MODES = pytest.mark.parametrize("mode", ["separate", "fused"])


def two_roundings(total: Any, x: Any, w: Any) -> Any:
    product = type(total)(x * w)
    return type(total)(total + product)


def one_rounding(total: Any, x: Any, w: Any) -> Any:
    """The number of the type that is nearest to the exact result; of two, the one with an even last bit."""
    exact = Fraction(float(x)) * Fraction(float(w)) + Fraction(float(total))
    held = type(total)
    near = held(float(exact))
    candidates = [near, np.nextafter(near, held(-np.inf)), np.nextafter(near, held(np.inf))]

    def badness(number: Any) -> tuple[Fraction, int]:
        return abs(Fraction(float(number)) - exact), int(number.view(f"u{number.itemsize}")) & 1

    return min(candidates, key=badness)


STEPS: dict[str, Accumulation] = {"separate": two_roundings, "fused": one_rounding}


def plain_loop(
    x: Array, weights: Array, start: Array, taps: int, positions: int, held: Any, step: Accumulation
) -> Array:
    """The definition of D-CONV-6 with scalars of the accumulator's type."""
    groups, outputs, terms = weights.shape
    result = np.empty((len(x), groups, outputs, positions), dtype=held)
    with np.errstate(all="ignore"):
        for b, g, c, p in np.ndindex(result.shape):
            total = held(start[g, c])
            for k in range(terms):
                channel = g * (x.shape[1] // groups) + k // taps
                total = step(total, held(x[b, channel, p + k % taps]), held(weights[g, c, k]))
            result[b, g, c, p] = total
    return result


def bits(array: Array) -> list[Any]:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").tolist()  # type: ignore[no-any-return]  # NumPy says Any


def tensors(dtype: DType, batch: int, groups: int, inputs: int, outputs: int, taps: int) -> tuple[Array, ...]:
    generator = np.random.default_rng(5)
    held = HELD[dtype]
    x = generator.standard_normal((batch, groups * inputs, 4 + taps - 1)).astype(held)
    weights = generator.standard_normal((groups, outputs, inputs * taps)).astype(held)
    return x, weights, generator.standard_normal((groups, outputs)).astype(held)


def check(
    dtype: DType, mode: str, *, batch: int = 2, groups: int = 2, inputs: int = 3, outputs: int = 3
) -> None:
    taps, positions = 2, 4
    x, weights, start = tensors(dtype, batch, groups, inputs, outputs, taps)
    result = sum_of_products(x, sliding(groups, taps, positions), weights, start, dtype, mode)
    total = plain_loop(x, weights, start, taps, positions, WIDER[dtype], STEPS[mode])
    assert result.dtype == HELD[dtype]
    assert bits(result) == bits(total.astype(HELD[dtype]))


@TYPES
@MODES
def test_each_term_is_added_in_order_with_the_roundings_of_the_mode(dtype: DType, mode: str) -> None:
    check(dtype, mode)


@MODES
@pytest.mark.parametrize("block", [1, 5, 8, 24, 30, 1000])
def test_the_size_of_the_blocks_changes_no_bit(
    block: int, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_BLOCK", block)
    monkeypatch.setattr(products, "_FUSED_BLOCK", block)
    check(DType.FLOAT, mode, batch=3, outputs=4)


@pytest.mark.parametrize("dtype", [DType.FLOAT, DType.DOUBLE])
def test_the_two_modes_differ(dtype: DType) -> None:
    x, weights, start = tensors(dtype, 4, 1, 8, 4, 2)
    results = [sum_of_products(x, sliding(1, 2, 4), weights, start, dtype, mode) for mode in STEPS]
    assert bits(results[0]) != bits(results[1])


def row(dtype: DType, start: float, x: list[float], weights: list[float], mode: str) -> float:
    held = HELD[dtype]
    result = sum_of_products(
        np.array(x, held).reshape(1, len(x), 1),
        sliding(1, 1, 1),
        np.array(weights, held).reshape(1, 1, len(weights)),
        np.array([[start]], held),
        dtype,
        mode,
    )
    return float(result[0, 0, 0, 0])


@MODES
def test_the_accumulator_starts_at_the_start_and_goes_from_the_first_term_to_the_last(mode: str) -> None:
    # 2^24 + 1 is 2^24 in float, so the place of the large terms matters.
    assert row(DType.FLOAT, 2.0**24, [1.0, -(2.0**24)], [1.0, 1.0], mode) == 0.0
    assert row(DType.FLOAT, 2.0**24, [-(2.0**24), 1.0], [1.0, 1.0], mode) == 1.0
    assert row(DType.FLOAT, 1.0, [2.0**24, -(2.0**24)], [1.0, 1.0], mode) == 0.0


def test_separate_rounds_the_product_and_fused_does_not() -> None:
    # The square is 1 + 2^-12 + 2^-26, and the last place of a float near 1 is 2^-23.
    x = 1 + 2.0**-13
    assert row(DType.FLOAT, -1.0, [x], [x], "separate") == 2.0**-12
    assert row(DType.FLOAT, -1.0, [x], [x], "fused") == 2.0**-12 + 2.0**-26


@MODES
def test_float16_is_summed_in_float_and_rounded_once_at_the_end(mode: str) -> None:
    assert row(DType.FLOAT16, 2048.0, [1.0, 1.0], [1.0, 1.0], mode) == 2050.0
    assert row(DType.FLOAT16, 60000.0, [60000.0, -60000.0], [1.0, 1.0], mode) == 60000.0
    assert row(DType.FLOAT16, 60000.0, [60000.0], [1.0], mode) == np.inf


@TYPES
@MODES
def test_special_values_take_part_in_the_sum(dtype: DType, mode: str) -> None:
    assert np.isnan(row(dtype, 0.0, [0.0], [np.inf], mode))
    assert row(dtype, 1.0, [np.inf], [-2.0], mode) == -np.inf
    assert np.isnan(row(dtype, np.inf, [np.inf], [-2.0], mode))
    assert np.signbit(row(dtype, -0.0, [0.0], [-1.0], mode))
    assert not np.signbit(row(dtype, 0.0, [0.0], [-1.0], mode))


@MODES
def test_subnormals_are_kept(mode: str) -> None:
    assert row(DType.FLOAT, 2.0**-149, [2.0**-100], [2.0**-49], mode) == 2.0**-148


@TYPES
@MODES
def test_a_sum_without_terms_is_its_start(dtype: DType, mode: str) -> None:
    start = np.array([[1.5, -0.0]], HELD[dtype])
    empty = np.empty((1, 2, 0), HELD[dtype])
    result = sum_of_products(np.empty((2, 0, 3), HELD[dtype]), sliding(1, 1, 3), empty, start, dtype, mode)
    assert bits(result) == bits(np.repeat(np.repeat(start[None, :, :, None], 2, 0), 3, 3))


@MODES
@pytest.mark.parametrize(("batch", "outputs", "positions"), [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_a_result_may_have_no_elements(batch: int, outputs: int, positions: int, mode: str) -> None:
    x, weights = np.ones((batch, 2, 5), np.float32), np.ones((2, outputs, 2), np.float32)
    start = np.ones((2, outputs), np.float32)
    result = sum_of_products(x, sliding(2, 2, positions), weights, start, DType.FLOAT, mode)
    assert result.shape == (batch, 2, outputs, positions)


@MODES
def test_reals_are_summed_exactly_in_either_mode(mode: str) -> None:
    third = np.array([[[Fraction(1, 3)]]], dtype=object)
    result = sum_of_products(third, sliding(1, 1, 1), third, third[0], DType.REAL, mode)
    assert result.tolist() == [[[[Fraction(4, 9)]]]]


def test_operands_are_not_changed() -> None:
    x, weights, start = tensors(DType.FLOAT, 2, 1, 3, 2, 2)
    before = [array.copy() for array in (x, weights, start)]
    for mode in STEPS:
        sum_of_products(x, sliding(1, 2, 4), weights, start, DType.FLOAT, mode)
    assert [bits(array) for array in (x, weights, start)] == [bits(array) for array in before]


def test_the_accumulator_of_float16_is_float() -> None:
    narrow = (DType.FLOAT16, DType.BFLOAT16)
    assert {
        **dict.fromkeys(narrow, DType.FLOAT),
        **{dtype: dtype for dtype in (DType.FLOAT, DType.DOUBLE, *INTEGERS)},
    } == ACCUMULATOR


@MODES
def test_an_image_of_no_spatial_axes_is_one_point(mode: str) -> None:
    windows = Windows(lambda x: (x[:, None, channel] for channel in range(x.shape[1])), ())
    x, weights = np.array([[2.0, 3.0], [5.0, 7.0]]), np.array([[[10.0, 1.0]]])
    total = sum_of_products(x, windows, weights, np.array([[0.5]]), DType.DOUBLE, mode)
    assert total.shape == (2, 1, 1)
    assert total.ravel().tolist() == [23.5, 57.5]


@MODES
def test_only_the_lines_of_a_block_are_copied(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each window is looked at once for every block: a copy of it all each time would grow with the square.
    monkeypatch.setattr(products, "_BLOCK", 8)
    monkeypatch.setattr(products, "_FUSED_BLOCK", 8)
    seen: list[tuple[int, ...]] = []

    class Watched(np.ndarray[Any, Any]):
        def reshape(self, *shape: Any, **options: Any) -> Any:  # only watched
            seen.append(self.shape)
            return np.asarray(self).reshape(*shape, **options)

    x = np.arange(40.0).reshape(1, 1, 10, 4)
    windows = Windows(lambda part: [part.view(Watched)], (10, 4))
    total = sum_of_products(x, windows, np.ones((1, 1, 1)), np.zeros((1, 1)), DType.DOUBLE, mode)
    assert total.ravel().tolist() == x.ravel().tolist()
    assert seen == [(1, 1, 2, 4)] * 5


def test_sums_of_bfloat16_are_rounded_once_at_the_end() -> None:
    """1 + 2^-8 + 2^-8 is 1 + 2^-7, which bfloat16 holds; rounded after each term it would stay 1."""
    held = np.dtype(ml_dtypes.bfloat16)
    x = np.ones((1, 1, 3), held)
    weights = np.array([[[1, 2.0**-8, 2.0**-8]]]).astype(held)
    found = sum_of_products(x, sliding(1, 3, 1), weights, np.zeros((1, 1), held), DType.BFLOAT16, "separate")
    assert found.dtype == held
    assert found.reshape(-1).view(np.uint16).tolist() == [0x3F81]
