"""Neg: the opposite of every element."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def neg(X: Term) -> Term:
    """The other sign, of a zero and a NaN too."""
    return cases(
        otherwise(
            -X,
            "D-NEG",
            "The other sign, and every other bit as it was, a NaN's too.",
            integers="The opposite modulo 2^n (D-ALL-6): the smallest integer stays.",
        )
    )


DEFINITION = elementwise(neg)
