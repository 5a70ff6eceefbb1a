"""Mod: what the division of two tensors leaves, element by element."""

from sonnx.operators.shared.divisors import DIVISIBLE
from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, left_over, otherwise, truncated, when


def mod(A: Term, B: Term, fmod: int) -> Term:
    """The dividend less a multiple of the divisor, by the quotient rounded towards zero, or down."""
    return cases(
        otherwise(left_over(A, B), "D-MOD", "What is left, exact; a zero has the sign of the dividend.")
    )


def mod_of_integers(A: Term, B: Term, fmod: int) -> Term:
    """The same of integers, which alone have the sign of the divisor."""
    rest = A - B * truncated(A, B)  # modulo 2^n, which is exact: it is nearer to zero than the divisor
    stops = when(B == 0, 0, "D-ALL-11", "There is no remainder: nobody gets this zero, the run stops.")
    if fmod:
        return cases(stops, otherwise(rest, "D-MOD", "What is left has the sign of the dividend, or is 0."))
    return cases(
        stops,
        when((rest < 0) & (B > 0), rest + B, "D-MOD", "What is left gets the sign of the divisor."),
        when((rest > 0) & (B < 0), rest + B, "D-MOD", "What is left gets the sign of the divisor."),
        otherwise(rest, "D-MOD", "What is left has the sign of the divisor already, or is 0."),
    )


DEFINITION = elementwise(mod, integers=mod_of_integers, domain=DIVISIBLE)
