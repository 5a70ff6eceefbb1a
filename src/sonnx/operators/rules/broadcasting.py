"""The common shape of tensors, and constraint C1 on it."""

from collections.abc import Mapping, Sequence

from sonnx.vocabulary.rule import Broken, Shown

Shape = tuple[int, ...]


def equal_ranks(shapes: Sequence[Shape]) -> list[Shape]:
    """Step 1: prepend sizes 1 until every shape is as long as the longest."""
    rank = max(map(len, shapes), default=0)
    return [(1,) * (rank - len(shape)) + shape for shape in shapes]


def largest_sizes(shapes: Sequence[Shape]) -> Shape:
    """Step 2: on each axis the largest size of all tensors (shapes of equal length)."""
    return tuple(max(sizes) for sizes in zip(*shapes, strict=True))


def broadcast_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The common shape, or None where C1 fails: a size is the largest on its axis, or 1.

    A size 0 beside a size 1 fails: the largest is 1, and 0 is neither (D-BCAST-2).
    """
    aligned = equal_ranks(shapes)
    target = largest_sizes(aligned)
    fits = all(size in (largest, 1) for shape in aligned for size, largest in zip(shape, target, strict=True))
    return target if fits else None


def disagreeing(shapes: Mapping[str, Shape], shown: Mapping[str, str]) -> Broken | None:
    """How shapes break C1; `shown` is what messages say of each."""
    if broadcast_shape(list(shapes.values())) is not None:
        return None
    aligned = equal_ranks(list(shapes.values()))
    target = largest_sizes(aligned)
    values = tuple(
        Shown(name, shown[name], misfits(shape, target)) for name, shape in zip(shapes, aligned, strict=True)
    )
    return Broken(values, "give each axis one size, or size 1 (counted from the last axis)")


def misfits(shape: Shape, target: Shape) -> str:
    """Name the sizes of one shape (of full rank) that C1 refuses, by their place counted from the end."""
    places = [
        f"size {size} on axis {axis - len(shape)}, where the largest is {largest}"
        for axis, (size, largest) in enumerate(zip(shape, target, strict=True))
        if size not in (largest, 1)
    ]
    return "; ".join(places)
