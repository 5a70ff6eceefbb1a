"""Clip: limits the elements of a tensor to an interval."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.clip.accuracy import error_bound
from sonnx.operators.onnx.clip.amend import amend
from sonnx.operators.onnx.clip.contract import CONTRACT
from sonnx.operators.onnx.clip.fast import kernels
from sonnx.operators.onnx.clip.meaning import meaning
from sonnx.operators.onnx.clip.plain import plain
from sonnx.operators.onnx.clip.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, amend, stablehlo=lower, kernels=kernels, plain=plain)
