"""A convolution with fewer products than there are terms, which infinities do not survive."""

from collections.abc import Callable, Sequence

import numpy as np
from tests.conformance.right.elements import Array
from tests.conformance.right.sliding import Problem, convolved
from tests.conformance.right.summing import added, separate


def _along(array: Array, axis: int, change: Callable[..., Sequence[Array]]) -> Array:
    """Slices along an axis made into others."""
    return np.stack(change(*np.moveaxis(array, axis, 0)), axis=axis)


def _quick_taps(a: Array, b: Array, c: Array) -> Sequence[Array]:
    return a, (a + b + c) / 2, (a - b + c) / 2, c


def _quick_elements(a: Array, b: Array, c: Array, d: Array) -> Sequence[Array]:
    return a - c, b + c, c - b, b - d


def _quick_sums(a: Array, b: Array, c: Array, d: Array) -> Sequence[Array]:
    return a + b + c, b - c - d


def winograd(problem: Problem) -> Array:
    """Kernels of 3 by 3 with fewer products: two by two results from four by four elements.

    An infinity in the middle of them is taken away from itself.
    """
    slides = [(axis.kernel, axis.stride, axis.dilation, axis.base) for axis in problem.axes]
    plain = slides == [(3, 1, 1, 1)] * 2
    if not plain or problem.group > 1 or not problem.X.size or problem.X.dtype == np.float16:
        return convolved(problem, separate)
    lines, columns = problem.axes
    ends = [(a.low, a.high + a.positions % 2) for a in problem.axes]
    X = np.pad(problem.X, [(0, 0), (0, 0), *ends])
    output = np.zeros((*problem.shape[:2], lines.positions + 1, columns.positions + 1), X.dtype)
    with np.errstate(all="ignore"):
        W = _along(_along(problem.W, 2, _quick_taps), 3, _quick_taps).astype(X.dtype)
        for m in range(0, lines.positions, 2):
            for n in range(0, columns.positions, 2):
                tile = _along(_along(X[:, :, m : m + 4, n : n + 4], 2, _quick_elements), 3, _quick_elements)
                terms = [tile[:, None, c] * W[None, :, c] for c in range(X.shape[1])]
                total = added(terms, np.zeros((), X.dtype))
                output[:, :, m : m + 2, n : n + 2] = _along(_along(total, 2, _quick_sums), 3, _quick_sums)
        return np.asarray(output[:, :, : lines.positions, : columns.positions] + problem.start)
