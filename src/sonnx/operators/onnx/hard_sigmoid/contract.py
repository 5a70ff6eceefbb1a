"""HardSigmoid: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "HardSigmoid",
    versions=(6, 22),
    summary="Limits a straight line through every element to the interval from 0 to 1.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the limited tensor"),
    types=(DType.REAL, *IEEE),
    attributes=[
        Attribute("alpha", "float", "the slope of the line", default_in_onnx=0.2),
        Attribute("beta", "float", "the value of the line at zero", default_in_onnx=0.5),
    ],
    ruling="D-HARDSIGMOID",
)
