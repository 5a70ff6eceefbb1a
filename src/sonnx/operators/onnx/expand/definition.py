"""Expand: the input, broadcast with a tensor of the given shape that nobody looks into."""

from sonnx.operators.rules.broadcasting import Shape, equal_ranks, largest_sizes
from sonnx.operators.shared.repeating import repeated
from sonnx.terms.tensors import Given, Made
from sonnx.terms.tracing import tensorwise


def expand(input: Given, shape: Shape) -> Made:
    """The first result of Broadcast(input, a tensor of that shape) (D-BCAST-1, D-BCAST-2)."""
    return repeated(input, largest_sizes(equal_ranks([input.shape, shape])))


DEFINITION = tensorwise(expand)
