"""IEEE formats, and the one rounding all of them use: to nearest, ties to even (D-ALL-4)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import numpy_dtype


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
    def smallest(self) -> Fraction:
        """The smallest positive (subnormal) number."""
        return Fraction(2) ** (self.emin - self.precision + 1)

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        return (2 - 2 * self.unit_roundoff) * Fraction(2) ** self.emax


FORMATS = {
    DType.FLOAT16: Format(11, -14, 15, np.dtype(np.uint16)),
    DType.FLOAT: Format(24, -126, 127, np.dtype(np.uint32)),
    DType.DOUBLE: Format(53, -1022, 1023, np.dtype(np.uint64)),
}


def nearest(value: Fraction, dtype: DType) -> Any:
    """Round a real number to the type, once; beyond the largest finite number to infinity."""
    magnitude = nearest_bits(abs(value), FORMATS[dtype])
    number: Any = np.array(magnitude, FORMATS[dtype].held_as).view(numpy_dtype(dtype))[()]
    return -number if value < 0 else number


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
    infinity = (form.emax - emin + 2) << (precision - 1)
    return min(bits, infinity)
