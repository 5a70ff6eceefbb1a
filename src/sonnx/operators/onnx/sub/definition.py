"""Sub: the difference of two tensors, element by element."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise


def sub(A: Term, B: Term) -> Term:
    """The difference of the elements at one place."""
    return cases(
        otherwise(
            A - B, "D-SUB", "The difference, rounded once.", integers="The difference modulo 2^n (D-ALL-6)."
        )
    )


DEFINITION = elementwise(sub)
