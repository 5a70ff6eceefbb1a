"""Collapse: neighbouring dimensions made into one."""

from sonnx.operators.xla.collapse.contract import CONTRACT
from sonnx.operators.xla.collapse.definition import DEFINITION
from sonnx.vocabulary.moves import Moves
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

_MOVES = Moves(("D-XLA-6",), "The elements stay in their order, the last index fastest.")
TRYING = Trying(
    jax=lambda jax, x, told: jax.lax.collapse(
        x["operand"], told["dimensions"][0], told["dimensions"][-1] + 1
    ),
    moves=_MOVES,
)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
