"""What becomes of a shape when neighbouring dimensions are made into one."""

from collections.abc import Sequence
from math import prod


def collapsed_shape(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    """The sizes before, the product of those collapsed, the sizes after."""
    first, last = dimensions[0], dimensions[-1] + 1
    return (*shape[:first], prod(shape[first:last]), *shape[last:])
