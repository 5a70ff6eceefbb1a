"""Equal: whether two elements are equal."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def equal(A: Term, B: Term) -> Term:
    """A NaN equals nothing; zeros of either sign are equal, and so are any two true bytes (D-COMPARE)."""
    return holds(A == B, "D-COMPARE", "True where A equals B; a NaN does not, and zeros are equal.")


DEFINITION = elementwise(equal)
