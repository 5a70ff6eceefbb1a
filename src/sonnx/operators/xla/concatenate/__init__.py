"""Concatenate: arrays joined along one dimension."""

from sonnx.operators.xla.concatenate.contract import CONTRACT
from sonnx.operators.xla.concatenate.definition import DEFINITION
from sonnx.vocabulary.moves import Moves
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

_MOVES = Moves(
    ("D-XLA-2",),
    rest="An operand begins where those before it end.",
    first="The first operand comes first, its elements in their order.",
    beyond=frozenset({"xla.concatenate.operands.D7"}),
)
TRYING = Trying(
    jax=lambda jax, x, told: jax.lax.concatenate(list(x.values()), told["dimension"]), moves=_MOVES
)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
