"""BitwiseNot: turns every bit."""

from sonnx.operators.onnx.bitwise_not.contract import CONTRACT
from sonnx.operators.onnx.bitwise_not.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
