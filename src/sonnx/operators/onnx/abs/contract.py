"""Abs: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Abs",
    versions=(13,),
    summary="Takes the sign from every element.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the absolute values"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    ruling="D-ABS",
)
