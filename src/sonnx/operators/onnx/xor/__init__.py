"""Xor: tells where exactly one of the elements of two tensors is true."""

from sonnx.operators.onnx.xor.contract import CONTRACT
from sonnx.operators.onnx.xor.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
