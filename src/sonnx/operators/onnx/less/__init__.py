"""Less: tells where the elements of one tensor are below those of another."""

from sonnx.operators.onnx.less.contract import CONTRACT
from sonnx.operators.onnx.less.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
