"""Ceil: rounds up to integers."""

from sonnx.operators.onnx.ceil.contract import CONTRACT
from sonnx.operators.onnx.ceil.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
