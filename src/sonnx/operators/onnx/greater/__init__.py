"""Greater: tells where the elements of one tensor are above those of another."""

from sonnx.operators.onnx.greater.contract import CONTRACT
from sonnx.operators.onnx.greater.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
