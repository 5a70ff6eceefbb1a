"""ConvertElementType for XLA: its own conversion, and exact steps where that departs from D-XLA-3.

XLA rounds doubles, and integers of 32 bits and more, twice on their way to f16 and bf16 (first to f32), and
looks at the real part alone where a complex number becomes pred.
"""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import XLA_TYPES, DType
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.stablehlo import (
    Tensor,
    bitcast,
    compare,
    convert,
    elementwise,
    select,
    splat,
    with_number,
)

_DOUBLE = FORMATS[DType.DOUBLE]
_FRACTION = _DOUBLE.precision - 1
_NARROW = (DType.FLOAT16, DType.BFLOAT16)
# Integers beyond 2^24, which float does not hold.
_WIDE = (DType.INT32, DType.UINT32, DType.INT64, DType.UINT64)
# Where the last bits of a long integer are gathered in one, so that 53 bits are left.
_GATHERED = 12


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Convert once."""
    x, target = inputs["operand"], XLA_TYPES[attributes["new_element_type"]]
    if x.dtype in PART and target is DType.BOOL:
        return {"output": compare("NE", x, splat(x, 0))}
    if x.dtype is DType.DOUBLE and target in _NARROW:
        return {"output": _narrow(x, target)}
    # An integer that f16 does not round to infinity is held by float.
    if x.dtype in _WIDE and target is DType.BFLOAT16:
        return {"output": _narrow(_as_double(x), target)}
    return {"output": convert(x, target)}


def _as_double(x: Tensor) -> Tensor:
    """Integers as doubles that lie on the same side of every number with few bits as they do.

    Beyond 2^53 the last twelve bits become one, which says whether any was set: numbers of 53 bits remain.
    """
    if x.dtype in (DType.INT32, DType.UINT32):
        return convert(x, DType.DOUBLE)
    last = (1 << _GATHERED) - 1
    some = compare("NE", with_number("and", x, last), splat(x, 0))
    rest = elementwise("subtract", x, with_number("and", x, last))
    gathered = select(some, with_number("or", rest, 1 << (_GATHERED - 1)), rest)
    large = compare("GT", x, splat(x, 2**_DOUBLE.precision))
    if x.dtype is DType.INT64:
        large = elementwise("or", large, compare("LT", x, splat(x, -(2**_DOUBLE.precision))))
    return convert(select(large, gathered, x), DType.DOUBLE)


def _narrow(x: Tensor, target: DType) -> Tensor:
    """Round doubles once, to nearest even, by integer arithmetic on their bits."""
    form = FORMATS[target]
    bits = bitcast(x, DType.INT64)
    magnitude = with_number("and", bits, _DOUBLE.sign_bit - 1)
    exponent = with_number("shift_right_logical", magnitude, _FRACTION)
    fraction = with_number("and", magnitude, 2**_FRACTION - 1)
    significand = with_number("or", fraction, 2**_FRACTION)
    # The smallest normal number of the target has this exponent; below it fewer bits are left.
    least, cut = form.emin - _DOUBLE.emin + 1, _DOUBLE.precision - form.precision
    below = elementwise("subtract", splat(exponent, least + cut), exponent)
    places = with_number("minimum", with_number("maximum", below, cut), 63)
    rounded = elementwise("shift_right_logical", _with_half(significand, places), places)
    # The leading bit of the significand counts as one in the field of the exponent.
    steps = with_number("maximum", with_number("subtract", exponent, least), 0)
    encoded = elementwise("add", with_number("shift_left", steps, form.precision - 1), rounded)
    finite = with_number("minimum", encoded, form.infinity)
    nan = compare("GT", magnitude, splat(magnitude, _DOUBLE.infinity))
    quiet = form.infinity | 1 << (form.precision - 2)
    unsigned = select(nan, splat(finite, quiet), finite)
    sign = with_number("and", with_number("shift_right_logical", bits, 64 - 16), form.sign_bit)
    return bitcast(convert(elementwise("or", unsigned, sign), DType.UINT16), target)


def _with_half(significand: Tensor, places: Tensor) -> Tensor:
    """Add what makes cutting off so many places a rounding to nearest, ties to even."""
    half = elementwise("shift_left", splat(places, 1), with_number("subtract", places, 1))
    odd = with_number("and", elementwise("shift_right_logical", significand, places), 1)
    return elementwise("add", elementwise("add", significand, with_number("subtract", half, 1)), odd)
