"""LeakyRelu: what is below zero is multiplied by a slope."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def leaky_relu(X: Term, alpha: float) -> Term:
    """A NaN compares false and a zero of either sign is not below zero: both stay."""
    return cases(
        when(X < 0, alpha * X, "D-LEAKYRELU", "What is below zero becomes alpha·x, rounded once."),
        otherwise(X, "D-LEAKYRELU", "What is not below zero stays: a NaN, a zero of either sign."),
    )


DEFINITION = elementwise(leaky_relu)
