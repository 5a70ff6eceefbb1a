"""Mul: the product of two tensors, element by element."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def mul(A: Term, B: Term) -> Term:
    """The product of the elements at one place."""
    return cases(
        otherwise(A * B, "D-MUL", "The product, rounded once.", integers="The product modulo 2^n (D-ALL-6).")
    )


DEFINITION = elementwise(mul)
