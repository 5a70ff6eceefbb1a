"""LeakyRelu: multiplies what is below zero by a slope."""

from sonnx.operators.onnx.leaky_relu.contract import CONTRACT
from sonnx.operators.onnx.leaky_relu.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
