"""Relu: what is below zero becomes zero."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def relu(X: Term) -> Term:
    """A NaN compares false and a zero of either sign is not below zero: both stay."""
    return cases(
        when(X < 0, 0, "D-RELU", "What is below zero becomes +0."),
        otherwise(X, "D-RELU", "What is not below zero stays, bit for bit: a NaN, a zero of either sign."),
    )


DEFINITION = elementwise(relu)
