"""What operators that divide have in common: where integers and reals have a quotient (D-ALL-11)."""

from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain


def divisible(B: Term) -> Truth:
    """Floats have a quotient by zero: an infinity or a NaN."""
    return B != 0


DIVISIBLE = Domain(divisible, "the divisor is not 0")
