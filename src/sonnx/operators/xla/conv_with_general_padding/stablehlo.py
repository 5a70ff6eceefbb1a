"""ConvWithGeneralPadding for XLA: the shared convolution, then one rounding."""

from collections.abc import Mapping
from typing import Any

from sonnx.mlir.operations import Tensor, convert
from sonnx.operators.shared.stablehlo_convolution import convolution
from sonnx.operators.xla.conv_with_general_padding.geometry import sliding


def lower(inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The order of the sum is the engine's; its result is within the bound for any order."""
    X, W = inputs["lhs"], inputs["rhs"]
    return {"output": convert(convolution(X, W, sliding(W, attributes), 1), X.dtype)}
