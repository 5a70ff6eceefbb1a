"""Broadcast for XLA: the new dimensions come first."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, broadcast_to


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Y[i, j] = X[j]."""
    X = inputs["operand"]
    return {"output": broadcast_to(X, (*map(int, attributes["broadcast_sizes"]), *X.shape))}
