"""Identity: gives a tensor as it is."""

from sonnx.operators.onnx.identity.contract import CONTRACT
from sonnx.operators.onnx.identity.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
