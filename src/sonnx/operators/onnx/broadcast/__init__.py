"""Broadcast: tensors are repeated until all have one shape."""

from sonnx.operators.onnx.broadcast.contract import CONTRACT
from sonnx.operators.onnx.broadcast.definition import DEFINITION
from sonnx.operators.onnx.broadcast.witness import in_jax
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(jax=in_jax)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
