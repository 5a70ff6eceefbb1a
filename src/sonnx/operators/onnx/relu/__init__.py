"""Relu: replaces what is below zero by zero."""

from sonnx.operators.onnx.relu.contract import CONTRACT
from sonnx.operators.onnx.relu.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
