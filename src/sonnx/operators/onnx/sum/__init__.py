"""Sum: adds the elements at one place."""

from sonnx.operators.onnx.sum.body import body
from sonnx.operators.onnx.sum.contract import CONTRACT
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, body=body)
