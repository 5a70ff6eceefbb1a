"""Max: the largest of the elements at one place of one or more tensors."""

from functools import reduce

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import maximum


def largest(*data: Term) -> Term:
    """The maximum of two, taken from the first tensor on (D-MINMAX); the element of a single one stays."""
    return reduce(maximum, data)


DEFINITION = elementwise(largest)
