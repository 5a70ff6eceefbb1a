"""Clamp by the minimum and the maximum of IEEE 754-2019: any NaN gives NaN, and -0 is below +0 (D-XLA-1)."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, is_minus_zero, is_nan, otherwise, select, word


@word(r"\max", calculates=True)
def signed_maximum(a: Term, b: Term) -> Term:
    """The larger of two; a NaN wins, and +0 is larger than -0."""
    return select(is_nan(a) | (b < a) | ((a == b) & is_minus_zero(b)), a, b)  # a NaN of b is not below


@word(r"\min", calculates=True)
def signed_minimum(a: Term, b: Term) -> Term:
    """The smaller of two; a NaN wins, and -0 is smaller than +0."""
    return select(is_nan(a) | (a < b) | ((a == b) & is_minus_zero(a)), a, b)  # nor is anything below it


def clamp(operand: Term, min: Term, max: Term) -> Term:
    """Y = minimum(maximum(X, L), M), element by element."""
    return cases(
        otherwise(
            signed_minimum(signed_maximum(operand, min), max),
            "D-XLA-1",
            "The larger of operand and min, then the smaller of that and max; a NaN wins, -0 is below +0.",
        )
    )


DEFINITION = elementwise(clamp)
