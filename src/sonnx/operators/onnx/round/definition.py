"""Round: rounds to the nearest integers, ties to even."""

from fractions import Fraction

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, rounded_down, when

HALF = Fraction(1, 2)


def round_(X: Term) -> Term:
    """Exact: a difference is rounded above -1/2 alone, at most to 1/2, and there 0 is the even one."""
    below, above = rounded_down(X), -rounded_down(-X)
    rest, half = X - below, below * HALF
    return cases(
        when(rest < HALF, below, "D-ROUND", "Nearer to the integer below, or an integer itself: that one."),
        when(rest > HALF, above, "D-ROUND", "Nearer to the integer above: that one; of zeros -0."),
        when(
            rounded_down(half) == half,
            below,
            "D-ROUND",
            "As near to both, and that below is even; or infinite.",
        ),
        otherwise(above, "D-ROUND", "As near to both, and that above is even; or a NaN."),
    )


DEFINITION = elementwise(round_)
