"""A look at the processor's state: is this IEEE arithmetic, as D-ALL-4 demands?"""

import numpy as np

from sonnx.numeric.arrays import Array


class NotIeeeError(RuntimeError):
    """The process does not compute as IEEE 754 says; no result would be right."""


_FLOATS = (np.float32, np.float64)
_TINY: tuple[Array, ...] = tuple(np.array([np.finfo(t).smallest_subnormal], t) for t in _FLOATS)
_STEPS: tuple[Array, ...] = tuple(np.array([np.finfo(t).eps, -np.finfo(t).eps], t) for t in _FLOATS)


def require_ieee() -> None:
    """Raise NotIeeeError if subnormals are flushed or the rounding is not to nearest even.

    Any library in the process can change that state: one built with `-ffast-math` does so on loading.
    """
    for tiny in _TINY:
        if not (tiny > 0)[0] or not (tiny * tiny.dtype.type(1) > 0)[0]:
            raise NotIeeeError(
                "this process flushes subnormal numbers to zero (a library built with -ffast-math does that "
                "when it is loaded); load it in another process"
            )
    for step in _STEPS:
        one = np.sign(step)
        tie, beyond = one + step * step.dtype.type(0.5), one + step * step.dtype.type(0.75)
        if not (np.array_equal(tie, one) and np.array_equal(beyond, one + step)):
            raise NotIeeeError(
                "this process does not round to nearest, ties to even (something called fesetround); restore "
                "FE_TONEAREST"
            )
