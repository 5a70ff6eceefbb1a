"""Ceil: rounds up to integers."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, rounded_down


def ceil(X: Term) -> Term:
    """Rounded up is the opposite rounded down, and so the zero of what lies between -1 and 0 is -0."""
    text = "The least integer that is not below the element; a zero keeps its sign, and a NaN stays."
    return cases(otherwise(-rounded_down(-X), "D-ROUND", text))


DEFINITION = elementwise(ceil)
