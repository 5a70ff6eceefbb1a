"""BitwiseNot: turns every bit."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import bits_not, cases, otherwise


def bitwise_not(X: Term) -> Term:
    """Two's complement decides which bits an integer has, so this is -1 - x modulo 2^n."""
    return cases(otherwise(bits_not(X), "D-BITWISE", "A bit is set where the operand has it not."))


DEFINITION = elementwise(bitwise_not)
