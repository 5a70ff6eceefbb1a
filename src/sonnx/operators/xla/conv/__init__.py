"""Conv: a convolution padded by a word, SAME or VALID."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.conv.accuracy import error_bound
from sonnx.operators.xla.conv.contract import CONTRACT
from sonnx.operators.xla.conv.meaning import meaning
from sonnx.operators.xla.conv.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
