"""Memory for tensors: one arena for what lives while a program runs, and results that are used again."""

import sys
from collections.abc import Mapping
from threading import Lock

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.plan.program import ALIGNMENT
from sonnx.plan.slots import Slots

# Results of one kind that are kept: one that the caller may still hold, and one for the next run.
_KEPT = 2


def aligned(size: int) -> Array:
    """So many bytes, beginning at a multiple of a cache line."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    begin = -address(raw) % ALIGNMENT
    return raw[begin : begin + size]


def address(array: Array) -> int:
    """Where the first element lies."""
    begin: int = array.__array_interface__["data"][0]
    return begin


def offsets(slots: Slots) -> tuple[Mapping[str, int], int]:
    """Where in one arena each tensor lies, and how large the arena is."""
    begins = [0]
    for _, size in slots.sizes:
        begins.append(begins[-1] + size)
    return {name: begins[slot] for name, slot in slots.places.items()}, begins[-1]


class Results:
    """Arrays for results. Memory that no caller holds any more is used again: fresh memory is slow."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept: dict[tuple[tuple[int, ...], str], list[Array]] = {}
        self._lock = Lock()

    def take(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
        """An array that nobody else holds; its elements are whatever was there."""
        with self._lock:
            kept = self._kept.setdefault((shape, dtype.str), [])
            for whole in kept:
                # Held by the list, by `whole`, and by the call itself: by no view that a caller was given.
                if sys.getrefcount(whole) == 3:
                    return whole.view(dtype).reshape(shape)
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            whole = np.empty(size, np.uint8)
            if len(kept) < _KEPT:
                kept.append(whole)
            return whole.view(dtype).reshape(shape)
