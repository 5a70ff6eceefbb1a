"""BitwiseOr: signature and types; its rules follow from them."""

from sonnx.model.dtype import INTEGERS
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "BitwiseOr",
    versions=(18,),
    summary="Gathers the bits of two integers, element by element.",
    inputs=[Operand("A", "A", "integers"), Operand("B", "B", "integers of the same type")],
    output=Operand("C", "C", "the bits that one of them has"),
    types=INTEGERS,
    ruling="D-BITWISE",
)
