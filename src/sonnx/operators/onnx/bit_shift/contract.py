"""BitShift: signature and types; its rules follow from them."""

from sonnx.model.dtype import UNSIGNED
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "BitShift",
    versions=(11, 28),
    summary="Moves the bits of integers to other places, element by element.",
    inputs=[
        Operand("X", "X", "unsigned integers"),
        Operand("Y", "Y", "by how many places each is moved"),
    ],
    output=Operand("Z", "Z", "the moved bits; places that no bit has come to hold 0"),
    types=UNSIGNED,
    attributes=[
        Attribute("direction", "text", "to higher places, or to lower ones", holds=OneOf(("LEFT", "RIGHT")))
    ],
    ruling="D-BITSHIFT",
)
