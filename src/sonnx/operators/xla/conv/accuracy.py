"""As accurate as ConvWithGeneralPadding with the same padding."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.xla.conv_with_general_padding.accuracy import enclosure as general_enclosure
from sonnx.operators.xla.conv_with_general_padding.accuracy import error_bound as general_error_bound
from sonnx.operators.xla.conv_with_general_padding.geometry import general_attributes


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """Bound |IEEE result - exact result|; +inf where it may be no finite number, or an integer may wrap."""
    return general_error_bound(inputs, general_attributes(inputs, attributes), order)


def enclosure(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Enclosure]:
    """Where the results on floats lie of all orders of summation."""
    return general_enclosure(inputs, general_attributes(inputs, attributes))
