"""Sqrt: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.onnx.sqrt.definition import ROOTED
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Sqrt",
    versions=(13,),
    summary="Takes the square root of every element.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the square roots"),
    types=(DType.REAL, *IEEE),
    ruling="D-ALL-7",
    defined=ROOTED,
)
