"""PRelu: what is below zero is multiplied by a slope of its own."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def prelu(X: Term, slope: Term) -> Term:
    """A NaN compares false and a zero of either sign is not below zero: both stay."""
    product, wrapped = "slope·x, rounded once.", "slope·x modulo 2^n (D-ALL-6)."
    below = "What is below zero becomes "
    return cases(
        when(X < 0, slope * X, "D-PRELU", below + product, integers=below + wrapped),
        otherwise(X, "D-PRELU", "What is not below zero stays: a NaN, a zero of either sign."),
    )


DEFINITION = elementwise(prelu)
