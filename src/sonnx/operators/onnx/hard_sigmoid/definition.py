"""HardSigmoid: a straight line, cut off at 0 and 1."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def hard_sigmoid(X: Term, alpha: float, beta: float) -> Term:
    """The product rounded, the sum rounded, then comparisons; a NaN compares false and stays."""
    line = alpha * X + beta
    return cases(
        when(line < 0, 0, "D-HARDSIGMOID", "Where alpha·x + beta is below 0, the output is +0."),
        when(line > 1, 1, "D-HARDSIGMOID", "Where alpha·x + beta is above 1, the output is 1."),
        otherwise(line, "D-HARDSIGMOID", "Otherwise it is alpha·x + beta, each operation rounded."),
    )


DEFINITION = elementwise(hard_sigmoid)
