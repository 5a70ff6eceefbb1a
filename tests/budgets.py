"""How many examples a property is tried on: few in `make test`, more in `make test-all`."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
deep = False


def examples(number: int) -> int:
    """The number for the tier that runs; a fifth of it, and five at least, in the quick one."""
    return number if deep else min(number, max(5, number // 5))


def thinned(values: Sequence[T], most: int = 2000) -> Sequence[T]:
    """All values in the deep tier; in the quick one that many, evenly spread, both ends among them."""
    if deep or len(values) <= most:
        return values
    return [values[k * (len(values) - 1) // (most - 1)] for k in range(most)]
