"""Conv for XLA: the shared convolution, then the bias, then one rounding."""

from collections.abc import Mapping
from typing import Any

from sonnx.mlir.operations import Tensor, broadcast_in_dim, convert, elementwise
from sonnx.operators.onnx.conv.geometry import sliding
from sonnx.operators.shared.stablehlo_convolution import convolution


def lower(inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The order of the sum is the engine's; its result is within the bound for any order."""
    X, W, B = inputs["X"], inputs["W"], inputs.get("B")
    Y = convolution(X, W, sliding(W, attributes), int(attributes["group"]))
    if B is not None:
        Y = elementwise("add", Y, broadcast_in_dim(convert(B, Y.dtype), Y.shape, [1]))
    return {"Y": convert(Y, X.dtype)}
