"""Broadcast: tensors are repeated until all have one shape."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.broadcast.accuracy import error_bound
from sonnx.operators.onnx.broadcast.contract import CONTRACT
from sonnx.operators.onnx.broadcast.meaning import meaning

OPERATOR = Operator(CONTRACT, meaning, error_bound)
