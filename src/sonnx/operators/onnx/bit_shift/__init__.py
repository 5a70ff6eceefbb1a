"""BitShift: moves the bits of integers."""

from sonnx.operators.onnx.bit_shift.contract import CONTRACT
from sonnx.operators.onnx.bit_shift.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
