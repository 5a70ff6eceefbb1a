"""Clamp for XLA: minimum and maximum of IEEE 754-2019, found by integers.

XLA's own clamp flushes subnormal numbers; where its compiler has leave to find minima and maxima fast, it
also overlooks a NaN and takes one zero for the other.
"""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import DType
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.stablehlo import (
    Tensor,
    bitcast,
    broadcast_to,
    compare,
    elementwise,
    is_nan,
    select,
    signed_bits,
    splat,
    with_number,
)


def lower(inputs: Mapping[str, Tensor], _attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Y = minimum(maximum(X, L), M)."""
    x = inputs["operand"]
    bounds = [inputs[name] for name in ("min", "max")]
    if x.dtype not in FORMATS:
        low, high = (broadcast_to(bound, x.shape) for bound in bounds)
        return {"output": elementwise("minimum", elementwise("maximum", x, low), high)}
    bits = [broadcast_to(signed_bits(tensor), x.shape) for tensor in (x, *bounds)]
    places = [_place(tensor, x.dtype) for tensor in bits]
    inside = elementwise("minimum", elementwise("maximum", *places[:2]), places[2])
    result = _place(inside, x.dtype)
    for tensor in reversed(bits):  # the first NaN counts
        result = select(is_nan(tensor, x.dtype), tensor, result)
    return {"output": bitcast(result, x.dtype)}


def _place(bits: Tensor, dtype: DType) -> Tensor:
    """Integers in the order of the floats that have these bits, -0 right before +0; its own inverse."""
    negative = compare("LT", bits, splat(bits, 0))
    return select(negative, with_number("xor", bits, FORMATS[dtype].sign_bit - 1), bits)
