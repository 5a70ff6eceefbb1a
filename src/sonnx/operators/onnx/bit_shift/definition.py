"""BitShift: moves the bits of integers."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, shifted_left, shifted_right


def bit_shift(X: Term, Y: Term, direction: str) -> Term:
    """A product or a quotient by a power of two, so nothing is left of what is moved by all its places."""
    if direction == "LEFT":
        text = "The product by 2^y modulo 2^n; from n places on that is 0."
        return cases(otherwise(shifted_left(X, Y), "D-BITSHIFT", text))
    text = "The quotient by 2^y, rounded down; from n places on that is 0."
    return cases(otherwise(shifted_right(X, Y), "D-BITSHIFT", text))


DEFINITION = elementwise(bit_shift)
