"""LeakyRelu: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "LeakyRelu",
    versions=(6, 16),
    summary="Multiplies what is below zero by a slope.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the same with negative elements multiplied"),
    types=(DType.REAL, *IEEE),
    attributes=[Attribute("alpha", "float", "the slope below zero", default_in_onnx=0.01)],
    ruling="D-LEAKYRELU",
)
