"""Conv: a kernel slides over an image and sums products."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.conv.accuracy import error_bound
from sonnx.operators.onnx.conv.amend import amend
from sonnx.operators.onnx.conv.contract import CONTRACT
from sonnx.operators.onnx.conv.fast import kernels
from sonnx.operators.onnx.conv.meaning import meaning
from sonnx.operators.onnx.conv.plain import plain
from sonnx.operators.onnx.conv.stablehlo import lower

OPERATOR = Operator(
    CONTRACT, meaning, error_bound, amend, stablehlo=lower, kernels=kernels, fuses_clip=True, plain=plain
)
