"""How far an IEEE convolution may lie from the exact one: the analysis that all convolutions share."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.onnx.conv.geometry import sliding
from sonnx.operators.shared.convolution_accuracy import convolution_bound, convolution_enclosure


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """Bound |IEEE result - exact result| for each element; +inf where the result may be no finite number."""
    X, W, B = inputs["X"], inputs["W"], inputs.get("B")
    axes, group = sliding(W, attributes), int(attributes["group"])
    return {"Y": convolution_bound(X, W, B, axes, group, attributes["accumulate"], order)}


def enclosure(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Enclosure]:
    """Where the results lie of all orders of summation."""
    X, W, B = inputs["X"], inputs["W"], inputs.get("B")
    return {"Y": convolution_enclosure(X, W, B, sliding(W, attributes), int(attributes["group"]))}
