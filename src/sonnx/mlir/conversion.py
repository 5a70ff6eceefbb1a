"""Conversions on XLA: its own, and exact steps where that departs from D-XLA-3.

On its way to bf16, XLA rounds doubles and integers of 32 bits and more twice, first to f32, and so doubles to
f16. It takes subnormal numbers for 0, also doubles that f32 rounds up to its smallest normal number. Where a
complex number becomes pred it looks at the real part alone.
"""

from sonnx.mlir.operations import (
    Tensor,
    bitcast,
    compare,
    complex_of,
    convert,
    elementwise,
    parts,
    select,
    signed_bits,
    splat,
    with_number,
)
from sonnx.model.dtype import DType
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS

_DOUBLE = FORMATS[DType.DOUBLE]
_FRACTION = _DOUBLE.precision - 1
# Float types narrower than double, and what holds their bits.
_WORDS = {DType.FLOAT16: DType.UINT16, DType.BFLOAT16: DType.UINT16, DType.FLOAT: DType.UINT32}
# Integers beyond 2^24, which float does not hold.
_WIDE = (DType.INT32, DType.UINT32, DType.INT64, DType.UINT64)
# How many of the last bits of a long integer become one, so that 53 bits are left.
_GATHERED = 12


def converted(x: Tensor, target: DType) -> Tensor:
    """The elements in another type, each rounded once (D-XLA-3)."""
    if x.dtype in PART:
        return _from_complex(x, target)
    if target in PART:
        return convert(converted(x, PART[target]), target)
    if x.dtype in FORMATS and target is DType.BOOL:
        magnitude = with_number("and", signed_bits(x), FORMATS[x.dtype].sign_bit - 1)
        return compare("NE", magnitude, splat(magnitude, 0))
    if x.dtype is DType.DOUBLE and target in _WORDS:
        return _narrow(x, target)
    if x.dtype in (DType.BFLOAT16, DType.FLOAT) and target is DType.DOUBLE:
        return _widen(convert(x, DType.FLOAT))
    # Float holds every integer that f16 does not round to infinity; so f16 is rounded to once.
    if x.dtype in _WIDE and target is DType.BFLOAT16:
        return _narrow(_as_double(x), target)
    return convert(x, target)


def _from_complex(x: Tensor, target: DType) -> Tensor:
    if x.dtype is target:
        return x
    real, imaginary = (converted(part, PART.get(target, target)) for part in parts(x))
    return complex_of(real, imaginary) if target in PART else elementwise("or", real, imaginary)


def _widen(x: Tensor) -> Tensor:
    """Floats as doubles; a subnormal one is its bits, as an integer, times the smallest float."""
    form = FORMATS[DType.FLOAT]
    bits = signed_bits(x)
    magnitude = with_number("and", bits, form.sign_bit - 1)
    wide, count = convert(x, DType.DOUBLE), convert(magnitude, DType.DOUBLE)
    negative = compare("LT", bits, splat(bits, 0))
    unit = select(negative, splat(wide, -float(form.smallest)), splat(wide, float(form.smallest)))
    small = compare("LT", magnitude, splat(magnitude, 1 << (form.precision - 1)))
    return select(small, elementwise("multiply", count, unit), wide)


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
    unsigned = select(nan, splat(finite, form.quiet_nan), finite)
    places_above = 64 - 8 * form.held_as.itemsize
    sign = with_number("and", with_number("shift_right_logical", bits, places_above), form.sign_bit)
    return bitcast(convert(elementwise("or", unsigned, sign), _WORDS[target]), target)


def _with_half(significand: Tensor, places: Tensor) -> Tensor:
    """Add what makes cutting off so many places a rounding to nearest, ties to even."""
    half = elementwise("shift_left", splat(places, 1), with_number("subtract", places, 1))
    odd = with_number("and", elementwise("shift_right_logical", significand, places), 1)
    return elementwise("add", elementwise("add", significand, with_number("subtract", half, 1)), odd)
