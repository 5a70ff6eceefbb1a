"""Mean: the sum of the elements at one place of one or more tensors, divided by their number."""

from functools import reduce
from operator import add

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def mean(*data: Term) -> Term:
    """One sum after the other from the first tensor on, then one division (D-MEAN)."""
    text = "The sum, one element after the other, divided by their number; each operation rounded."
    return cases(otherwise(reduce(add, data) / len(data), "D-MEAN", text))


DEFINITION = elementwise(mean)
