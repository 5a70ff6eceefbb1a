"""Broadcast: the operand again for every index of the new dimensions."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.broadcast.meaning import repeat_to


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[i, j] = X[j], where i indexes the new dimensions and j those of X; a read-only view."""
    X = inputs["operand"]
    new = tuple(map(int, attributes["broadcast_sizes"]))
    return {"output": repeat_to(X.reshape((1,) * len(new) + X.shape), new + X.shape)}
