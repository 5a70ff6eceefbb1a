"""Sub: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Sub",
    versions=(13, 14),
    summary="Subtracts one tensor from another, element by element.",
    inputs=[Operand("A", "A", "what is subtracted from"), Operand("B", "B", "what is subtracted")],
    output=Operand("C", "C", "the differences"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    added={14: (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)},
    ruling="D-SUB",
)
