"""Add: adds two tensors, element by element."""

from sonnx.operators.onnx.add.contract import CONTRACT
from sonnx.operators.onnx.add.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
