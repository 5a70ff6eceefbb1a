"""Floor: rounds down to integers."""

from sonnx.operators.onnx.floor.contract import CONTRACT
from sonnx.operators.onnx.floor.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
