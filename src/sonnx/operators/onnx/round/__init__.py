"""Round: rounds to the nearest integers, ties to even."""

from sonnx.operators.onnx.round.contract import CONTRACT
from sonnx.operators.onnx.round.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
