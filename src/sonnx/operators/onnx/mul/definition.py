"""Mul: the product of two tensors, element by element."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def mul(A: Term, B: Term) -> Term:
    """The operation of IEEE 754 on floats; on integers modulo 2^n (D-ALL-6)."""
    return cases(otherwise(A * B, "D-MUL", "The product, rounded once; integers wrap modulo 2^n."))


DEFINITION = elementwise(mul)
