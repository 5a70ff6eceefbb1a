"""Figures of the Broadcast page: the two steps, an example with values, and what is refused."""

from collections.abc import Iterator, Sequence

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    GREEN,
    GREEN_INK,
    ORANGE,
    ORANGE_INK,
    PLAIN,
    RED,
    RED_INK,
    SOFT,
    Cell,
    Look,
    arrow,
    check_mark,
    cross,
    grid,
    line,
    text,
)
from sonnx.operators.onnx.broadcast.meaning import f
from sonnx.operators.onnx.broadcast.shapes import broadcast_shape, equal_ranks, largest_sizes

Sizes = tuple[int, ...]

_SHAPES: tuple[Sizes, ...] = ((2, 3, 4), (3, 1), ())


def _written(sizes: Sizes) -> str:
    return "(" + ", ".join(str(size) for size in sizes) + ("," if len(sizes) == 1 else "") + ")"


def _index(letters: Sequence[str]) -> str:
    """Write an index; a tensor of rank 0 has the empty one, which is not written."""
    return "[" + ", ".join(letters) + "]" if letters else ""


def _step1() -> Iterator[str]:
    rank = max(len(sizes) for sizes in _SHAPES)
    left, side = 250, 58
    yield text(44, 34, "given", bold=True)
    yield text(left + rank * side / 2, 34, "rank made equal", bold=True, anchor="middle")
    yield text(480, 34, "same elements", bold=True)
    for axis in range(rank):
        centre = left + side * (axis + 0.5)
        yield text(centre, 62, f"axis {axis}", size=12, ink=SOFT, anchor="middle")
    for row, (sizes, ranked) in enumerate(zip(_SHAPES, equal_ranks(_SHAPES), strict=True)):
        top = 78 + 58 * row
        middle = top + 20
        added = rank - len(sizes)
        cells = [Cell(str(size), ORANGE if axis < added else PLAIN) for axis, size in enumerate(ranked)]
        yield text(44, middle, f"X{row}", size=15, mono=True, bold=True)
        yield text(80, middle, _written(sizes), size=14, mono=True)
        yield arrow(184, middle, 232, middle)
        yield grid(left, top, [cells], side, 40)
        own = _index("ijk"[added:])
        index = f"Y{row}{_index('0' * added + 'ijk'[added:])} = X{row}{own}"
        yield text(480, middle, index, size=14, mono=True)
    yield grid(44, 266, [[Cell("1", ORANGE)]], 26)
    yield text(82, 279, "size 1 put in front: its only index is 0, so no element moves")


def _reads(left: float, size: int, common: int, look: Look) -> Iterator[str]:
    """Draw for each index of Z along one axis which index of Y it reads."""
    side = 48
    read = [f(index, size, common) for index in range(common)]
    below = left + (common - size) * side / 2
    for index, source in enumerate(read):
        start = left + side * (index + 0.5)
        # Arrows into one cell end side by side, else their heads would hide one another.
        spread = 0.0 if size == common else 8 * (index - (common - 1) / 2)
        yield arrow(start, 110, below + side * (source + 0.5) + spread, 168)
    yield grid(left, 70, [[Cell(str(index), GREEN) for index in range(common)]], side, 38)
    yield grid(below, 170, [[Cell(str(index), look) for index in range(size)]], side, 38)
    yield text(left - 14, 89, "Z", size=15, mono=True, bold=True, ink=GREEN_INK, anchor="end")
    yield text(left - 14, 189, "Y", size=15, mono=True, bold=True, anchor="end")


def _step2() -> Iterator[str]:
    yield text(186, 40, "size 1, wanted 4", bold=True, anchor="middle")
    yield from _reads(90, 1, 4, ORANGE)
    yield text(186, 234, "index 0 is read again and again", ink=SOFT, anchor="middle")
    yield text(566, 40, "size 4, wanted 4", bold=True, anchor="middle")
    yield from _reads(470, 4, 4, BLUE)
    yield text(566, 234, "each index is read as it is", ink=SOFT, anchor="middle")
    yield line(40, 264, 720, 264, Look(stroke="#d3d7dc"))
    rank = max(len(sizes) for sizes in _SHAPES)
    ranked = equal_ranks(_SHAPES)
    common = largest_sizes(ranked)
    left, side = 90, 64
    for axis in range(rank):
        centre = left + side * (axis + 0.5)
        yield text(centre, 290, f"axis {axis}", size=12, ink=SOFT, anchor="middle")
    for row, sizes in enumerate(ranked):
        cells = [
            Cell(str(size), BLUE if size == wanted else ORANGE)
            for size, wanted in zip(sizes, common, strict=True)
        ]
        top = 304 + 40 * row
        yield text(left - 14, top + 16, f"Y{row}", size=15, mono=True, bold=True, anchor="end")
        yield grid(left, top, [cells], side, 32)
    top = 304 + 40 * len(ranked) + 12
    yield text(left - 14, top + 16, "Z", size=15, mono=True, bold=True, ink=GREEN_INK, anchor="end")
    yield grid(left, top, [[Cell(str(size), GREEN) for size in common]], side, 32)
    for row, sizes in enumerate(ranked):
        pairs = zip("ijk", sizes, common, strict=True)
        read = _index([letter if size == wanted else "0" for letter, size, wanted in pairs])
        index = f"Z{row}{_index('ijk')} = Y{row}{read}"
        yield text(340, 320 + 40 * row, index, size=14, mono=True)
    yield text(340, top + 16, "greatest size of each axis", ink=SOFT)


def _values(lines: Sequence[Sequence[int]], look: Look) -> list[list[Cell]]:
    return [[Cell(str(value), Look(look.fill, look.stroke)) for value in line] for line in lines]


def _whole() -> Iterator[str]:
    side, centres, tops = 42, (131, 367, 633), (92, 246)
    vector, column = [[1, 2, 3]], [[10], [20]]
    lines, columns = largest_sizes([(len(y), len(y[0])) for y in (vector, column)])
    results = (vector * lines, [line * columns for line in column])
    stages = (
        (vector, BLUE, BLUE_INK, (len(vector[0]),), f"line 0, {lines} times"),
        (column, ORANGE, ORANGE_INK, (len(column), 1), f"column 0, {columns} times"),
    )
    for centre, label in zip(centres, ("given", "rank made equal", "sizes made equal"), strict=True):
        yield text(centre, 34, label, bold=True, anchor="middle")
    for row, (given, look, ink, shape, note) in enumerate(stages):
        middle = tops[row] + side
        shapes = (shape, equal_ranks([shape, (lines, columns)])[0], (lines, columns))
        panels = zip(centres, "XYZ", (given, given, results[row]), shapes, strict=True)
        for centre, letter, values, sizes in panels:
            head = f"{letter}{row} {_written(sizes)}"
            wide, high = side * len(values[0]), side * len(values)
            yield text(centre, tops[row] - 20, head, size=14, mono=True, ink=ink, anchor="middle")
            yield grid(centre - wide / 2, middle - high / 2, _values(values, look), side)
        yield arrow(218, middle, 280, middle)
        yield arrow(452, middle, 548, middle)
        yield text(500, middle - 16, note, size=12, ink=SOFT, anchor="middle")


def _refused() -> Iterator[str]:
    for centre, label in ((158, "sizes on one axis"), (348, "greatest"), (426, "C1")):
        yield text(centre, 34, label, bold=True, anchor="middle")
    yield text(462, 34, "why", bold=True)
    for row, sizes in enumerate(((1, 3), (2, 3), (0, 1))):
        top = 58 + 68 * row
        middle = top + 22
        common = max(sizes)
        wrong = [size for size in sizes if broadcast_shape([(size,), (common,)]) is None]
        for column, size in enumerate(sizes):
            look = RED if size in wrong else PLAIN
            label = f"Y{column}"
            left = 48 + 122 * column
            yield text(left, middle, label, size=14, mono=True, ink=SOFT)
            yield grid(left + 34, top, [[Cell(str(size), look)]], 56, 44)
        yield grid(320, top, [[Cell(str(common), GREEN)]], 56, 44)
        if wrong:
            yield cross(426, middle, 9, RED_INK)
            verdict, ink = "refused", RED_INK
            why = f"{wrong[0]} is neither the greatest size nor 1"
        else:
            yield check_mark(426, middle, 11, GREEN_INK)
            verdict, ink = "allowed", GREEN_INK
            why = f"1 becomes {common}, and {common} stays"
        yield text(462, middle - 10, verdict, bold=True, ink=ink)
        yield text(462, middle + 11, why)


FIGURES: tuple[Figure, ...] = (
    compose(
        "broadcast-step1",
        "Broadcast, step 1: ranks are made equal",
        "Step 1 puts sizes 1 in front of the shorter shapes until all ranks are equal; "
        "every element stays what it was.",
        "Three shapes: (2, 3, 4), (3, 1) and the empty shape. The first keeps its sizes; the "
        "second becomes 1, 3, 1; the third becomes 1, 1, 1. The added sizes are marked. Index 0 "
        "along an added axis gives the element of the given tensor.",
        (760, 310),
        _step1,
    ),
    compose(
        "broadcast-step2",
        "Broadcast, step 2: sizes are made equal",
        "Step 2 gives every axis its greatest size; a tensor of size 1 on an axis is read "
        "at index 0 for every index.",
        "Above left, an axis of size 1 that is wanted with size 4: the indices 0 to 3 of Z all "
        "read index 0 of Y. Above right, an axis of size 4: each index of Z reads the same index "
        "of Y. Below, the sizes 2, 3, 4 and 1, 3, 1 and 1, 1, 1 give 2, 3, 4, and each Z reads "
        "index 0 wherever its own size is 1.",
        (760, 500),
        _step2,
    ),
    compose(
        "broadcast-whole",
        "Broadcast of shapes (3,) and (2, 1)",
        "A vector of 3 elements and a column of 2 elements both become tensors of shape (2, 3).",
        "X0 holds 1, 2, 3; it becomes one line, then two equal lines 1, 2, 3. X1 holds the column "
        "10, 20; it becomes the lines 10, 10, 10 and 20, 20, 20.",
        (760, 362),
        _whole,
    ),
    compose(
        "broadcast-refused",
        "Broadcast: sizes that constraint C1 allows and refuses",
        "On every axis each size must be the greatest one or 1; so 2 does not go with 3, "
        "and 0 does not go with 1.",
        "Three pairs of sizes on one axis. 1 and 3: allowed, the common size is 3. 2 and 3: "
        "refused, since 2 is neither 3 nor 1. 0 and 1: refused, since the greatest size is 1 and 0 "
        "is not 1.",
        (760, 262),
        _refused,
    ),
)
