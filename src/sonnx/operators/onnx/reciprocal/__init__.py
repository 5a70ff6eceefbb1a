"""Reciprocal: divides one by every element."""

from sonnx.operators.onnx.reciprocal.contract import CONTRACT
from sonnx.operators.onnx.reciprocal.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
