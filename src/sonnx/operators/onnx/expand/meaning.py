"""Expand: the input, broadcast with a tensor of the given shape that nobody looks into."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.broadcast.meaning import repeat_to
from sonnx.operators.onnx.broadcast.shapes import equal_ranks, largest_sizes


def meaning(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Z = the first result of Broadcast(input, a tensor of shape `shape`); a read-only view."""
    X = inputs["input"]
    aligned = equal_ranks([X.shape, tuple(inputs["shape"].tolist())])
    return {"output": repeat_to(X.reshape(aligned[0]), largest_sizes(aligned))}
