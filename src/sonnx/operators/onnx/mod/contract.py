"""Mod: signature and types; its rules follow from them, and from where it is defined."""

from sonnx.model.dtype import INTEGERS
from sonnx.operators.rules.contracts import elementwise
from sonnx.operators.shared.divisors import DIVISIBLE
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "Mod",
    versions=(13, 28),
    summary="Takes what a division leaves, element by element.",
    inputs=[Operand("A", "A", "the dividends"), Operand("B", "B", "the divisors")],
    output=Operand("C", "C", "the remainders"),
    types=INTEGERS,
    attributes=[
        Attribute(
            "fmod",
            "integer",
            "0: remainders have the sign of the divisor; 1: that of the dividend",
            default_in_onnx=0,
            holds=OneOf((0, 1)),
        )
    ],
    ruling="D-MOD",
    oldest=10,
    defined=DIVISIBLE,
)
