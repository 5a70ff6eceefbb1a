"""Clamp: every element limited to the range between two bounds."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.clamp.accuracy import error_bound
from sonnx.operators.xla.clamp.contract import CONTRACT
from sonnx.operators.xla.clamp.meaning import meaning
from sonnx.operators.xla.clamp.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
