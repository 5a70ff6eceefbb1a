"""Concatenate: arrays joined along one dimension."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.concatenate.accuracy import error_bound
from sonnx.operators.xla.concatenate.contract import CONTRACT
from sonnx.operators.xla.concatenate.meaning import meaning
from sonnx.operators.xla.concatenate.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
