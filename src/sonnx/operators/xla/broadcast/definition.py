"""Broadcast: the operand again for every index of the new dimensions, which come first (D-XLA-6)."""

from collections.abc import Sequence

from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.tracing import tensorwise


def broadcast(operand: Given, broadcast_sizes: Sequence[int]) -> Made:
    """Y[i, j] = X[j], where i indexes the new dimensions and j those of X."""
    new = len(broadcast_sizes)
    return tensor((*broadcast_sizes, *operand.shape), lambda *i: operand[i[new:]])


DEFINITION = tensorwise(broadcast)
