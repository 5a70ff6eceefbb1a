"""Or: tells where an element of two tensors is true, or both are."""

from sonnx.operators.onnx.or_.contract import CONTRACT
from sonnx.operators.onnx.or_.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
