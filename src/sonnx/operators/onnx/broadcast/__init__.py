"""Broadcast: tensors are repeated until all have one shape."""

from sonnx.operators.onnx.broadcast.contract import CONTRACT
from sonnx.operators.onnx.broadcast.definition import DEFINITION
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(jax=lambda jax, x, _: jax.numpy.broadcast_arrays(*x.values()))
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
