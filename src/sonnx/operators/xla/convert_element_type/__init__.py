"""ConvertElementType: every element converted to another type."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.convert_element_type.accuracy import error_bound
from sonnx.operators.xla.convert_element_type.contract import CONTRACT
from sonnx.operators.xla.convert_element_type.meaning import meaning
from sonnx.operators.xla.convert_element_type.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
