"""Collapse: the same elements in the same order, counted by fewer indices (D-XLA-6)."""

from collections.abc import Sequence

from sonnx.operators.xla.collapse.shapes import collapsed_shape
from sonnx.terms.tensors import Given, Made, flat_place, tensor
from sonnx.terms.tracing import tensorwise


def collapse(operand: Given, dimensions: Sequence[int]) -> Made:
    """Y[i, c, k] = X[i, j, k], where c counts the indices j of the collapsed dimensions, the last fastest."""
    shape = collapsed_shape(operand.shape, dimensions)
    return tensor(shape, lambda *i: operand.flat(flat_place(i, shape)))


DEFINITION = tensorwise(collapse)
