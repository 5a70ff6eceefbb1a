"""Call: a computation applied to arguments."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.call.accuracy import error_bound
from sonnx.operators.xla.call.contract import CONTRACT
from sonnx.operators.xla.call.meaning import meaning

OPERATOR = Operator(CONTRACT, meaning, error_bound)
