"""Accuracy of operators that move values and calculate nothing."""

import numpy as np

from sonnx.numeric.arrays import Array


def no_error(shape: tuple[int, ...]) -> Array:
    """A bound of 0 for every element: the result is exact, NaN and infinities included."""
    return np.zeros(shape, np.float64)
