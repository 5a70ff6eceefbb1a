"""Clamp: every element limited to the range between two bounds."""

from sonnx.operators.xla.clamp.clauses import before
from sonnx.operators.xla.clamp.contract import CONTRACT
from sonnx.operators.xla.clamp.definition import DEFINITION
from sonnx.operators.xla.clamp.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(jax=in_jax, before=before)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
