"""Sums of products, the heart of every convolution: in a fixed order on IEEE types, exact on reals."""

from collections.abc import Callable, Iterator

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.exact import exact_sum_of_products
from sonnx.numeric.fused import fma
from sonnx.numeric.windows import Windows

# The type that holds the running sum, and the products (D-CONV-6).
ACCUMULATOR = {DType.FLOAT16: DType.FLOAT, DType.FLOAT: DType.FLOAT, DType.DOUBLE: DType.DOUBLE}

# Elements of running sums handled at a time: they and their products stay in the cache.
_BLOCK = 2**18


def sum_of_products(
    x: Array, windows: Windows, weights: Array, start: Array, dtype: DType, accumulate: str
) -> Array:
    """Compute start + Σ_k window_k(x)·weights_k, one term at a time in the order of the windows.

    Axes: x (batch, channel, …), each window (batch, group, positions…), weights (group, channel, k),
    start (group, channel), result (batch, group, channel, positions…). `accumulate` is `separate` (round
    the product, then the sum) or `fused` (round once); over the reals there is nothing to round.
    """
    if dtype is DType.REAL:
        return exact_sum_of_products(x, windows, weights, start)
    held = numpy_dtype(ACCUMULATOR[dtype])
    step = _fused_step if accumulate == "fused" else _separate_step
    with np.errstate(all="ignore"):
        total = _fold(x.astype(held, copy=False), windows, weights.astype(held), start.astype(held), step)
        return total.astype(numpy_dtype(dtype), copy=False)


Step = Callable[[Array, Array, Array, Array], None]


def _separate_step(total: Array, window: Array, weight: Array, term: Array) -> None:
    np.multiply(window, weight, out=term)
    np.add(total, term, out=total)


def _fused_step(total: Array, window: Array, weight: Array, _term: Array) -> None:
    total[...] = fma(window, weight, total)


def _fold(x: Array, windows: Windows, weights: Array, start: Array, step: Step) -> Array:
    groups, channels, _ = weights.shape
    points = windows.points
    total = np.empty((len(x), groups, channels, points), weights.dtype)
    total[...] = start[..., None]
    for items, some in _blocks(len(x), groups, channels, points):
        block = total[items, :, some]
        term = np.empty_like(block)
        for window, weight in zip(windows.cut(x[items]), np.moveaxis(weights[:, some], 2, 0), strict=True):
            line = window.reshape(window.shape[0], groups, 1, points)
            step(block, line, weight[..., None], term)
    return total.reshape(len(x), groups, channels, *windows.positions)


def _blocks(items: int, groups: int, channels: int, points: int) -> Iterator[tuple[slice, slice]]:
    """Batch items and output channels, cut so that a block has about _BLOCK elements."""
    some = max(1, min(channels, _BLOCK // max(1, groups * points)))
    many = max(1, _BLOCK // max(1, groups * some * points))
    for item in range(0, items, many):
        for channel in range(0, channels, some):
            yield slice(item, item + many), slice(channel, channel + some)
