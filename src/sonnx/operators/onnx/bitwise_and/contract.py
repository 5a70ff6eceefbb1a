"""BitwiseAnd: signature and types; its rules follow from them."""

from sonnx.model.dtype import INTEGERS
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "BitwiseAnd",
    versions=(18,),
    summary="Keeps the bits that two integers have in common, element by element.",
    inputs=[Operand("A", "A", "integers"), Operand("B", "B", "integers of the same type")],
    output=Operand("C", "C", "the bits that both have"),
    types=INTEGERS,
    ruling="D-BITWISE",
)
