"""Xor: whether exactly one of two elements is true."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def one_alone(A: Term, B: Term) -> Term:
    """A byte that is not zero is true, whatever its value; the result is 0 or 1 (D-LOGIC)."""
    return holds((A & ~B) | (~A & B), "D-LOGIC", "True where one is and the other is not.")


DEFINITION = elementwise(one_alone)
