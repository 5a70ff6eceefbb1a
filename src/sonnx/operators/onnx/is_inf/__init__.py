"""IsInf: tells where the elements of a tensor are infinite."""

from sonnx.operators.onnx.is_inf.contract import CONTRACT
from sonnx.operators.onnx.is_inf.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
