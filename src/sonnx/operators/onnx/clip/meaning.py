"""Clip by cases (D-CLIP-1, D-CLIP-2), one definition for every type."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.numeric.blocks import by_blocks
from sonnx.numeric.select import select


def meaning(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Limit every element of `input`: output = cases(input, min, max)."""
    low, high = effective_bounds(inputs["min"], inputs["max"])
    return {"output": by_blocks(partial(quickly, low=low, high=high), inputs["input"])}


def effective_bounds(low: Array, high: Array) -> tuple[Array, Array]:
    """A NaN bound does not bound: `min` counts as -inf then, `max` as +inf."""
    return (
        np.asarray(-np.inf, low.dtype) if is_nan(low) else low,
        np.asarray(np.inf, high.dtype) if is_nan(high) else high,
    )


def cases(x: Array, *, low: Array, high: Array) -> Array:
    """Decide by comparisons alone, in this order; "otherwise" keeps the bits of the input."""
    if low > high:
        return select(is_nan(x), x, high)
    return select(x < low, low, select(x > high, high, x))  # a NaN compares false: it stays


def quickly(x: Array, out: Array, *, low: Array, high: Array) -> None:
    """Fill `out` with `cases`, by NumPy's vectorised function where that has no choice.

    Implementations of clipping differ on NaN and on zeros of unlike sign; those elements are decided by
    `cases`. Everywhere else comparisons single out one of three values, and each is one sequence of bits.
    """
    # Between zeros of unlike sign every element is doubtful, not only a zero.
    if x.dtype == object or low == high == 0:
        out[...] = cases(x, low=low, high=high)
        return
    np.clip(x, low, high, out=out)  # noqa: TID251  doubtful elements are decided below
    doubtful = is_nan(x)
    if low == 0 or high == 0:
        doubtful |= x == 0
    if doubtful.any():
        out[doubtful] = cases(x[doubtful], low=low, high=high)


def is_nan(x: Array) -> Array:
    """Only a NaN differs from itself; integers and reals never do."""
    return np.asarray(x != x)  # noqa: PLR0124  that comparison is the definition
