"""Mean: takes the mean of the elements at one place."""

from sonnx.operators.onnx.mean.contract import CONTRACT
from sonnx.operators.onnx.mean.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
