"""Abs: every element without its sign."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import absolute, cases, otherwise


def magnitude(X: Term) -> Term:
    """No sign, of a zero and a NaN neither."""
    return cases(
        otherwise(
            absolute(X),
            "D-ABS",
            "The sign is cleared, and every other bit is as it was, a NaN's too.",
            integers="The absolute value modulo 2^n (D-ALL-6): the smallest signed integer stays.",
        )
    )


DEFINITION = elementwise(magnitude)
