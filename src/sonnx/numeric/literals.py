"""Text forms of numbers that lose nothing: hexadecimal floats, NaN with payload, decimals."""

import re
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import describe, numpy_dtype, type_name
from sonnx.numeric.real import real
from sonnx.numeric.rounding import FORMATS, nearest_bits, number

_HEX = re.compile(
    r"[-+]?0[xX](?P<whole>[0-9a-fA-F]+)(\.(?P<part>[0-9a-fA-F]*))?([pP](?P<exponent>[-+]?[0-9]+))?"
)
_NAN = re.compile(r"[-+]?nan(\((?P<bits>0x[0-9a-fA-F]+)\))?")
# No format reaches exponents of five digits; larger ones would only fill the memory.
_EXPONENT_DIGITS = 5


def format_float(value: Any) -> str:
    """Write a float16, bfloat16, float or double as a literal that reads back to the same bits.

    Finite values are hexadecimal floats as in C99 (`0x1.8p+3`); a NaN shows its fraction field.
    """
    kind, array = describe(value)
    if array is None or kind.dtype not in FORMATS or array.shape != ():
        raise ValueError(f"format_float: needs one float16, bfloat16, float or double, got {kind}")
    form = FORMATS[kind.dtype]
    bits = int(array.view(form.held_as))
    sign = "-" if bits & form.sign_bit else ""
    magnitude = bits & (form.sign_bit - 1)
    exponent, fraction = divmod(magnitude, 1 << (form.precision - 1))
    if magnitude > form.infinity:
        return f"{sign}nan({fraction:#x})"
    if magnitude == form.infinity:
        return f"{sign}inf"
    return sign + _hexadecimal(fraction, exponent, form.precision, form.emin)


def _hexadecimal(fraction: int, exponent: int, precision: int, emin: int) -> str:
    width = (precision - 1 + 3) // 4
    digits = f"{fraction << (4 * width - (precision - 1)):0{width}x}".rstrip("0")
    point = f".{digits}" if digits else ""
    if exponent == 0:
        return f"0x0{point}p{emin:+d}" if digits else "0x0p+0"
    return f"0x1{point}p{exponent - 1 + emin:+d}"


def parse_literal(text: str, dtype: str) -> Any:
    """Read a literal as one element of a type such as "float", rounded once to nearest where it must be.

    Floats: decimals, hexadecimal floats, `inf`, `-inf`, `nan`, `nan(0x1)` with a fraction field. What
    `format_float` writes reads back to the same bits.
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_literal: needs text, got {type_name(text)}")
    if not isinstance(dtype, str) or dtype not in set(DType):
        raise ValueError(f"parse_literal: there are the types {', '.join(DType)}")
    dtype = DType(dtype)
    if dtype is DType.REAL:
        return real(text)[()]
    if dtype in FORMATS:
        return _parse_float(text, dtype)
    if dtype in INTEGERS:
        return _parse_integer(text, dtype)
    raise ValueError(f"literals of type {dtype} are not read from text")


def _parse_integer(text: str, dtype: DType) -> Any:
    info = np.iinfo(numpy_dtype(dtype))
    try:
        value = int(text, 0)
    except ValueError:
        value = None
    if value is None or not text.isascii():
        raise ValueError(f"{text[:40]!r} is no integer")
    if not info.min <= value <= info.max:
        raise ValueError(f"{text[:40]!r} does not fit {dtype}, which holds {info.min} to {info.max}")
    return numpy_dtype(dtype).type(value)


def _parse_float(text: str, dtype: DType) -> Any:
    form = FORMATS[dtype]
    # A literal with a minus sign that is or rounds to zero is the negative zero.
    negative = text.lstrip().startswith("-")
    if text in ("inf", "+inf", "-inf"):
        return number(form.infinity, dtype, negative=negative)
    if match := _NAN.fullmatch(text):
        return number(_nan(match["bits"], dtype), dtype, negative=negative)
    match = _HEX.fullmatch(text)
    value: Any = _hex_value(text, match) if match else real(text)[()]
    return number(nearest_bits(abs(value), form), dtype, negative=negative)


def _hex_value(text: str, match: re.Match[str]) -> Fraction:
    part, exponent = match["part"] or "", match["exponent"] or "0"
    if len(exponent.lstrip("+-")) > _EXPONENT_DIGITS:
        raise ValueError(f"{text[:40]!r} has an exponent that no type holds")
    return Fraction(int(match["whole"] + part, 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))


def _nan(fraction: str | None, dtype: DType) -> int:
    form = FORMATS[dtype]
    if fraction is None:
        return form.quiet_nan
    field = int(fraction, 16)
    if not 0 < field < 1 << (form.precision - 1):
        raise ValueError(
            f"nan({fraction[:40]}) is no NaN of {dtype}: its fraction has {form.precision - 1} bits, "
            "not all 0"
        )
    return form.infinity | field
