"""What becomes of shapes when arrays are joined along one dimension."""

from collections.abc import Sequence


def joined_shape(shapes: Sequence[tuple[int, ...]], dimension: int) -> tuple[int, ...]:
    """The sizes of the first; along the dimension, the sum of all."""
    first = shapes[0]
    total = sum(shape[dimension] for shape in shapes)
    return (*first[:dimension], total, *first[dimension + 1 :])
