"""Or: whether one of two elements is true, or both."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def either(A: Term, B: Term) -> Term:
    """A byte that is not zero is true, whatever its value; the result is 0 or 1 (D-LOGIC)."""
    return holds(A | B, "D-LOGIC", "True where one is, or both are.")


DEFINITION = elementwise(either)
