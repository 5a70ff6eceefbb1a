"""Mul: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Mul",
    versions=(13, 14),
    summary="Multiplies two tensors, element by element.",
    inputs=[Operand("A", "A", "the first factors"), Operand("B", "B", "the second factors")],
    output=Operand("C", "C", "the products"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    added={14: (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)},
    ruling="D-MUL",
)
