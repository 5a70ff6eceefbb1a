"""A look at the processor's state: is this IEEE arithmetic, as D-ALL-4 demands?"""

from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array


class NotIeeeError(RuntimeError):
    """The process does not compute as IEEE 754 says; no result would be right."""


_FLOATS: tuple[Any, ...] = (np.float32, np.float64)


def _line(kind: Any, *values: float) -> Array:
    return np.array(values, kind)


# The least number, and one: the product is that number, unless it is flushed on the way in or out.
_SUBNORMAL = tuple((np.finfo(t).smallest_subnormal.reshape(1), _line(t, 1)) for t in _FLOATS)
# Numbers of both signs and steps from them: half a step is a tie, and goes to the even one, which is where it
# came from; three quarters of it go further. Each other way to round gets one of these sums wrong.
_EPSILON = {t: float(np.finfo(t).eps) for t in _FLOATS}
_ROUNDED = tuple(
    (
        _line(t, 1, -1, 1, -1),
        _line(t, e / 2, -e / 2, 3 * e / 4, -3 * e / 4),
        _line(t, 1, -1, 1 + e, -1 - e).tobytes(),
    )
    for t, e in _EPSILON.items()
)


def require_ieee() -> None:
    """Raise NotIeeeError if subnormals are flushed or the rounding is not to nearest even.

    Any library in the process can change that state: one built with `-ffast-math` does so on loading.
    Bytes are compared, because comparisons of numbers hang on that state too.
    """
    for tiny, one in _SUBNORMAL:
        if (tiny * one).tobytes() != tiny.tobytes():
            raise NotIeeeError(
                "this process flushes subnormal numbers to zero (a library built with -ffast-math does that "
                "when it is loaded); load it in another process"
            )
    for number, step, rounded in _ROUNDED:
        if (number + step).tobytes() != rounded:
            raise NotIeeeError(
                "this process does not round to nearest, ties to even (something called fesetround); restore "
                "FE_TONEAREST"
            )
