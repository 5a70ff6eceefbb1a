"""Cast: every element converted to another type."""

from sonnx.operators.onnx.cast.contract import CONTRACT
from sonnx.operators.onnx.cast.definition import DEFINITION
from sonnx.operators.shared.converting import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

OPERATOR = Operator(CONTRACT, DEFINITION, trying=Trying(jax=in_jax, converts_to="to"))
