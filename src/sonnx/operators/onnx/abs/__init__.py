"""Abs: takes the sign from every element."""

from sonnx.operators.onnx.abs.contract import CONTRACT
from sonnx.operators.onnx.abs.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
