"""Expand: one tensor is broadcast to a given shape, explicitly in a graph."""

from sonnx.operators.onnx.expand.calls import MOVES
from sonnx.operators.onnx.expand.contract import CONTRACT
from sonnx.operators.onnx.expand.definition import DEFINITION
from sonnx.operators.onnx.expand.form import FORM
from sonnx.operators.onnx.expand.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(form=FORM, jax=in_jax, moves=MOVES)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
