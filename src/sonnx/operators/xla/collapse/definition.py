"""Collapse: the same elements in the same order, counted by fewer indices (D-XLA-6)."""

from collections.abc import Sequence
from math import prod
from typing import Any

from sonnx.terms.tensors import Given, Made, flat_place, tensor
from sonnx.terms.tracing import tensorwise


def collapse(operand: Given, dimensions: Sequence[int]) -> Made:
    """Y[i, c, k] = X[i, j, k], where c counts the indices j of the collapsed dimensions, the last fastest."""
    shape = collapsed_shape(operand.shape, dimensions)
    return tensor(shape, lambda *i: operand.flat(flat_place(i, shape)))


def collapsed_shape(operand: Sequence[Any], dimensions: Sequence[int]) -> tuple[Any, ...]:
    """The sizes before, the product of those collapsed, the sizes after; that of an open size is open."""
    first, last = dimensions[0], dimensions[-1] + 1
    run = operand[first:last]
    return (*operand[:first], None if None in run else prod(run), *operand[last:])


DEFINITION = tensorwise(collapse)
