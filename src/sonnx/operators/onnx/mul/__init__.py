"""Mul: multiplies two tensors, element by element."""

from sonnx.operators.onnx.mul.contract import CONTRACT
from sonnx.operators.onnx.mul.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
