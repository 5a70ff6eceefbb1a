"""Round: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Round",
    versions=(11, 22),
    summary="Rounds every element to the nearest integer, of two as near to the even one.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the nearest integers"),
    types=(DType.REAL, *IEEE),
    ruling="D-ROUND",
)
