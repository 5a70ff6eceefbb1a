"""Fused multiply-add, correctly rounded on every machine: no hardware instruction is relied upon.

float: the product of two floats is exact in double, and the sum is rounded to odd before the last
rounding, which is then innocuous. double: error-free transformations and one rounding to odd (the
method of Boldo and Melquiond), and exact rational arithmetic where exponents leave their safe range.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.rounding import nearest

# A double that lies half-way between two floats has 1 and then 28 zeros below the float's last bit.
_BELOW_FLOAT = np.uint64(2**29 - 1)
_HALF_WAY = np.uint64(2**28)
# Where a sum may be a subnormal float, ties lie elsewhere: all such sums take the careful path.
_FLOAT_SUBNORMAL = 2.0**-125

# Inside these bounds no step of the error-free transformations under- or overflows.
_SAFE_OPERAND = 2.0**990
_SAFE_SMALL, _SAFE_LARGE = 2.0**-900, 2.0**1000
_SPLIT = 2.0**27 + 1


def fma(a: Array, b: Array, c: Array) -> Array:
    """Compute a·b + c with one rounding, element by element, on float or double arrays."""
    with np.errstate(all="ignore"):
        if a.dtype == np.float32:
            return _fma_float(a, b, c)
        return _fma_double(*np.broadcast_arrays(a, b, c))


def _fma_float(a: Array, b: Array, c: Array) -> Array:
    product, addend = np.broadcast_arrays(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
    total = product + addend
    result: Array = np.asarray(total.astype(np.float32))
    half_way = (np.asarray(total).view(np.uint64) & _BELOW_FLOAT) == _HALF_WAY
    doubt = half_way | (np.abs(total) < _FLOAT_SUBNORMAL)
    if doubt.any():
        result[doubt] = _add_to_odd(product[doubt], addend[doubt]).astype(np.float32)
    return result


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded product and its exact error (Dekker, with Veltkamp's splitting)."""
    product = x * y
    x_high, y_high = _upper_half(x), _upper_half(y)
    x_low, y_low = x - x_high, y - y_high
    error = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return product, error


def _upper_half(x: Array) -> Array:
    scaled = _SPLIT * x
    return scaled - (scaled - x)


def _add_to_odd(x: Array, y: Array) -> Array:
    """Add with rounding to odd: an inexact sum becomes the neighbour whose last bit is 1."""
    total, error = _two_sum(x, y)
    raw = np.asarray(total).view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((raw & 1) == 0)
    # Bits grow with the magnitude, so a step in the direction of the error is +1 or -1.
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact, raw + step, raw).view(np.float64)


def _fma_double(a: Array, b: Array, c: Array) -> Array:
    result = np.asarray(_fma_error_free(a, b, c))
    product = np.abs(a * b)
    safe = (np.abs(a) <= _SAFE_OPERAND) & (np.abs(b) <= _SAFE_OPERAND) & (np.abs(c) <= _SAFE_LARGE)
    unsafe = ~(safe & (product >= _SAFE_SMALL) & (product <= _SAFE_LARGE))
    if unsafe.any():
        result[unsafe] = _fma_case_by_case(a[unsafe], b[unsafe], c[unsafe])
    return result


def _fma_case_by_case(a: Array, b: Array, c: Array) -> Array:
    product = a * b
    # Right wherever the product is exact: a factor is zero, infinite or NaN.
    result = product + c
    plain = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b)
    # A finite product, even one too large to round, never outweighs an infinite or NaN addend.
    result = np.where(~plain & ~np.isfinite(c), c, result)
    # Nothing is added, so the rounded product is the answer, with its own sign if it vanishes.
    result = np.where(~plain & (c == 0), product, result)
    rest = ~plain & np.isfinite(c) & (c != 0)
    result[rest] = [_fma_exact(*abc) for abc in zip(a[rest], b[rest], c[rest], strict=True)]
    return result


def _fma_error_free(a: Array, b: Array, c: Array) -> Array:
    product, product_error = _two_product(a, b)
    inner, inner_error = _two_sum(c, product_error)
    outer, outer_error = _two_sum(product, inner)
    return outer + _add_to_odd(inner_error, outer_error)


def _fma_exact(a: Any, b: Any, c: Any) -> Any:
    return nearest(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)), DType.DOUBLE)
