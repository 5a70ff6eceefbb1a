"""Where the result of a sum may lie that a runtime takes in an order of its own."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from sonnx.numeric.arrays import Array


@dataclass(frozen=True)
class Enclosure:
    """All results that some order of summation gives, and no more than can be told of them; by element.

    `special` is a NaN or an infinity where infinities and NaNs among the operands decide the result, else 0.
    `exact` is the sum over the reals, without what is not finite; a result may lie `bound` away from it.
    Where all orders give one result, this stands there, with a bound of 0, or in `special` if it is infinite.
    Where `above` is set, a partial sum may leave the range of the type upwards, so that +∞ may come instead;
    where `below` is set, downwards, so that -∞ may. A NaN takes infinities of both signs, of which one may
    be decided. Where `positive` is set, a zero is +0, in whatever order it came about.
    """

    special: Array
    exact: Array
    bound: Array
    above: Array
    below: Array
    positive: Array

    def holds(self, result: Array) -> Array:
        """Tell for each element whether a result of floats, of the same shape, lies inside."""
        with np.errstate(all="ignore"):  # comparing NaNs of bfloat16 raises a flag
            values = result.astype(np.float64)  # exact for every float type of at most 64 bits
        above, below = self.above | (self.special == inf), self.below | (self.special == -inf)
        number = self.special == 0
        wanted = np.isnan(self.special) | (above & below)
        infinite = np.where(values > 0, above, below) & (number | (values == self.special))
        other = np.where(np.isnan(values), wanted, infinite)
        finite = number & self._near(values, number) & ~(self.positive & (values == 0) & np.signbit(values))
        return np.asarray(np.where(np.isfinite(values), finite, other))

    def _near(self, values: Array, number: Array) -> Array:
        """Where a finite number among `number` is near enough: in doubles where that is certain."""
        near = ~np.isfinite(self.bound)  # it could not be told
        asked = np.flatnonzero(number & np.isfinite(values) & ~near)
        exact, bound = self.exact.reshape(-1)[asked], self.bound.reshape(-1)[asked]
        value, middle = values.reshape(-1)[asked], np.array([_double(each) for each in exact], np.float64)
        with np.errstate(all="ignore"):
            error = np.abs(value - middle)
            # Far more than all roundings here, of which one is that of the exact sum.
            slack = np.abs(middle) * 2.0**-50 + 2.0**-1060
            found = error * (1 + 2.0**-50) + slack <= bound
            unsure = ~found & ~(error * (1 - 2.0**-50) - slack > bound)
        for place in np.flatnonzero(unsure).tolist():
            found[place] = abs(Fraction(float(value[place])) - exact[place]) <= Fraction(float(bound[place]))
        near.reshape(-1)[asked] = found
        return near


def _double(number: Fraction) -> float:
    """The nearest double; an infinity for what is too large."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
