"""Broadcast in the three ways of the document (D-BCAST-3), written by hand: witnesses of the definition."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided
from tests.operators.support import Array

Shape = tuple[int, ...]


def aligned_shapes(tensors: Sequence[Array]) -> list[Shape]:
    """Sizes 1 put before every shape until it is as long as the longest."""
    rank = max(tensor.ndim for tensor in tensors)
    return [(1,) * (rank - tensor.ndim) + tensor.shape for tensor in tensors]


def f(a: int, size: int, target: int) -> int:
    """The document's f: where an axis is repeated, whatever index is asked for, 0 is read."""
    return a if size == target else 0


def relations(tensors: Sequence[Array]) -> list[Array]:
    """By the two relations on indices: Y[0, …, 0, i] = X[i], then Z[i] = Y[f(i)].

    An element's place in memory is Σ index · stride, so f on strides says it for all indices at once.
    """
    aligned = aligned_shapes(tensors)
    target = tuple(max(sizes) for sizes in zip(*aligned, strict=True))
    return [repeat_to(tensor.reshape(shape), target) for tensor, shape in zip(tensors, aligned, strict=True)]


def repeat_to(Y: Array, target: Shape) -> Array:
    """The second relation, for one tensor of full rank: Z[i] = Y[f(i)]."""
    strides = [
        f(stride, size, largest) for stride, size, largest in zip(Y.strides, Y.shape, target, strict=True)
    ]
    return as_strided(Y, target, strides, writeable=False)


def alternate(tensors: Sequence[Array]) -> list[Array]:
    """By the alternate description: tensors taken in the order of their ranks, the last one setting it.

    The order in which tensors come does not matter, so each result goes back to its tensor's place.
    """
    order = sorted(range(len(tensors)), key=lambda m: tensors[m].ndim)
    rank = tensors[order[-1]].ndim
    aligned = {m: tensors[m][(np.newaxis,) * (rank - tensors[m].ndim) + (...,)] for m in order}
    target = [max(Y.shape[axis] for Y in aligned.values()) for axis in range(rank)]
    outputs = []
    for m in range(len(tensors)):
        Y = aligned[m]
        for axis, size in enumerate(target):
            Y = Y.take([f(i, Y.shape[axis], size) for i in range(size)], axis)
        outputs.append(Y)
    return outputs


def recursive(tensors: Sequence[Array]) -> list[Array]:
    """By recursion on the number of tensors, with the binary operator alone."""
    if len(tensors) == 1:
        return [tensors[0]]
    *first, last = tensors
    # All of the first have one shape by now, so each of them meets the last tensor in the same way.
    pairs = [binary(Z, last) for Z in recursive(first)]
    return [Z for Z, _ in pairs] + [pairs[0][1]]


def binary(X1: Array, X2: Array) -> tuple[Array, Array]:
    """Two tensors, by repeating elements axis by axis."""
    rank = max(X1.ndim, X2.ndim)
    Y1, Y2 = (X.reshape((1,) * (rank - X.ndim) + X.shape) for X in (X1, X2))
    for axis in range(rank):
        if Y1.shape[axis] < Y2.shape[axis]:
            Y1 = Y1.repeat(Y2.shape[axis], axis)
        elif Y2.shape[axis] < Y1.shape[axis]:
            Y2 = Y2.repeat(Y1.shape[axis], axis)
    return Y1, Y2
