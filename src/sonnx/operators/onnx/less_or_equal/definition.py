"""LessOrEqual: whether an element is at most another."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def less_or_equal(A: Term, B: Term) -> Term:
    """A NaN is at most nothing, and nothing is at most a NaN; zeros of either sign are equal (D-COMPARE)."""
    return holds(A <= B, "D-COMPARE", "True where A is at most B; a NaN is not, and zeros are equal.")


DEFINITION = elementwise(less_or_equal)
