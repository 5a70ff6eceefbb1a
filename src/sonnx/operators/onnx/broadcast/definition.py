"""Broadcast by the two relations of the document: ranks made equal, then what is short repeated."""

from sonnx.operators.rules.broadcasting import equal_ranks, largest_sizes
from sonnx.operators.shared.repeating import repeated
from sonnx.terms.tensors import Given, Made
from sonnx.terms.tracing import tensorwise


def broadcast(*X: Given) -> tuple[Made, ...]:
    """Every tensor repeated to the sizes that are the largest of all (D-BCAST-2)."""
    shape = largest_sizes(equal_ranks([each.shape for each in X]))
    return tuple(repeated(each, shape) for each in X)


DEFINITION = tensorwise(broadcast)
