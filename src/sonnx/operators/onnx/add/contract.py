"""Add: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Add",
    versions=(13, 14),
    summary="Adds two tensors, element by element.",
    inputs=[Operand("A", "A", "the first terms"), Operand("B", "B", "the second terms")],
    output=Operand("C", "C", "the sums"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    added={14: (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)},
    ruling="D-ADD",
)
