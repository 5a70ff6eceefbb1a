"""The real domain: values lifted exactly, never rounded."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.numeric.arrays import Array, RealArray, as_array, dtype_of, type_name
from sonnx.numeric.balls import Ball, Real
from sonnx.numeric.environment import require_ieee

_NUMBER = re.compile(
    r"\s*[-+]?(\d+/\d+|(\d[\d_]*)?(\.\d[\d_]*|\.)?([eE](?P<exponent>[-+]?\d+))?)\s*", re.ASCII
)
# Python itself converts no more than 4300 digits, to bound the time that takes.
_LONGEST_TEXT = 4000
# 10**100000 takes 41 kB: larger exponents are mistakes or attacks, and would fill the memory.
_LARGEST_EXPONENT = 100_000
# NumPy's arrays end there.
_DEEPEST = 64

_LIFTED = (*IEEE, DType.BFLOAT16, *INTEGERS)


def real(values: Any) -> RealArray:
    """Lift numbers exactly to an array in the real domain.

    Takes ints, Fractions, Decimals, floats, strings such as "-6.1", "1/3" or "2.5e-3", reals that operators
    gave, nested lists of these, and arrays of floats or integers. Raises ValueError for anything that is no
    real number.
    """
    require_ieee()  # a process that flushes subnormals would lift them to 0
    array = as_array(values)
    if array is None:
        shape, leaves = _nested(values, 0)
        return _array([_element(leaf, index) for index, leaf in enumerate(leaves)], shape)
    lift = _lifter(array, dtype_of(array))
    return _array([lift(value, index) for index, value in enumerate(array.reshape(-1))], array.shape)


def real_text(value: Real) -> str:
    """A real number as text, `-7/3`, `2` or `1.4142...`; Python itself writes no more than 4300 digits."""
    if isinstance(value, Ball):
        return str(value)
    from flint import fmpz  # noqa: PLC0415  whoever only checks a model need not wait until it has loaded

    top = str(fmpz(value.numerator))
    return top if value.denominator == 1 else f"{top}/{fmpz(value.denominator)}"


def _array(values: Sequence[Real], shape: tuple[int, ...]) -> RealArray:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result.reshape(shape).view(RealArray)


def _nested(values: Any, depth: int) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists and their leaves; an array among them stands for the list of its elements."""
    if depth > _DEEPEST:
        raise ValueError(f"sonnx.real: lists are nested more than {_DEEPEST} deep")
    if isinstance(values, np.ndarray):
        lifted = real(values)
        return lifted.shape, list(lifted.reshape(-1))
    if not isinstance(values, (list, tuple)):
        return (), [values]
    parts = [_nested(value, depth + 1) for value in values]
    shapes = {shape for shape, _ in parts} or {()}
    if len(shapes) > 1:
        raise ValueError("sonnx.real: give lists of equal length at every level")
    return (len(parts), *shapes.pop()), [leaf for _, leaves in parts for leaf in leaves]


def _lifter(array: Array, dtype: DType | None) -> Callable[[Any, int], Real]:
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError("sonnx.real: masked elements are no real numbers; give an array without a mask")
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
            f"sonnx.real: element {index} is {float(number)!r}, which is no real number; the real domain has "
            "neither NaN nor infinity"
        ) from None


def _element(value: Any, index: int) -> Real:
    if isinstance(value, str):
        return _text(value, index)
    if isinstance(value, Ball):
        return value
    if isinstance(value, Fraction):
        return Fraction(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(value, index)
    if isinstance(value, np.generic) and dtype_of(np.asarray(value)) in _LIFTED:
        return _number(value, index)
    if isinstance(value, Decimal) and value.is_finite():
        return _text(str(value), index)
    raise ValueError(
        f"sonnx.real: element {index} is of type {type_name(value)}, which is no real number; "
        "give ints, floats, Fractions or decimal strings"
    )


def _text(value: str, index: int) -> Fraction:
    match = _NUMBER.fullmatch(value) if len(value) <= _LONGEST_TEXT else None
    if match and abs(int(match["exponent"] or 0)) <= _LARGEST_EXPONENT:
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            pass  # not a number after all ("", ".", "1/0"): reported below
    raise ValueError(
        f"sonnx.real: element {index} is {value[:40]!r}, which is no decimal number or ratio of integers "
        f"(up to {_LONGEST_TEXT} characters, exponents to {_LARGEST_EXPONENT}); write for example '-6.1', "
        "'1/3' or '2.5e-3'"
    )
