"""Div: the quotient of two tensors, element by element."""

from sonnx.operators.shared.divisors import DIVISIBLE
from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, truncated, when


def div(A: Term, B: Term) -> Term:
    """The quotient of the elements at one place."""
    whole = "The quotient, rounded towards zero, modulo 2^n; by 0 there is none (D-ALL-11)."
    return cases(otherwise(A / B, "D-DIV", "The quotient, rounded once.", integers=whole))


def div_of_integers(A: Term, B: Term) -> Term:
    """The quotient of the integers at one place, rounded towards zero."""
    return cases(
        when(B == 0, 0, "D-ALL-11", "There is no quotient: nobody gets this zero, the run stops."),
        otherwise(truncated(A, B), "D-DIV", "The quotient, rounded towards zero, modulo 2^n."),
    )


DEFINITION = elementwise(div, integers=div_of_integers, domain=DIVISIBLE)
