"""Collapse: the same elements in the same order, counted by fewer indices."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.xla.collapse.shapes import collapsed_shape


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[i, c, k] = X[i, j, k], where c counts the indices j of the collapsed dimensions, the last fastest."""
    X = inputs["operand"]
    return {"output": X.reshape(collapsed_shape(X.shape, list(map(int, attributes["dimensions"]))))}
