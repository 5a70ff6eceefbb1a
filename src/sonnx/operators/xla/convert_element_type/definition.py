"""ConvertElementType: the nearest value of the new type, by D-XLA-3."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, converted, otherwise


def convert_element_type(operand: Term) -> Term:
    """Y = the element in the new type."""
    return cases(
        otherwise(
            converted(operand),
            "D-XLA-3",
            "To floats the nearest; to integers cut off, within the type's range; pred is what is not 0.",
        )
    )


DEFINITION = elementwise(convert_element_type)
