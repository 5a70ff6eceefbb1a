"""Broadcast: an array repeated along new dimensions on its left."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.broadcast.accuracy import error_bound
from sonnx.operators.xla.broadcast.contract import CONTRACT
from sonnx.operators.xla.broadcast.meaning import meaning
from sonnx.operators.xla.broadcast.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
