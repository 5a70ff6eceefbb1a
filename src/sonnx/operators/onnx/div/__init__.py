"""Div: divides two tensors, element by element."""

from sonnx.operators.onnx.div.contract import CONTRACT
from sonnx.operators.onnx.div.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
