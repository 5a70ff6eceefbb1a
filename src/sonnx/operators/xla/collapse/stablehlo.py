"""Collapse for XLA: a reshape."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, moved, reshape
from sonnx.operators.xla.collapse.shapes import collapsed_shape


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The same elements, counted by fewer indices."""
    X = inputs["operand"]
    shape = collapsed_shape(X.shape, list(map(int, attributes["dimensions"])))
    return {"output": moved(lambda x: reshape(x, shape), X)}
