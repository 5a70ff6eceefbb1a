"""A second definition of conversion (D-XLA-3), one element at a time, on bits and Fractions.

Rounding looks for the two neighbours of a number among all encodings by bisection, and takes the nearer
one; it shares nothing with `sonnx.numeric.rounding`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sonnx.model.dtype import SIGNED, UNSIGNED, DType


@dataclass(frozen=True)
class Layout:
    """A float format by IEEE 754-2019, 3.4; bfloat16 is the upper half of a float."""

    width: int
    fraction: int
    bias: int

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction)


LAYOUTS = {
    DType.FLOAT16: Layout(16, 10, 15),
    DType.BFLOAT16: Layout(16, 7, 127),
    DType.FLOAT: Layout(32, 23, 127),
    DType.DOUBLE: Layout(64, 52, 1023),
}
INTEGER_WIDTHS = dict(zip(SIGNED + UNSIGNED, (8, 16, 32, 64) * 2, strict=True))
WIDTHS = {DType.BOOL: 8, **INTEGER_WIDTHS, **{dtype: form.width for dtype, form in LAYOUTS.items()}}
SCALARS = tuple(WIDTHS)


def ends(dtype: DType) -> tuple[int, int]:
    width = INTEGER_WIDTHS[dtype]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if dtype in SIGNED else (0, (1 << width) - 1)


def magnitude(bits: int, form: Layout) -> Fraction:
    """The number ≥ 0 with this encoding; that of infinity reads as the power of two it replaces."""
    field, fraction = bits >> form.fraction, bits % (1 << form.fraction)
    if field == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - form.bias - form.fraction)
    return (1 + Fraction(fraction, 1 << form.fraction)) * Fraction(2) ** (field - form.bias)


@lru_cache(maxsize=100_000)
def nearest_encoding(number: Fraction, form: Layout) -> int:
    """The encoding nearest to a number ≥ 0, of two equally near ones the even one."""
    if number >= magnitude(form.infinity, form):
        return form.infinity
    low, high = 0, form.infinity
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(middle, form) <= number else (low, middle)
    down, up = number - magnitude(low, form), magnitude(high, form) - number
    if down == up:
        return low if low % 2 == 0 else high
    return low if down < up else high


def integer(bits: int, dtype: DType) -> int:
    width = WIDTHS[dtype]
    return bits - (1 << width) if dtype in SIGNED and bits >> (width - 1) else bits


def converted(bits: int, source: DType, target: DType) -> int:
    """The encoding in `target` of the element with the encoding `bits` in `source`; neither is complex."""
    if source in LAYOUTS:
        return _float_converted(bits, source, target)
    value = int(bits != 0) if source is DType.BOOL else integer(bits, source)
    if target is DType.BOOL:
        return int(value != 0)
    if target in INTEGER_WIDTHS:
        return value % (1 << WIDTHS[target])
    return real_converted(Fraction(value), target)


def _float_converted(bits: int, source: DType, target: DType) -> int:
    if source is target:
        return bits
    form = LAYOUTS[source]
    negative, rest = divmod(bits, form.sign)
    if target is DType.BOOL:
        return int(rest != 0)
    if rest > form.infinity:
        return _nan(negative, rest - form.infinity, form, target)
    if rest == form.infinity:
        if target in LAYOUTS:
            return LAYOUTS[target].infinity + negative * LAYOUTS[target].sign
        return ends(target)[0 if negative else 1] % (1 << WIDTHS[target])
    if target in LAYOUTS and negative:
        return LAYOUTS[target].sign + nearest_encoding(magnitude(rest, form), LAYOUTS[target])
    return real_converted(magnitude(rest, form) * (-1 if negative else 1), target)


def _nan(negative: int, payload: int, form: Layout, target: DType) -> int:
    if target in INTEGER_WIDTHS:
        return 0
    to = LAYOUTS[target]
    field = Fraction(payload, 1 << form.fraction) * (1 << to.fraction)
    quiet = 1 << (to.fraction - 1)
    return negative * to.sign + to.infinity + (int(field) | quiet)


def real_converted(value: Fraction, target: DType) -> int:
    """The encoding in `target` of a real number, which has no negative zero."""
    if target is DType.BOOL:
        return int(value != 0)
    if target in INTEGER_WIDTHS:
        low, high = ends(target)
        towards_zero = abs(value).__floor__() * (1 if value > 0 else -1)
        return sorted((low, towards_zero, high))[1] % (1 << WIDTHS[target])
    form = LAYOUTS[target]
    return nearest_encoding(abs(value), form) + (form.sign if value < 0 else 0)
