"""Collapse: neighbouring dimensions made into one."""

from sonnx.operators.xla.collapse.calls import MOVES
from sonnx.operators.xla.collapse.contract import CONTRACT
from sonnx.operators.xla.collapse.definition import DEFINITION
from sonnx.operators.xla.collapse.form import FORM
from sonnx.operators.xla.collapse.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(form=FORM, jax=in_jax, moves=MOVES)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
