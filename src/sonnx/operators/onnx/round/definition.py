"""Round: rounds to the nearest integers, ties to even."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import to_nearest


def round_(X: Term) -> Term:
    """By comparisons of what lies above the integer below (D-ROUND)."""
    return to_nearest(X)


DEFINITION = elementwise(round_)
