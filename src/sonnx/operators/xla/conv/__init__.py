"""Conv: a convolution padded by a word, SAME or VALID."""

from sonnx.operators.xla.conv.accuracy import enclosure, error_bound
from sonnx.operators.xla.conv.contract import CONTRACT
from sonnx.operators.xla.conv.definition import DEFINITION
from sonnx.operators.xla.conv.stablehlo import lower
from sonnx.operators.xla.conv.trials import clauses, drawn, trials
from sonnx.operators.xla.conv_with_general_padding.form import FORM
from sonnx.operators.xla.conv_with_general_padding.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(trials, clauses, drawn, FORM, enclosure, "D-XLA-5", in_jax)
OPERATOR = Operator(CONTRACT, DEFINITION, error_bound=error_bound, stablehlo=lower, trying=TRYING)
