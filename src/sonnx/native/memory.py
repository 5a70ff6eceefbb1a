"""Memory for tensors: one arena for what lives while a program runs, and results that are used again."""

import ctypes
from collections.abc import Mapping
from sys import getrefcount
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.plan.program import ALIGNMENT
from sonnx.plan.slots import Slots

# Results of one kind that are kept: one that the caller may still hold, and one for the next run.
_KEPT = 2


# An object in C that takes no memory, for the place where it lies.
_NOTHING: Any = ctypes.c_char * 0


def aligned(size: int) -> Array:
    """So many bytes, beginning at a multiple of a cache line; all zero, as kernels leave gaps unwritten.

    A gap reaches no result, but what is emitted as C holds the gaps of constants too.
    """
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    begin = -address(raw) % ALIGNMENT
    return raw[begin : begin + size]


def address(array: Array) -> int:
    """Where the first element lies."""
    try:
        return ctypes.addressof(_NOTHING.from_buffer(array))
    except (TypeError, ValueError):  # nobody may write there; NumPy takes three times as long
        return array.ctypes.data


def offsets(slots: Slots) -> tuple[Mapping[str, int], int]:
    """Where in one arena each tensor lies, and how large the arena is."""
    begins = [0]
    for _, size in slots.sizes:
        begins.append(begins[-1] + size)
    return {name: begins[slot] for name, slot in slots.places.items()}, begins[-1]


def _unheld(kept: list[tuple[Array, int]], free: int) -> tuple[Array, int] | None:
    """An array that so many hold; every array that a caller was given holds the one whose memory it has."""
    for whole, where in kept:
        if getrefcount(whole) == free:
            return whole, where
    return None


# How many are counted where no caller holds it, which differs between versions of Python.
_FREE = next(count for count in range(1, 9) if _unheld([(np.empty(0), 0)], count))


class Results:
    """Memory for one result. What no caller holds any more is used again: fresh memory is slow."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        """Begin with nothing."""
        self._shape = shape
        self._dtype = dtype
        self._kept: list[tuple[Array, int]] = []

    def take(self) -> tuple[Array, int]:
        """An array that nobody else holds, and where it lies; its elements are whatever was there."""
        unheld = _unheld(self._kept, _FREE)
        if unheld is not None:
            return unheld[0].view(), unheld[1]
        whole = np.empty(self._shape, self._dtype)
        where = address(whole)
        if len(self._kept) < _KEPT:
            self._kept.append((whole, where))
            return whole.view(), where
        return whole, where
