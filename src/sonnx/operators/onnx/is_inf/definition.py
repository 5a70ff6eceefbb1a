"""IsInf: whether an element is an infinity of a sign that is asked for."""

from math import inf

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds


def infinite(X: Term, detect_negative: int, detect_positive: int) -> Term:
    """Which signs are asked for is known beforehand; no real number is infinite (D-ISNAN)."""
    below = X == -inf if detect_negative else False
    above = X == inf if detect_positive else False
    return holds(below | above, "D-ISNAN", "True where X is an infinity of a sign that is asked for.")


DEFINITION = elementwise(infinite)
