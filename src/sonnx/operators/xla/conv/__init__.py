"""Conv: a convolution padded by a word, SAME or VALID."""

from sonnx.operators.shared.convolution_form import convolution_form
from sonnx.operators.xla.conv.contract import CONTRACT
from sonnx.operators.xla.conv.definition import DEFINITION
from sonnx.operators.xla.conv.trials import drawn, trials
from sonnx.operators.xla.conv_with_general_padding.geometry import BY_WORD, VALID
from sonnx.operators.xla.conv_with_general_padding.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

FORM = convolution_form(BY_WORD, {"window_strides": 1, "padding": 0}, {"padding": VALID})
TRYING = Trying(trials, BY_WORD.clauses, drawn, FORM, BY_WORD.enclosure, "D-XLA-5", in_jax)
OPERATOR = Operator(
    CONTRACT, DEFINITION, error_bound=BY_WORD.error_bound, stablehlo=BY_WORD.lower, trying=TRYING
)
