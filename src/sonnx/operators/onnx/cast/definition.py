"""Cast: the nearest value of the new type, as ConvertElementType of XLA gives it."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, converted, otherwise


def cast(input: Term) -> Term:
    """The element in the new type."""
    text = "To floats the nearest; to integers cut off, within the type's range; bool is what is not 0."
    return cases(otherwise(converted(input), "D-CAST", text))


DEFINITION = elementwise(cast)
