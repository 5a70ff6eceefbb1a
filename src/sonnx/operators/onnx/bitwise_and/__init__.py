"""BitwiseAnd: keeps the bits that both operands have."""

from sonnx.operators.onnx.bitwise_and.contract import CONTRACT
from sonnx.operators.onnx.bitwise_and.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
