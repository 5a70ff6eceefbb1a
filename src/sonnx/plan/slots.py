"""Tensors that are never needed at the same time share memory."""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush


@dataclass(frozen=True)
class Lifetime:
    """A tensor that is made at step `first` and needed for the last time at step `last`.

    Only tensors of one `kind` may share memory; `size` counts whatever the kind counts.
    """

    name: str
    kind: str
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Slots:
    """Pieces of memory by number, each with its kind and size, and the number of the one of each tensor."""

    sizes: tuple[tuple[str, int], ...]
    places: Mapping[str, int]


def assign(lifetimes: Sequence[Lifetime]) -> Slots:
    """Give each tensor the free slot that wastes least, else the one to grow least, else a new one."""
    sizes: list[tuple[str, int]] = []
    places: dict[str, int] = {}
    free: dict[str, list[tuple[int, int]]] = {}
    taken: list[tuple[int, int]] = []  # (last step, slot), as a heap
    for tensor in sorted(lifetimes, key=lambda each: each.first):
        while taken and taken[0][0] < tensor.first:
            _, slot = heappop(taken)
            kind, size = sizes[slot]
            insort(free.setdefault(kind, []), (size, slot))
        places[tensor.name] = slot = _take(free.get(tensor.kind, []), tensor.size, len(sizes))
        if slot == len(sizes):
            sizes.append((tensor.kind, tensor.size))
        sizes[slot] = tensor.kind, max(sizes[slot][1], tensor.size)
        heappush(taken, (tensor.last, slot))
    return Slots(tuple(sizes), places)


def _take(free: list[tuple[int, int]], size: int, new: int) -> int:
    """Take the smallest free slot that is large enough, or the largest, out of a list by size."""
    if not free:
        return new
    index = min(bisect_left(free, (size, -1)), len(free) - 1)
    return free.pop(index)[1]
