"""Not: tells where the elements of a tensor are false."""

from sonnx.operators.onnx.not_.contract import CONTRACT
from sonnx.operators.onnx.not_.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
