"""BitwiseXor: tells in which bits two operands differ."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import bits_xor, cases, otherwise


def bitwise_xor(A: Term, B: Term) -> Term:
    """Two's complement decides which bits an integer has; its sign is a bit like every other."""
    return cases(
        otherwise(
            bits_xor(A, B), "D-BITWISE", "A bit is set where one operand has it set and the other has not."
        )
    )


DEFINITION = elementwise(bitwise_xor)
