"""How far an IEEE convolution may lie from the exact one: the analysis that all convolutions share."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.shared.convolution_accuracy import convolution_bound, convolution_enclosure
from sonnx.operators.xla.conv_with_general_padding.geometry import sliding


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """Bound |IEEE result - exact result|; +inf where it may be no finite number, or an integer may wrap."""
    X, W = inputs["lhs"], inputs["rhs"]
    axes = sliding(W, attributes)
    return {"output": convolution_bound(X, W, None, axes, 1, attributes["accumulate"], order)}


def enclosure(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Enclosure]:
    """Where the results on floats lie of all orders of summation."""
    X, W = inputs["lhs"], inputs["rhs"]
    return {"output": convolution_enclosure(X, W, None, sliding(W, attributes), 1)}
