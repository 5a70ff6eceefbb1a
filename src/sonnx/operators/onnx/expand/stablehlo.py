"""Expand for XLA: broadcast_in_dim along the last axes."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.onnx.broadcast.shapes import equal_ranks, largest_sizes
from sonnx.operators.shared.stablehlo import Tensor, repeated


def lower(inputs: Mapping[str, Any], _attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The shape is known, so it is no operand."""
    X: Tensor = inputs["input"]
    shape = largest_sizes(equal_ranks([X.shape, tuple(inputs["shape"].tolist())]))
    return {"output": repeated(X, shape)}
