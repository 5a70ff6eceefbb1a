"""Clip and Clamp, case by case as their pages say."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tests.conformance.right.elements import FORMS, Array, is_nan, number
from tests.conformance.right.moving import Attributes, Operands

Compare = Callable[[Array, Array], Array]


def clip(operands: Operands, _attributes: Attributes) -> Array:
    x, low, high = (operands[name] for name in ("input", "min", "max"))
    return chosen(x, low, high, clip_cases(number(x), number(low), number(high)))


@dataclass(frozen=True)
class Cases:
    """Where the output is min, where it is max; elsewhere the input stays."""

    low: Array
    high: Array


def clip_cases(x: Array, low: Array, high: Array) -> Cases:
    floats = x.dtype.kind == "f"
    least = np.array(-np.inf) if floats and np.isnan(low) else low
    most = np.array(np.inf) if floats and np.isnan(high) else high
    with np.errstate(invalid="ignore"):
        nan = is_nan(x)
        if least > most:
            return Cases(np.zeros(x.shape, bool), ~nan)
        return Cases(x < least, x > most)


def chosen(x: Array, low: Array, high: Array, cases: Cases) -> Array:
    """Bits of the input and of the bounds."""
    output = x.copy()
    output[cases.low] = np.broadcast_to(low, x.shape)[cases.low]
    output[cases.high] = np.broadcast_to(high, x.shape)[cases.high]
    return output


def clamp(operands: Operands, _attributes: Attributes) -> Array:
    return clamped(operands["operand"], operands["min"], operands["max"])


def clamped(x: Array, low: Array, high: Array) -> Array:
    low, high = (np.broadcast_to(bound, x.shape) for bound in (low, high))
    return one_of(one_of(x, low, _above), high, _below)


def one_of(a: Array, b: Array, wins: Compare) -> Array:
    """What wins of two, in IEEE 754-2019's sense; a NaN always does."""
    with np.errstate(invalid="ignore"):
        takes_b = (wins(b, a) & ~is_nan(a)) | is_nan(b)
    output = a.copy()
    output[takes_b] = b[takes_b]
    return output


def _above(a: Array, b: Array) -> Array:
    a_value, b_value = number(a), number(b)
    above: Array = a_value > b_value
    if a.dtype in FORMS:
        above |= (a_value == b_value) & ~np.signbit(a_value) & np.signbit(b_value)
    return above


def _below(a: Array, b: Array) -> Array:
    return _above(b, a)
