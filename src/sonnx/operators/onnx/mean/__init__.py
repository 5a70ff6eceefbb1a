"""Mean: takes the mean of the elements at one place."""

from sonnx.operators.onnx.mean.body import body
from sonnx.operators.onnx.mean.contract import CONTRACT
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, body=body)
