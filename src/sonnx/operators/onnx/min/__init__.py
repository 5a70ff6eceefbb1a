"""Min: takes the smallest of the elements at one place."""

from sonnx.operators.onnx.min.contract import CONTRACT
from sonnx.operators.onnx.min.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
