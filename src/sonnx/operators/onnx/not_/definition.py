"""Not: whether an element is false."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def opposite(X: Term) -> Term:
    """A byte that is not zero is true, whatever its value; the result is 0 or 1 (D-LOGIC)."""
    return holds(~X, "D-LOGIC", "True where X is not.")


DEFINITION = elementwise(opposite)
