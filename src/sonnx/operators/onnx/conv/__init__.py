"""Conv: a kernel slides over an image and sums products."""

from sonnx.operators.onnx.conv.amend import amend
from sonnx.operators.onnx.conv.contract import CONTRACT
from sonnx.operators.onnx.conv.definition import DEFINITION
from sonnx.operators.onnx.conv.geometry import CONVOLUTION
from sonnx.operators.onnx.conv.kernels import kernels
from sonnx.operators.onnx.conv.trials import drawn, trials
from sonnx.operators.onnx.conv.witness import in_jax
from sonnx.operators.shared.convolution_form import convolution_form
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

FORM = convolution_form(CONVOLUTION, {"strides": 1, "dilations": 1, "pads": 0})
TRYING = Trying(trials, CONVOLUTION.clauses, drawn, FORM, CONVOLUTION.enclosure, "D-CONV-6", in_jax)
OPERATOR = Operator(
    CONTRACT,
    DEFINITION,
    error_bound=CONVOLUTION.error_bound,
    amend=amend,
    stablehlo=CONVOLUTION.lower,
    kernels=kernels,
    is_followed=True,
    trying=TRYING,
)
