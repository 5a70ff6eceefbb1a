"""And: whether both elements are true."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def both(A: Term, B: Term) -> Term:
    """A byte that is not zero is true, whatever its value; the result is 0 or 1 (D-LOGIC)."""
    return holds(A & B, "D-LOGIC", "True where both are.")


DEFINITION = elementwise(both)
