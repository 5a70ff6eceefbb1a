"""Conv: a kernel slides over an image and sums products."""

from sonnx.operators.onnx.conv.accuracy import enclosure, error_bound
from sonnx.operators.onnx.conv.amend import amend
from sonnx.operators.onnx.conv.contract import CONTRACT
from sonnx.operators.onnx.conv.definition import DEFINITION
from sonnx.operators.onnx.conv.form import FORM
from sonnx.operators.onnx.conv.kernels import kernels
from sonnx.operators.onnx.conv.stablehlo import lower
from sonnx.operators.onnx.conv.trials import clauses, drawn, trials
from sonnx.operators.onnx.conv.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(trials, clauses, drawn, FORM, enclosure, "D-CONV-6", in_jax)
OPERATOR = Operator(
    CONTRACT,
    DEFINITION,
    error_bound=error_bound,
    amend=amend,
    stablehlo=lower,
    kernels=kernels,
    fuses=("limits",),
    trying=TRYING,
)
