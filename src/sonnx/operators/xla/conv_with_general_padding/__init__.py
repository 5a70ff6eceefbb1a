"""ConvWithGeneralPadding: a convolution with strides, padding of any sign and two dilations."""

from sonnx.operators.xla.conv_with_general_padding.accuracy import enclosure, error_bound
from sonnx.operators.xla.conv_with_general_padding.contract import CONTRACT
from sonnx.operators.xla.conv_with_general_padding.definition import DEFINITION
from sonnx.operators.xla.conv_with_general_padding.form import FORM
from sonnx.operators.xla.conv_with_general_padding.stablehlo import lower
from sonnx.operators.xla.conv_with_general_padding.trials import clauses, drawn, trials
from sonnx.operators.xla.conv_with_general_padding.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(trials, clauses, drawn, FORM, enclosure, "D-XLA-5", in_jax)
OPERATOR = Operator(CONTRACT, DEFINITION, error_bound=error_bound, stablehlo=lower, trying=TRYING)
