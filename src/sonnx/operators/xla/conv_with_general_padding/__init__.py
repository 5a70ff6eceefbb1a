"""ConvWithGeneralPadding: a convolution with strides, padding of any sign and two dilations."""

from sonnx.operators.shared.convolution_form import convolution_form
from sonnx.operators.xla.conv_with_general_padding.contract import CONTRACT
from sonnx.operators.xla.conv_with_general_padding.definition import DEFINITION
from sonnx.operators.xla.conv_with_general_padding.geometry import GENERAL
from sonnx.operators.xla.conv_with_general_padding.trials import drawn, trials
from sonnx.operators.xla.conv_with_general_padding.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

_SIMPLEST = {"window_strides": 1, "lhs_dilation": 1, "rhs_dilation": 1, "padding": 0}
FORM = convolution_form(GENERAL, _SIMPLEST)
TRYING = Trying(trials, GENERAL.clauses, drawn, FORM, GENERAL.enclosure, "D-XLA-5", in_jax)
OPERATOR = Operator(
    CONTRACT, DEFINITION, error_bound=GENERAL.error_bound, stablehlo=GENERAL.lower, trying=TRYING
)
