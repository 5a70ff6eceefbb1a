"""Min: the smallest of the elements at one place of one or more tensors."""

from functools import reduce

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import minimum


def smallest(*data: Term) -> Term:
    """The minimum of two, taken from the first tensor on (D-MINMAX); the element of a single one stays."""
    return reduce(minimum, data)


DEFINITION = elementwise(smallest)
