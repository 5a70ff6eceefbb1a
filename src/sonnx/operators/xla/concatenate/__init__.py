"""Concatenate: arrays joined along one dimension."""

from sonnx.operators.xla.concatenate.calls import MOVES
from sonnx.operators.xla.concatenate.contract import CONTRACT
from sonnx.operators.xla.concatenate.definition import DEFINITION
from sonnx.operators.xla.concatenate.form import FORM
from sonnx.operators.xla.concatenate.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(form=FORM, jax=in_jax, moves=MOVES)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
