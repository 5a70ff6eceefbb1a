"""Clip for XLA: the cases of D-CLIP-1, decided by integers, so that no engine's NaN or zero rules matter."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import INTEGERS, DType
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
)


def lower(inputs: Mapping[str, Tensor], _attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """For integers min(max(input, min), max) is the same as the cases, also where `min` > `max`."""
    x, low, high = (inputs[name] for name in ("input", "min", "max"))
    if x.dtype in INTEGERS:
        above = elementwise("maximum", x, broadcast_to(low, x.shape))
        return {"output": elementwise("minimum", above, broadcast_to(high, x.shape))}
    return {"output": bitcast(_cases(x, low, high), x.dtype)}


def _cases(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The bits of the result; `low` and `high` are scalars."""
    infinity, sign = FORMATS[x.dtype].infinity, FORMATS[x.dtype].sign_bit
    bits = signed_bits(x)
    # In two's complement the bits of -inf are those of inf less the sign bit's weight.
    lower, upper = _effective(low, infinity - sign), _effective(high, infinity)
    least, most = _number(lower, x.dtype), _number(upper, x.dtype)
    crossed = compare("GT", least, most)
    lower, upper, least, most, crossed = (
        broadcast_to(bound, x.shape) for bound in (lower, upper, least, most, crossed)
    )
    number = _number(bits, x.dtype)
    above = select(compare("GT", number, most), upper, bits)
    limited = select(compare("LT", number, least), lower, above)
    return select(is_nan(bits, x.dtype), bits, select(crossed, upper, limited))


def _effective(bound: Tensor, unbounded: int) -> Tensor:
    """The bits of a bound; a NaN does not bound."""
    bits = signed_bits(bound)
    return select(is_nan(bits, bound.dtype), splat(bits, unbounded), bits)


def _number(bits: Tensor, dtype: DType) -> Tensor:
    """Integers in the order of the floats that have these bits; both zeros are 0 (D-CLIP-2)."""
    least = splat(bits, -FORMATS[dtype].sign_bit)
    return select(compare("LT", bits, splat(bits, 0)), elementwise("subtract", least, bits), bits)
