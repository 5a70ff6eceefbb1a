"""ThresholdedRelu: puts zero in place of what is not above a threshold."""

from sonnx.operators.onnx.thresholded_relu.contract import CONTRACT
from sonnx.operators.onnx.thresholded_relu.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
