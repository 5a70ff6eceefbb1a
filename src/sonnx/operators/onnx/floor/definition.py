"""Floor: rounds down to integers."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, rounded_down


def floor(X: Term) -> Term:
    """Exact: an integer between two numbers of a type is one of its numbers as well."""
    text = "The greatest integer that is not above the element; a zero stays, and so does a NaN."
    return cases(otherwise(rounded_down(X), "D-ROUND", text))


DEFINITION = elementwise(floor)
