"""IsNaN: tells where the elements of a tensor are NaNs."""

from sonnx.operators.onnx.is_nan.contract import CONTRACT
from sonnx.operators.onnx.is_nan.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
