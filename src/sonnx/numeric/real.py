"""The real domain: values lifted exactly, never rounded."""

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.numeric.arrays import Array, RealArray, dtype_of

_DECIMAL = re.compile(r"\s*[-+]?(\d[\d_]*)?(\.\d[\d_]*|\.)?([eE](?P<exponent>[-+]?\d+))?\s*")
_RATIO = re.compile(r"\s*[-+]?\d+\s*/\s*\d+\s*")
# 10**100000 takes 41 kB: larger exponents are mistakes or attacks, and would fill the memory.
_LARGEST_EXPONENT = 100_000

_LIFTED = (*IEEE, DType.BFLOAT16, *INTEGERS)


def real(values: Any) -> RealArray:
    """Lift numbers exactly to an array in the real domain.

    Takes ints, Fractions, Decimals, floats, strings such as "-6.1", "1/3" or "2.5e-3", nested lists
    of these, and arrays of floats or integers. Raises ValueError for anything that is no real number.
    """
    listed = isinstance(values, (list, tuple))
    array: Array = np.array(values, dtype=object) if listed else np.asanyarray(values)
    lift = _lifter(array, dtype_of(array))
    result = np.empty(array.size, dtype=object)
    result[:] = [lift(value, index) for index, value in enumerate(array.flat)]
    return result.reshape(array.shape).view(RealArray)


def _lifter(array: Array, dtype: DType | None) -> Callable[[Any, int], Fraction]:
    if dtype in _LIFTED:
        return _number
    if dtype in (DType.REAL, DType.STRING) or array.dtype == np.dtype(object):
        return _element
    raise ValueError(
        f"sonnx.real: an array of {array.dtype} holds no real numbers; give floats, integers, "
        "Fractions or decimal strings"
    )


def _number(value: Any, index: int) -> Fraction:
    number = value.item() if hasattr(value, "item") else value
    try:
        return Fraction(number if isinstance(number, int) else float(number))
    except (ValueError, OverflowError):
        raise ValueError(
            f"sonnx.real: element {index} is {value}, which is no real number; the real domain has "
            "neither NaN nor infinity"
        ) from None


def _element(value: Any, index: int) -> Fraction:
    if isinstance(value, str):
        return _text(value, index)
    if isinstance(value, Fraction):
        return Fraction(value)
    if isinstance(value, (int, np.integer, float, np.floating)) and not isinstance(value, bool):
        return _number(value, index)
    if isinstance(value, Decimal) and value.is_finite():
        return _text(str(value), index)
    raise ValueError(
        f"sonnx.real: element {index} is {value!r} ({type(value).__name__}), which is no real number; "
        "give ints, floats, Fractions or decimal strings, in lists of equal length"
    )


def _text(value: str, index: int) -> Fraction:
    match = _DECIMAL.fullmatch(value)
    exponent = int(match["exponent"] or 0) if match else 0
    try:
        if (match or _RATIO.fullmatch(value)) and abs(exponent) <= _LARGEST_EXPONENT:
            return Fraction(value)
    except (ValueError, ZeroDivisionError):
        pass  # not a number after all ("", ".", "1/0"): reported below
    raise ValueError(
        f"sonnx.real: element {index} is {value[:40]!r}, which is no decimal number or ratio of integers "
        f"(exponents go to {_LARGEST_EXPONENT}); write for example '-6.1', '1/3' or '2.5e-3'"
    )
