"""Where the result of a sum may lie that a runtime takes in an order of its own."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sonnx.numeric.arrays import Array


@dataclass(frozen=True)
class Enclosure:
    """All results that some order of summation gives, and no more than can be told of them; by element.

    `special` is a NaN or an infinity where infinities and NaNs among the operands decide the result, else 0.
    `exact` is the sum over the reals, without what is not finite; a result may lie `bound` away from it.
    Where `overflow` is set, a partial sum may leave the range of the type: then an infinity or a NaN may come
    instead, and beside an infinity that is decided a NaN.
    """

    special: Array
    exact: Array
    bound: Array
    overflow: Array

    def holds(self, result: Array) -> Array:
        """Tell for each element whether a result of floats, of the same shape, lies inside."""
        with np.errstate(all="ignore"):  # comparing NaNs of bfloat16 raises a flag
            values = result.astype(np.float64)  # exact for every float type of at most 64 bits
        nan, finite = np.isnan(values), np.isfinite(values)
        decided = np.where(np.isnan(self.special), nan, values == self.special) | (self.overflow & nan)
        near = np.zeros(result.shape, bool)
        near |= ~np.isfinite(self.bound)  # it could not be told; then an overflow is possible too
        for place in zip(*np.nonzero(finite & (self.special == 0) & ~near), strict=True):
            error = abs(Fraction(float(values[place])) - self.exact[place])
            near[place] = error <= Fraction(float(self.bound[place]))
        undecided = np.where(finite, near, self.overflow)
        return np.where(self.special == 0, undecided, decided)
