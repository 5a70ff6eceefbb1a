"""Call: a computation applied to arguments."""

from sonnx.operators.xla.call.contract import CONTRACT
from sonnx.operators.xla.call.meaning import error_bound, meaning
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, meaning=meaning, error_bound=error_bound)
