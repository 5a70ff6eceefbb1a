"""Sum: the first tensor, and one Add for each further one."""

from collections.abc import Sequence
from itertools import pairwise

from sonnx.operators.onnx.add import OPERATOR as ADD
from sonnx.operators.onnx.identity import OPERATOR as IDENTITY
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyNode


def body(call: Call) -> Sequence[BodyNode]:
    """((X0 + X1) + X2) + ..., every sum rounded; a single tensor stays (D-SUM)."""
    first, *further = call.inputs
    if not further:
        return (BodyNode(IDENTITY, (first,), ("sum",)),)
    sums = [first, *(f"sum_{m}" for m in range(1, len(further))), "sum"]
    return tuple(
        BodyNode(ADD, (before, term), (after,))
        for (before, after), term in zip(pairwise(sums), further, strict=True)
    )
