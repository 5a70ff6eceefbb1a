"""Sqrt: takes the square root of every element."""

from sonnx.operators.onnx.sqrt.contract import CONTRACT
from sonnx.operators.onnx.sqrt.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
