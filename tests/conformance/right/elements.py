"""Elements as numbers that can be compared, and as bits: by arithmetic on integers and fractions."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

Array = Any


@dataclass(frozen=True)
class Form:
    """A float type: so many bits in all, and so many of them for the fraction."""

    bits: int
    fraction: int

    @property
    def raw(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.bits // 8}")

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction)

    @property
    def quiet(self) -> int:
        """The first bit of the fraction, which is 1 in a quiet NaN."""
        return 1 << (self.fraction - 1)

    @property
    def step(self) -> int:
        """The power of two between neighbouring subnormal numbers."""
        return 2 - (1 << (self.bits - self.fraction - 2)) - self.fraction


FORMS = {
    np.dtype(np.float16): Form(16, 10),
    np.dtype(ml_dtypes.bfloat16): Form(16, 7),
    np.dtype(np.float32): Form(32, 23),
    np.dtype(np.float64): Form(64, 52),
}
# Real and imaginary part, one after the other.
PARTS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}


def number(array: Array) -> Array:
    """Floats as doubles, which hold them all; everything else as it is."""
    with np.errstate(all="ignore"):
        return array.astype(np.float64) if array.dtype in FORMS else array


def is_nan(array: Array) -> Array:
    return np.isnan(number(array)) if array.dtype in FORMS else np.zeros(array.shape, bool)


def by_parts(change: Callable[[Array, Form], Array]) -> Callable[[Array], Array]:
    """Change the bits of floats, of a complex number those of both parts; other types stay."""

    def changed(array: Array) -> Array:
        kind = PARTS.get(array.dtype, array.dtype)
        form = FORMS.get(kind)
        if form is None:
            return array
        raw = np.ascontiguousarray(array).reshape(-1).view(form.raw)
        return change(raw, form).astype(form.raw).view(array.dtype).reshape(array.shape)

    return changed


def to_even(whole: int, rest: Fraction) -> int:
    """The nearer one of `whole` and the next, where `rest` of the way between them is left."""
    return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))


def encoded(value: Fraction, form: Form, choose: Callable[[int, Fraction], int] = to_even) -> int:
    """The bits of the number next to a fraction; which one of two, `choose` says."""
    if not value:
        return 0
    size = abs(value)
    # The power of two of the last bit: the first one that leaves no more bits than the type has.
    power = max(size.numerator.bit_length() - size.denominator.bit_length() - form.fraction - 1, form.step)
    while size >= Fraction(2) ** (power + form.fraction + 1):
        power += 1
    whole, rest = divmod(size / Fraction(2) ** power, 1)
    # Encodings count on: the numbers of one exponent follow those of the one before.
    bits = min(((power - form.step) << form.fraction) + choose(whole, rest), form.infinity)
    return bits | (form.sign if value < 0 else 0)
