"""GreaterOrEqual: whether an element is at least another."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def greater_or_equal(A: Term, B: Term) -> Term:
    """A NaN is at least nothing, and nothing is at least a NaN; zeros are equal (D-COMPARE)."""
    return holds(A >= B, "D-COMPARE", "True where A is at least B; a NaN is not, and zeros are equal.")


DEFINITION = elementwise(greater_or_equal)
