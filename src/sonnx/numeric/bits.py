"""Comparison of arrays by their bits, and distances in units in the last place."""

from typing import Any, Literal

import numpy as np

from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.arrays import Array, describe
from sonnx.numeric.rounding import FORMATS

NanRule = Literal["bits", "any"]

# Stands for "no number of steps leads from a NaN to a number".
NO_DISTANCE = np.uint64(2**64 - 1)


def same_bits(left: Any, right: Any, *, nan: NanRule = "bits") -> bool:
    """Tell whether two arrays have one type, one shape and the same bits.

    With `nan="any"` two NaNs are the same whatever their bits: that is the rule for computed NaNs
    (D-ALL-4); moved values keep every bit. Reals and strings are compared as values.
    """
    if not isinstance(nan, str) or nan not in ("bits", "any"):
        raise ValueError('same_bits: write nan="bits" or nan="any"')
    (left_type, a), (right_type, b) = describe(left), describe(right)
    if a is None or b is None:
        bad = left_type if a is None else right_type
        raise ValueError(f"same_bits: {bad} is no array of one of the profile's types; give NumPy arrays")
    if left_type != right_type:
        return False
    return not differing(a, b, nan=nan).any()


def differing(a: Array, b: Array, *, nan: NanRule) -> Array:
    """Tell which elements of two arrays of one type and shape are not the same, as for `same_bits`."""
    if a.dtype == np.dtype(object):
        return np.asarray(a != b, dtype=bool)
    parts_a, parts_b = _parts(a), _parts(b)
    equal: Array = _raw(parts_a) == _raw(parts_b)
    if nan == "any":
        with np.errstate(invalid="ignore"):  # comparing NaNs of bfloat16 raises a flag
            # Only a NaN differs from itself.
            equal |= (parts_a != parts_a) & (parts_b != parts_b)  # noqa: PLR0124  that is the definition
    # An element is the same if all its parts are.
    same = equal.reshape(a.size, len(equal) // a.size if a.size else 1).all(axis=1)
    return np.asarray(~same.reshape(a.shape))


def _parts(array: Array) -> Array:
    """Real and imaginary parts of complex elements, so that each is a float of its own."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind == "c":
        return flat.view(f"f{array.dtype.itemsize // 2}")
    return flat


def _raw(flat: Array) -> Array:
    return flat.view(f"u{flat.dtype.itemsize}")


def ulp_distance(left: Any, right: Any) -> Array:
    """Count the steps between neighbouring floats from one array to the other, element by element.

    Both zeros are the same step; two NaNs are 0 apart; a NaN and a number are 2^64 - 1 apart.
    """
    (left_type, a), (right_type, b) = describe(left), describe(right)
    if left_type != right_type or a is None or b is None or left_type.dtype not in IEEE:
        raise ValueError(
            f"ulp_distance: needs two arrays of one float type and shape, got {left_type} and {right_type}"
        )
    place_a, place_b = _place(a, left_type.dtype), _place(b, left_type.dtype)
    steps = np.where(place_a > place_b, place_a - place_b, place_b - place_a)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    return np.where(nan_a & nan_b, np.uint64(0), np.where(nan_a | nan_b, NO_DISTANCE, steps))


def _place(array: Array, dtype: DType) -> Array:
    """Number the floats in the order of their values, from 0 upwards, with one place for both zeros."""
    raw = np.ascontiguousarray(array).view(FORMATS[dtype].held_as).astype(np.uint64)
    sign = np.uint64(1 << (8 * array.dtype.itemsize - 1))
    magnitude = raw & (sign - np.uint64(1))
    return np.where(raw & sign, sign - magnitude, sign + magnitude).reshape(array.shape)
