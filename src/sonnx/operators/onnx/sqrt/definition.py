"""Sqrt: the square root of every element."""

from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain, elementwise
from sonnx.terms.words import cases, otherwise, root


def sqrt(X: Term) -> Term:
    """The root of -0 is -0, and that of any number below zero a NaN."""
    return cases(
        otherwise(
            root(X), "D-ALL-7", "The square root, rounded once; that of -0 is -0, below zero there is none."
        )
    )


def _not_negative(X: Term) -> Truth:
    return X >= 0


ROOTED = Domain(_not_negative, "X is not negative", kinds=("reals",), shown=(1, -1))
DEFINITION = elementwise(sqrt, domain=ROOTED)
