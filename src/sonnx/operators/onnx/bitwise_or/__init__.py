"""BitwiseOr: gathers the bits of both operands."""

from sonnx.operators.onnx.bitwise_or.contract import CONTRACT
from sonnx.operators.onnx.bitwise_or.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
