"""Collapse: neighbouring dimensions made into one."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.collapse.accuracy import error_bound
from sonnx.operators.xla.collapse.contract import CONTRACT
from sonnx.operators.xla.collapse.meaning import meaning
from sonnx.operators.xla.collapse.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
