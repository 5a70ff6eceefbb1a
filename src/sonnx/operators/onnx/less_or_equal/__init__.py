"""LessOrEqual: tells where the elements of one tensor are at most those of another."""

from sonnx.operators.onnx.less_or_equal.contract import CONTRACT
from sonnx.operators.onnx.less_or_equal.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
