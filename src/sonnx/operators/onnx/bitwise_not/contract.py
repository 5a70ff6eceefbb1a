"""BitwiseNot: signature and types; its rules follow from them."""

from sonnx.model.dtype import INTEGERS
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "BitwiseNot",
    versions=(18,),
    summary="Turns every bit of integers, element by element.",
    inputs=[Operand("X", "X", "integers")],
    output=Operand("Y", "Y", "the integers with every bit the other way"),
    types=INTEGERS,
    ruling="D-BITWISE",
)
