"""Broadcast: an array repeated along new dimensions on its left."""

from sonnx.operators.xla.broadcast.calls import MOVES
from sonnx.operators.xla.broadcast.contract import CONTRACT
from sonnx.operators.xla.broadcast.definition import DEFINITION
from sonnx.operators.xla.broadcast.form import FORM
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(form=FORM, jax="lax.broadcast", moves=MOVES)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
