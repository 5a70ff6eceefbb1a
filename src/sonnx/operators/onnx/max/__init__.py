"""Max: takes the largest of the elements at one place."""

from sonnx.operators.onnx.max.contract import CONTRACT
from sonnx.operators.onnx.max.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
