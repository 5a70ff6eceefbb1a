"""And: tells where the elements of both tensors are true."""

from sonnx.operators.onnx.and_.contract import CONTRACT
from sonnx.operators.onnx.and_.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
