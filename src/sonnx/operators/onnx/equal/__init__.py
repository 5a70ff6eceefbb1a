"""Equal: tells where the elements of two tensors are equal."""

from sonnx.operators.onnx.equal.contract import CONTRACT
from sonnx.operators.onnx.equal.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
