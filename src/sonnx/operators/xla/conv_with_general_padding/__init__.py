"""ConvWithGeneralPadding: a convolution with strides, padding of any sign and two dilations."""

from sonnx.model.operator import Operator
from sonnx.operators.xla.conv_with_general_padding.accuracy import error_bound
from sonnx.operators.xla.conv_with_general_padding.contract import CONTRACT
from sonnx.operators.xla.conv_with_general_padding.meaning import meaning
from sonnx.operators.xla.conv_with_general_padding.stablehlo import lower

OPERATOR = Operator(CONTRACT, meaning, error_bound, stablehlo=lower)
