"""Conv: ConvWithGeneralPadding with the padding that SAME or VALID stands for (D-XLA-4)."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.xla.conv_with_general_padding.geometry import LEADING, resolved
from sonnx.operators.xla.conv_with_general_padding.meaning import meaning as general_meaning


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y = ConvWithGeneralPadding(X, W) with these pairs as padding, and no dilation."""
    return general_meaning(inputs, general_attributes(inputs, attributes))


def general_attributes(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes of ConvWithGeneralPadding that say the same."""
    base, window = (inputs[name].shape[LEADING:] for name in ("lhs", "rhs"))
    strides = tuple(map(int, attributes["window_strides"]))
    ones = (1,) * len(base)
    return {
        **attributes,
        "padding": resolved(attributes["padding"], base, window, strides),
        "lhs_dilation": ones,
        "rhs_dilation": ones,
    }
