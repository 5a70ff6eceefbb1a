"""Expand: one tensor is broadcast to a given shape, explicitly in a graph."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.expand.accuracy import error_bound
from sonnx.operators.onnx.expand.contract import CONTRACT
from sonnx.operators.onnx.expand.fast import kernels
from sonnx.operators.onnx.expand.meaning import meaning
from sonnx.operators.onnx.expand.plain import plain
from sonnx.operators.onnx.expand.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower, kernels=kernels, plain=plain)
