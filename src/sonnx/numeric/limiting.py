"""Comparisons with bounds and of two elements, by NumPy's own functions where those have no choice."""

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.numeric.select import select


def by_comparisons(x: Array, low: Array, high: Array) -> Array:
    """The lower bound for what is below it, then the upper one for what is above that; bits are kept."""
    above = select(x < low, low, x)
    return select(high < above, high, above)


def limited(x: Array, low: Array, high: Array, out: Array | None = None) -> Array:
    """The same bits as `by_comparisons`, for bounds without axes; in `out`, where that is given.

    Implementations of clipping differ on NaN and on zeros of unlike sign; those elements are decided by
    comparisons. Everywhere else these single out one of three values, and each is one sequence of bits.
    """
    lower, upper = low.item(), high.item()
    # Between zeros of unlike sign every element is doubtful, not only a zero.
    if x.dtype == object or lower == upper == 0:
        found = by_comparisons(x, low, high)
        if out is None:
            return found
        out[...] = found
        return out
    # A comparison with a NaN is false: such a bound does not bound.
    least = low if lower == lower else np.asarray(-np.inf, x.dtype)  # noqa: PLR0124  only a NaN differs from itself
    most = high if upper == upper else np.asarray(np.inf, x.dtype)  # noqa: PLR0124  (same)
    found = np.asarray(np.clip(x, least, most, out=out))  # noqa: TID251  doubtful elements are decided below
    if x.dtype.kind in "iu":
        return found
    doubtful = np.asarray(x != x)  # noqa: PLR0124  (same)
    if 0 in (lower, upper):
        doubtful |= x == 0
    if doubtful.any():
        found[doubtful] = by_comparisons(x[doubtful], low, high)
    return found


def larger(a: Array, b: Array, out: Array | None = None) -> Array:
    """The larger of two elements, a NaN for a NaN; of equal ones the later."""
    return _later_of_zeros(np.maximum(a, b, out=out), b)  # noqa: TID251  zeros are decided there, any NaN will do


def smaller(a: Array, b: Array, out: Array | None = None) -> Array:
    """The smaller of two elements, a NaN for a NaN; of equal ones the later."""
    return _later_of_zeros(np.minimum(a, b, out=out), b)  # noqa: TID251  (same)


def _later_of_zeros(chosen: Array, later: Array) -> Array:
    """What was chosen of two; equal numbers are equal in all bits but for zeros."""
    found = np.asarray(chosen)
    if found.dtype.kind == "f":
        # Where both are zero; a zero that was chosen beside something else is the right one.
        doubtful = np.asarray(later == 0)
        if doubtful.any():
            doubtful = doubtful & (found == 0)
            return select(doubtful, later, found, found)
    return found
