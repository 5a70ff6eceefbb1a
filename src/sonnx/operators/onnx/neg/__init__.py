"""Neg: gives every element the other sign."""

from sonnx.operators.onnx.neg.contract import CONTRACT
from sonnx.operators.onnx.neg.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
