"""Where, Expand, Broadcast, Collapse and Concatenate, by what their pages say: elements are moved."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from tests.conformance.right.elements import Array

Operands = Mapping[str, Array]
Attributes = Mapping[str, Any]


def where(operands: Operands, _attributes: Attributes) -> Array:
    true = operands["condition"].view(np.uint8) != 0
    output = operands["Y"].copy()
    output[true] = operands["X"][true]
    return output


def expand(operands: Operands, _attributes: Attributes) -> Array:
    given, asked = operands["input"], operands["shape"].tolist()
    rank = max(given.ndim, len(asked))
    output = given.reshape((1,) * (rank - given.ndim) + given.shape)
    for axis, size in enumerate([1] * (rank - len(asked)) + asked):
        if output.shape[axis] == 1:
            output = repeated(output, axis, size)
    return output


def repeated(array: Array, axis: int, times: int) -> Array:
    """The one element along an axis, again and again."""
    return np.take(array, [0] * times, axis=axis)


def broadcast(operands: Operands, attributes: Attributes) -> Array:
    operand, sizes = operands["operand"], attributes["broadcast_sizes"]
    output = np.empty((*sizes, *operand.shape), operand.dtype)
    for place in product(*map(range, sizes)):
        output[place] = operand
    return output


def collapse(operands: Operands, attributes: Attributes) -> Array:
    output, run = operands["operand"], attributes["dimensions"]
    for _ in run[1:]:
        output = _first_two(output, run[0])
    return output


def _first_two(array: Array, axis: int) -> Array:
    """Two neighbouring axes as one: all of the second for the first index, then all for the next."""
    before, size, following = array.shape[:axis], array.shape[axis], array.shape[axis + 1]
    output = np.empty((*before, size * following, *array.shape[axis + 2 :]), array.dtype)
    everything = (slice(None),) * axis
    for index in range(size):
        part = slice(index * following, (index + 1) * following)
        output[(*everything, part)] = array[(*everything, index)]
    return output


def concatenate(operands: Operands, attributes: Attributes) -> Array:
    return joined(list(operands.values()), attributes["dimension"])


def joined(arrays: Sequence[Array], axis: int) -> Array:
    """Arrays one after the other."""
    sizes = list(arrays[0].shape)
    sizes[axis] = sum(array.shape[axis] for array in arrays)
    output = np.empty(sizes, arrays[0].dtype)
    begin = 0
    for array in arrays:
        end = begin + array.shape[axis]
        output[(*(slice(None),) * axis, slice(begin, end))] = array
        begin = end
    return output
