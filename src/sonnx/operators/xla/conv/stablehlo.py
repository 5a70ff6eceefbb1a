"""Conv for XLA: ConvWithGeneralPadding with the padding that SAME or VALID stands for (D-XLA-4)."""

from collections.abc import Mapping
from typing import Any

from sonnx.mlir.operations import Tensor
from sonnx.operators.xla.conv_with_general_padding.geometry import general_attributes
from sonnx.operators.xla.conv_with_general_padding.stablehlo import lower as general_lower


def lower(inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The same with these pairs as padding, and no dilation."""
    return general_lower(inputs, general_attributes(inputs, attributes))
