"""BitwiseOr: gathers the bits of both operands."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import bits_or, cases, otherwise


def bitwise_or(A: Term, B: Term) -> Term:
    """Two's complement decides which bits an integer has; its sign is a bit like every other."""
    return cases(
        otherwise(bits_or(A, B), "D-BITWISE", "A bit is set where one operand has it set, or both have.")
    )


DEFINITION = elementwise(bitwise_or)
