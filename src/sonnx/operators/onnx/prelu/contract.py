"""PRelu: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "PRelu",
    versions=(9, 16),
    summary="Multiplies what is below zero by a slope, which each element has of its own.",
    inputs=[Operand("X", "X", "the tensor", whole=True), Operand("slope", "S", "the slopes below zero")],
    output=Operand("Y", "Y", "the same with negative elements multiplied"),
    types=(DType.REAL, *IEEE, DType.INT32, DType.INT64, DType.UINT32, DType.UINT64),
    ruling="D-PRELU",
)
