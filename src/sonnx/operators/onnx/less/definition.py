"""Less: whether an element is below another."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def less(A: Term, B: Term) -> Term:
    """Nothing is below a NaN, and a NaN is below nothing; no zero is below another."""
    return holds(A < B, "D-COMPARE", "True where A is below B; a NaN is not, and zeros are equal.")


DEFINITION = elementwise(less)
