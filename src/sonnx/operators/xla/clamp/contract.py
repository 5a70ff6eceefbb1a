"""Clamp: signature and types (D-XLA-1); what is said of bounds, which may be arrays or scalars."""

from sonnx.operators.rules.contracts import Words, elementwise
from sonnx.operators.shared.xla_types import ORDERED, OUTPUT_WORDS
from sonnx.vocabulary.operator import Operand

_WORDS: Words = {
    "types of operand": {
        "statement": "`operand` must be real, pred, an integer or a float; "
        "complex numbers cannot be clamped.",
        "reason": "Complex numbers and strings have no order here.",
        "restricts_onnx": False,
    },
    **{
        f"type of {bound}": {
            "reason": "A comparison between types would need a conversion, and conversions may round.",
            "ruling": "D-XLA-1",
        }
        for bound in ("min", "max")
    },
    **OUTPUT_WORDS,
}

CONTRACT = elementwise(
    "Clamp",
    domain="xla",
    versions=(),
    summary="Limits every element of an array to the range between two bounds.",
    inputs=[
        Operand("operand", "X", "the array to be limited"),
        Operand("min", "L", "the lower bound: a scalar, or one for each element", form="either"),
        Operand("max", "M", "the upper bound: a scalar, or one for each element", form="either"),
    ],
    output=Operand("output", "Y", "the limited array"),
    types=ORDERED,
    ruling="D-XLA-1",
    words=_WORDS,
)
