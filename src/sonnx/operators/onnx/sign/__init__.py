"""Sign: says on which side of zero every element lies."""

from sonnx.operators.onnx.sign.contract import CONTRACT
from sonnx.operators.onnx.sign.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
