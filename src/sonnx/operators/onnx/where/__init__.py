"""Where: each element comes from one of two tensors, as a condition says."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.where.accuracy import error_bound
from sonnx.operators.onnx.where.amend import amend
from sonnx.operators.onnx.where.contract import CONTRACT
from sonnx.operators.onnx.where.fast import kernels
from sonnx.operators.onnx.where.meaning import meaning
from sonnx.operators.onnx.where.plain import plain
from sonnx.operators.onnx.where.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, amend, stablehlo=lower, kernels=kernels, plain=plain)
