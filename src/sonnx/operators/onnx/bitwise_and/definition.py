"""BitwiseAnd: keeps the bits that both operands have."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import bits_and, cases, otherwise


def bitwise_and(A: Term, B: Term) -> Term:
    """Two's complement decides which bits an integer has; its sign is a bit like every other."""
    return cases(otherwise(bits_and(A, B), "D-BITWISE", "A bit is set where both operands have it set."))


DEFINITION = elementwise(bitwise_and)
