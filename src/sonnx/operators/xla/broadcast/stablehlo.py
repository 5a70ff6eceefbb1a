"""Broadcast for XLA: the new dimensions come first."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, repeated


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Y[i, j] = X[j]."""
    X = inputs["operand"]
    shape = (*map(int, attributes["broadcast_sizes"]), *X.shape)
    return {"output": repeated(X, shape)}
