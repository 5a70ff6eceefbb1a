"""IsNaN: whether an element is a NaN."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds, is_nan


def not_a_number(X: Term) -> Term:
    """Of either sign, with any payload, signalling or quiet; no real number is one (D-ISNAN)."""
    return holds(is_nan(X), "D-ISNAN", "True where X is a NaN, whichever it is.")


DEFINITION = elementwise(not_a_number)
