"""Where: each element is that of X or that of Y, as the condition says."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def where(condition: Term, X: Term, Y: Term) -> Term:
    """A byte of the condition that is not zero is true, whatever its value (D-WHERE-1)."""
    return cases(
        when(condition, X, "D-WHERE-2", "Where the condition is true, X is copied bit for bit."),
        otherwise(Y, "D-WHERE-2", "Where the condition is false, Y is copied bit for bit."),
    )


DEFINITION = elementwise(where)
