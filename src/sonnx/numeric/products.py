"""Sums of products, the heart of every convolution: in a fixed order on IEEE types, exact on reals."""

from collections.abc import Iterator
from math import prod

import numpy as np

from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.balls import has_balls
from sonnx.numeric.convert import convert
from sonnx.numeric.exact import exact_sum_of_products
from sonnx.numeric.fused import fma
from sonnx.numeric.windows import Windows

# The type that holds the running sum, and the products (D-CONV-6).
ACCUMULATOR = {
    DType.FLOAT16: DType.FLOAT,
    DType.BFLOAT16: DType.FLOAT,
    DType.FLOAT: DType.FLOAT,
    DType.DOUBLE: DType.DOUBLE,
    # Integers wrap modulo 2^n, which is what NumPy does with them (D-XLA-5).
    **{dtype: dtype for dtype in INTEGERS},
}

# Types whose sums are made in a wider one.
NARROW = tuple(dtype for dtype, held in ACCUMULATOR.items() if held is not dtype)

_FUSED = (DType.BFLOAT16, DType.FLOAT, DType.DOUBLE)

# Elements of running sums handled at a time: they and their products stay in the cache.
_BLOCK = 2**18
# Fused steps make many temporaries.
_FUSED_BLOCK = 2**13


def sum_of_products(
    x: Array, windows: Windows, weights: Array, start: Array, dtype: DType, accumulate: str
) -> Array:
    """The sum of `wide_sum_of_products`, rounded once to the type of its operands."""
    total = wide_sum_of_products(x, windows, weights, start, dtype, accumulate)
    if dtype is DType.BFLOAT16:  # no cast of another library defines it
        return convert(total, DType.FLOAT, dtype)
    with np.errstate(all="ignore"):
        return total.astype(numpy_dtype(dtype), copy=False)


def wide_sum_of_products(
    x: Array, windows: Windows, weights: Array, start: Array, dtype: DType, accumulate: str
) -> Array:
    """Compute start + Σ_k window_k(x)·weights_k, one term at a time in the order of the windows.

    Axes: x (batch, channel, …), each window (batch, group, positions…), weights (group, channel, k),
    start (group, channel), result (batch, group, channel, positions…). `accumulate` is `separate` (round
    the product, then the sum) or `fused` (round once); over the reals and on integers nothing is rounded.
    The sum is in the type that holds it.
    """
    if dtype is DType.REAL:
        if has_balls(x, weights, start):
            return _fold(x, windows, weights, start, fused=False)
        return exact_sum_of_products(x, windows, weights, start)
    held = numpy_dtype(ACCUMULATOR[dtype])
    # The product of two float16 is exact in float, so there both modes are one; as on integers.
    fused = accumulate == "fused" and dtype in _FUSED
    with np.errstate(all="ignore"):
        return _fold(x.astype(held, copy=False), windows, weights.astype(held), start.astype(held), fused)


def _fold(x: Array, windows: Windows, weights: Array, start: Array, fused: bool) -> Array:
    groups, channels, _ = weights.shape
    # Without spatial axes there is one line of one point.
    lines, *others = windows.positions or (1,)
    rest = prod(others)
    total = np.empty((len(x), groups, channels, lines * rest), weights.dtype)
    total[...] = start[..., None]
    step, most = (_fused_step, _FUSED_BLOCK) if fused else (_separate_step, _BLOCK)
    for items, some, part in _blocks(len(x), groups, channels, lines, rest, most):
        block = total[items, :, some, part.start * rest : part.stop * rest]
        term = np.empty_like(block)
        for window, weight in zip(windows.cut(x[items]), np.moveaxis(weights[:, some], 2, 0), strict=True):
            # Only the lines of this block are copied.
            cut = window[:, :, part] if windows.positions else window
            step(block, cut.reshape(*block.shape[:2], 1, block.shape[3]), weight[..., None], term)
    return total.reshape(len(x), groups, channels, *windows.positions)


def _separate_step(total: Array, window: Array, weight: Array, term: Array) -> None:
    np.multiply(window, weight, out=term)
    np.add(total, term, out=total)


def _fused_step(total: Array, window: Array, weight: Array, _term: Array) -> None:
    total[...] = fma(window, weight, total)


def _blocks(
    items: int, groups: int, channels: int, lines: int, rest: int, most: int
) -> Iterator[tuple[slice, slice, slice]]:
    """Batch items, output channels and lines of `rest` points, in blocks of about `most` elements."""
    line_size = max(1, groups * rest)
    part = max(1, min(lines, most // line_size))
    some = max(1, min(channels, most // (line_size * part)))
    many = max(1, most // (line_size * part * some))
    for item in range(0, items, many):
        for channel in range(0, channels, some):
            for line in range(0, lines, part):
                yield slice(item, item + many), slice(channel, channel + some), slice(line, line + part)
