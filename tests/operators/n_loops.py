"""The convolution of n spatial dimensions by index formulas over scalars, using nothing of the package.

Element i of a dimension of the padded base area is base[(i - low) / lhs_dilation] where that is an integer
inside the base area, and 0 elsewhere: zeros between, before and after elements, or elements taken away.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, product, takewhile
from math import isfinite
from typing import Any

import numpy as np
from tests.operators.seven_loops import Accumulation, Array, rounded

Pairs = Sequence[tuple[int, int]]
BFLOAT16 = (8, -126, 127)
_ACCUMULATOR: dict[str, type] = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float32,
    "float64": np.float64,
    "object": Fraction,
}


def narrowed(total: Any) -> int:
    """The bits of the bfloat16 nearest to a float, ties to even; any NaN for a NaN."""
    if isfinite(total) and total != 0:
        total = np.float32(rounded(Fraction(float(total)), BFLOAT16))
    elif np.isnan(total):
        total = np.float32("nan")
    return int(np.asarray(total, np.float32).view(np.uint32).item() >> 16)


def wrapped(total: int, dtype: np.dtype[Any]) -> int:
    """An integer modulo 2^n, in the range of a type."""
    low = int(np.iinfo(dtype).min)
    return int((total - low) % 2 ** (8 * dtype.itemsize) + low)


def length(size: int, low: int, high: int, dilation: int) -> int:
    """The length of a dimension, dilated, then padded."""
    holes = max(size - 1, 0) * (dilation - 1)
    return max(size + holes + low + high, 0)


def placements(padded: int, taps: int, stride: int, dilation: int) -> int:
    """How often a window can be placed, counted one by one."""
    return len(list(takewhile(lambda p: p * stride + (taps - 1) * dilation < padded, count())))


def n_loops(
    X: Array,
    W: Array,
    step: Accumulation,
    *,
    window_strides: Sequence[int],
    padding: Pairs,
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
) -> Array:
    """Y[b,c,p] = 0, then one term after another: input feature, then the window's dimensions in order."""
    base, taps = X.shape[2:], W.shape[2:]
    sizes = [length(n, low, high, d) for n, (low, high), d in zip(base, padding, lhs_dilation, strict=True)]
    shape = [placements(*each) for each in zip(sizes, taps, window_strides, rhs_dilation, strict=True)]
    kind = _ACCUMULATOR.get(X.dtype.name, int)
    Y = np.empty((len(X), len(W), *shape), X.dtype)

    def at(b: int, z: int, place: Sequence[int]) -> Any:
        indices = []
        for i, (low, _), d, n in zip(place, padding, lhs_dilation, base, strict=True):
            if (i - low) % d or not 0 <= (i - low) // d < n:
                return kind(0)
            indices.append((i - low) // d)
        return kind(X[(b, z, *indices)])

    def terms(b: int, c: int, position: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        for z in range(X.shape[1]):
            for tap in product(*map(range, taps)):
                steps = zip(position, window_strides, tap, rhs_dilation, strict=True)
                yield at(b, z, [p * s + t * d for p, s, t, d in steps]), kind(W[(c, z, *tap)])

    for b, c, *position in np.ndindex(*Y.shape):
        total = kind(0)
        for x, w in terms(b, c, position):
            total = step(total, x, w)
        Y[(b, c, *position)] = _finished(total, X.dtype)
    return Y


def _finished(total: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.name == "bfloat16":
        return np.uint16(narrowed(total)).view(dtype)
    if dtype.kind in "iu":
        return wrapped(total, dtype)
    return total if dtype.kind == "O" else dtype.type(total)
