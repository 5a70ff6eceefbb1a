"""Binary float formats, and the one rounding all of them use: to nearest, ties to even (D-ALL-4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, hold, numpy_dtype


@dataclass(frozen=True)
class Format:
    """A binary format: `precision` bits of significand, exponents `emin` to `emax` of normal numbers."""

    precision: int
    emin: int
    emax: int
    held_as: np.dtype[Any]

    @property
    def unit_roundoff(self) -> Fraction:
        """The largest relative error of one rounding in the normal range."""
        return Fraction(1, 2**self.precision)

    @property
    def quiet_nan(self) -> int:
        """The encoding of the NaN whose fraction has the first bit alone."""
        return self.infinity | 1 << (self.precision - 2)

    @property
    def smallest(self) -> Fraction:
        """The smallest positive (subnormal) number."""
        return Fraction(2) ** (self.emin - self.precision + 1)

    @property
    def smallest_normal(self) -> Fraction:
        """The smallest positive number that is not subnormal."""
        return Fraction(2) ** self.emin

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        return (2 - 2 * self.unit_roundoff) * Fraction(2) ** self.emax

    @property
    def infinity(self) -> int:
        """The encoding of +∞: the exponent field full of ones; NaNs follow it."""
        return (self.emax - self.emin + 2) << (self.precision - 1)

    @property
    def sign_bit(self) -> int:
        """The encoding of -0."""
        return 1 << (8 * self.held_as.itemsize - 1)


FORMATS = {
    DType.FLOAT16: Format(11, -14, 15, np.dtype(np.uint16)),
    DType.BFLOAT16: Format(8, -126, 127, np.dtype(np.uint16)),
    DType.FLOAT: Format(24, -126, 127, np.dtype(np.uint32)),
    DType.DOUBLE: Format(53, -1022, 1023, np.dtype(np.uint64)),
}

# Where significands of `nearest_bits_of` have their leading bit: two places are left above it, so that
# half a unit can be added, and every shift that matters is below 64.
LEADING = 61


def nearest(value: Fraction, dtype: DType) -> Any:
    """Round a real number to the type, once; beyond the largest finite number to infinity."""
    return number(nearest_bits(abs(value), FORMATS[dtype]), dtype, negative=value < 0)


def rounded_array(values: Sequence[int], kind: TensorType) -> Array:
    """The array of a known type and shape whose elements are these numbers, or one, each rounded once."""
    assert kind.dtype is not None
    assert kind.sizes is not None  # it is known
    held = np.empty(len(values), numpy_dtype(kind.dtype))
    for place, value in enumerate(values):
        exact = Fraction(value)
        held[place] = nearest(exact, kind.dtype) if kind.dtype in FORMATS else exact
    whole = np.full(kind.sizes, held[0], held.dtype) if len(values) == 1 else held.reshape(kind.sizes)
    return hold(whole, kind.dtype)


def number(magnitude: int, dtype: DType, *, negative: bool) -> Any:
    """The number with this sign and this encoding of its magnitude; any bits will do, also those of a NaN."""
    form = FORMATS[dtype]
    bits = magnitude | form.sign_bit if negative else magnitude
    return np.array(bits, form.held_as).view(numpy_dtype(dtype))[()]


def nearest_bits(magnitude: Fraction, form: Format) -> int:
    """The encoding of the number nearest to a real number ≥ 0."""
    if not magnitude:
        return 0
    precision, emin = form.precision, form.emin
    top, bottom = magnitude.numerator, magnitude.denominator
    exponent = top.bit_length() - bottom.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    last_place = max(exponent, emin) - (precision - 1)
    significand = round(magnitude / Fraction(2) ** last_place)  # int: Python rounds ties to even
    # Significands below 2^(precision-1) are subnormal; one that rounded up to 2^precision carries
    # into the exponent field by itself.
    fields = max(exponent, emin) - emin
    bits = (fields << (precision - 1)) + significand
    return min(bits, form.infinity)


def nearest_bits_of(significand: Array, exponent: Array, form: Format) -> Array:
    """The encodings (uint64) of the numbers nearest to significand · 2^(exponent - 61), element by element.

    It mirrors `nearest_bits` in integer arithmetic on arrays. Significands (uint64) lie in [2^61, 2^62), or
    are 0 with an exponent (int64) of at most `emin`. What was cut off below a significand's last bit must be
    noted by that bit being 1: no format keeps it, so that it only tells more than a tie from a tie.
    """
    below = form.emin - exponent
    places: Any = np.uint64(LEADING + 1 - form.precision)
    if (below > 0).any():
        drop = LEADING + 1 - form.precision + np.where(below > 0, below, 0)
        # After 63 places and after any larger number of them, less than half a unit is left.
        places = np.where(drop > 63, 63, drop).view(np.uint64)
    one = np.uint64(1)
    odd = (significand >> places) & one
    rounded = (significand + (odd + ((one << (places - one)) - one))) >> places
    fields = np.where(below < 0, -below, 0).view(np.uint64)
    bits = (fields << np.uint64(form.precision - 1)) + rounded
    infinity = np.uint64(form.infinity)
    return np.where(bits > infinity, infinity, bits)
