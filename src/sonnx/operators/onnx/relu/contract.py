"""Relu: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, SIGNED, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Relu",
    versions=(13, 14),
    summary="Replaces what is below zero by zero.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the same with zeros in place of negative elements"),
    types=(DType.REAL, *IEEE, *SIGNED),
    added={14: SIGNED},
    ruling="D-RELU",
)
