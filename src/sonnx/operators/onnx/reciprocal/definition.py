"""Reciprocal: one divided by every element."""

from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain, elementwise
from sonnx.terms.words import cases, otherwise


def reciprocal(X: Term) -> Term:
    """One division; that by a zero gives the infinity of its sign."""
    return cases(
        otherwise(1 / X, "D-ALL-7", "The quotient of 1 and the element, rounded once; that of ±0 is ±∞.")
    )


def _not_zero(X: Term) -> Truth:
    return X != 0


INVERTIBLE = Domain(_not_zero, "X is not 0", kinds=("reals",))
DEFINITION = elementwise(reciprocal, domain=INVERTIBLE)
