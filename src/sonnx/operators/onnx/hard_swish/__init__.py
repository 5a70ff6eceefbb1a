"""HardSwish: each element times its HardSigmoid."""

from sonnx.operators.onnx.hard_swish.body import body
from sonnx.operators.onnx.hard_swish.contract import CONTRACT
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, body=body)
