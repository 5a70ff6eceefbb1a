"""Reciprocal: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.onnx.reciprocal.definition import INVERTIBLE
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Reciprocal",
    versions=(13,),
    summary="Divides 1 by every element.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the reciprocals"),
    types=(DType.REAL, *IEEE),
    ruling="D-ALL-7",
    defined=INVERTIBLE,
)
