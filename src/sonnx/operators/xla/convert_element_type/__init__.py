"""ConvertElementType: every element converted to another type."""

from sonnx.operators.shared.converting import in_jax
from sonnx.operators.xla.convert_element_type.contract import CONTRACT
from sonnx.operators.xla.convert_element_type.definition import DEFINITION
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import StandIn, Trying

TRYING = Trying(jax=in_jax, asked_as=StandIn("Cast", "to"), converts_to="new_element_type")
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
