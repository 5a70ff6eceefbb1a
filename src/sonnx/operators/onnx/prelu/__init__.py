"""PRelu: multiplies what is below zero by a slope of its own."""

from sonnx.operators.onnx.prelu.contract import CONTRACT
from sonnx.operators.onnx.prelu.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
