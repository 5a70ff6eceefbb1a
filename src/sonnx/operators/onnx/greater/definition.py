"""Greater: whether an element is above another."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def greater(A: Term, B: Term) -> Term:
    """A NaN is above nothing, and nothing is above a NaN; no zero is above another (D-COMPARE)."""
    return holds(A > B, "D-COMPARE", "True where A is above B; a NaN is not, and zeros are equal.")


DEFINITION = elementwise(greater)
