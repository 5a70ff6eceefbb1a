"""Sub: subtracts one tensor from another, element by element."""

from sonnx.operators.onnx.sub.contract import CONTRACT
from sonnx.operators.onnx.sub.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
