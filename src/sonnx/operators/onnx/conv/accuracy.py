"""How far an IEEE convolution may lie from the exact one: the analysis that all convolutions share."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.conv.meaning import sliding
from sonnx.operators.shared.convolution_accuracy import convolution_bound


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """Bound |IEEE result - exact result| for each element; +inf where the result may be no finite number."""
    X, W, B = inputs["X"], inputs["W"], inputs.get("B")
    axes, group = sliding(W, attributes), int(attributes["group"])
    return {"Y": convolution_bound(X, W, B, axes, group, attributes["accumulate"], order)}
