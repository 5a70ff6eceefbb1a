"""Sign: -1, 0 or 1."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, is_nan, otherwise, when


def sign(input: Term) -> Term:
    """On which side of zero an element lies."""
    return cases(
        when(is_nan(input), input, "D-SIGN", "A NaN stays, bit for bit."),
        when(input < 0, -1, "D-SIGN", "What is below zero becomes -1."),
        when(input > 0, 1, "D-SIGN", "What is above zero becomes 1."),
        otherwise(0, "D-SIGN", "A zero of either sign becomes +0."),
    )


DEFINITION = elementwise(sign)
