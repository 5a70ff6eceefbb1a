"""Text forms of numbers that lose nothing: hexadecimal floats, NaN with payload, decimals."""

import re
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.numeric.arrays import describe, numpy_dtype, type_name
from sonnx.numeric.real import real
from sonnx.numeric.rounding import FORMATS, nearest

_HEX = re.compile(
    r"[-+]?0[xX](?P<whole>[0-9a-fA-F]+)(\.(?P<part>[0-9a-fA-F]*))?([pP](?P<exponent>[-+]?[0-9]+))?"
)
_NAN = re.compile(r"(?P<sign>[-+]?)nan(\((?P<bits>0x[0-9a-fA-F]+)\))?")
# No format reaches exponents of five digits; larger ones would only fill the memory.
_EXPONENT_DIGITS = 5


def format_float(value: Any) -> str:
    """Write a float16, float or double as a literal that reads back to the same bits.

    Finite values are hexadecimal floats as in C99 (`0x1.8p+3`); a NaN shows its fraction field.
    """
    kind, number = describe(value)
    if number is None or kind.dtype not in IEEE or number.shape != ():
        raise ValueError(f"format_float: needs one float16, float or double, got {kind}")
    form = FORMATS[kind.dtype]
    bits = int(number.view(form.held_as))
    fraction = bits & ((1 << (form.precision - 1)) - 1)
    sign = "-" if bits >> (8 * number.dtype.itemsize - 1) else ""
    if np.isnan(number):
        return f"{sign}nan({fraction:#x})"
    if np.isinf(number):
        return f"{sign}inf"
    exponent = (bits >> (form.precision - 1)) & ((1 << (number.dtype.itemsize * 8 - form.precision)) - 1)
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
    if dtype in IEEE:
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
    special = {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
    if text in special:
        return numpy_dtype(dtype).type(special[text])
    if match := _NAN.fullmatch(text):
        return _nan(match["sign"] == "-", match["bits"], dtype)
    match = _HEX.fullmatch(text)
    value: Any = _hex_value(text, match) if match else real(text)[()]
    # A literal with a minus sign that is or rounds to zero is the negative zero.
    negative = text.lstrip().startswith("-")
    number: Any = nearest(abs(value), dtype)
    return -number if negative else number


def _hex_value(text: str, match: re.Match[str]) -> Fraction:
    part, exponent = match["part"] or "", match["exponent"] or "0"
    if len(exponent.lstrip("+-")) > _EXPONENT_DIGITS:
        raise ValueError(f"{text[:40]!r} has an exponent that no type holds")
    return Fraction(int(match["whole"] + part, 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))


def _nan(negative: bool, fraction: str | None, dtype: DType) -> Any:
    form = FORMATS[dtype]
    quiet = 1 << (form.precision - 2)
    field = quiet if fraction is None else int(fraction, 16)
    if not 0 < field < 1 << (form.precision - 1):
        raise ValueError(
            f"nan({fraction}) is no NaN of {dtype}: its fraction has {form.precision - 1} bits, not all 0"
        )
    exponent = form.emax - form.emin + 2
    bits = (exponent << (form.precision - 1)) | field
    bits |= int(negative) << (8 * form.held_as.itemsize - 1)
    return np.array(bits, form.held_as).view(numpy_dtype(dtype))[()]
