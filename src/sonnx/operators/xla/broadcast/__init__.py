"""Broadcast: an array repeated along new dimensions on its left."""

from sonnx.operators.xla.broadcast.contract import CONTRACT
from sonnx.operators.xla.broadcast.definition import DEFINITION
from sonnx.vocabulary.moves import Moves
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

_MOVES = Moves(
    ("D-XLA-6",),
    rest="The new dimensions come before those of the operand.",
    again="At every index of the new dimensions the operand is there again.",
)
TRYING = Trying(jax="lax.broadcast", moves=_MOVES)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
