"""BitwiseXor: tells in which bits two operands differ."""

from sonnx.operators.onnx.bitwise_xor.contract import CONTRACT
from sonnx.operators.onnx.bitwise_xor.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
