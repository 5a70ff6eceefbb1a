"""HardSigmoid: a straight line, cut off at 0 and 1."""

from sonnx.operators.onnx.hard_sigmoid.contract import CONTRACT
from sonnx.operators.onnx.hard_sigmoid.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
