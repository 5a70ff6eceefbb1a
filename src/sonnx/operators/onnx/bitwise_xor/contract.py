"""BitwiseXor: signature and types; its rules follow from them."""

from sonnx.model.dtype import INTEGERS
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "BitwiseXor",
    versions=(18,),
    summary="Tells in which bits two integers differ, element by element.",
    inputs=[Operand("A", "A", "integers"), Operand("B", "B", "integers of the same type")],
    output=Operand("C", "C", "the bits in which they differ"),
    types=INTEGERS,
    ruling="D-BITWISE",
)
