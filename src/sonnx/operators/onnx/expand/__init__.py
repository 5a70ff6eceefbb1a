"""Expand: one tensor is broadcast to a given shape, explicitly in a graph."""

from sonnx.operators.onnx.expand.contract import CONTRACT
from sonnx.operators.onnx.expand.definition import DEFINITION
from sonnx.operators.rules.broadcasting import equal_ranks, largest_sizes
from sonnx.vocabulary.moves import Moves
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

_MOVES = Moves(
    ("D-BCAST-1", "D-BCAST-2"),
    rest="Elements keep their place, counted from the last axis.",
    again="Along an axis of size 1 the one element is given at every index.",
)
TRYING = Trying(
    jax=lambda jax, x, _: jax.numpy.broadcast_to(
        x["input"], largest_sizes(equal_ranks([x["input"].shape, tuple(map(int, x["shape"]))]))
    ),
    moves=_MOVES,
)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
