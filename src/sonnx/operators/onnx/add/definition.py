"""Add: the sum of two tensors, element by element."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def add(A: Term, B: Term) -> Term:
    """The sum of the elements at one place."""
    return cases(
        otherwise(A + B, "D-ADD", "The sum, rounded once.", integers="The sum modulo 2^n (D-ALL-6).")
    )


DEFINITION = elementwise(add)
