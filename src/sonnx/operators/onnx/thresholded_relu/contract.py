"""ThresholdedRelu: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "ThresholdedRelu",
    versions=(10, 22),
    summary="Keeps what is above a threshold, and puts zero in place of the rest.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the same with zeros in place of what is not above alpha"),
    types=(DType.REAL, *IEEE),
    attributes=[Attribute("alpha", "float", "the threshold", default_in_onnx=1.0)],
    ruling="D-THRESHOLDEDRELU",
)
