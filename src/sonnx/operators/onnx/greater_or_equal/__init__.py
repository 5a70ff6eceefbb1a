"""GreaterOrEqual: tells where the elements of one tensor are at least those of another."""

from sonnx.operators.onnx.greater_or_equal.contract import CONTRACT
from sonnx.operators.onnx.greater_or_equal.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
