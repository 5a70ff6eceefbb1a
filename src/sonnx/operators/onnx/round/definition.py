"""Round: rounds to the nearest integers, ties to even."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import to_nearest


def round_(X: Term) -> Term:
    """Exact: a difference is rounded above -1/2 alone, at most to 1/2, and there 0 is the even one."""
    return to_nearest(X)


DEFINITION = elementwise(round_)
