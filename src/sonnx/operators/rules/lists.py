"""Lists of integers among the values that attributes have, which may be anything."""

from typing import Any

import numpy as np

_INT64 = range(-(2**63), 2**63)
# No attribute has as many elements; longer lists are not looked through.
LONGEST_LIST = 1000


def elements(value: object) -> list[Any] | None:
    """The elements of a list, a tuple or an array of rank 1, the first thousand; None for anything else."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value[:LONGEST_LIST])
    return None


def integers(value: object) -> tuple[int, ...] | None:
    """A list of integers as a tuple; None for anything else (NaN, 1.5, "1", True)."""
    listed = elements(value)
    if listed is None or not all(map(is_integer, listed)):
        return None
    return tuple(map(int, listed))


def is_integer(value: object) -> bool:
    """Tell whether a value is an integer that int64 holds; True and False are not, nor is a span of time."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, (bool, np.timedelta64)):
        return False
    return int(value) in _INT64
