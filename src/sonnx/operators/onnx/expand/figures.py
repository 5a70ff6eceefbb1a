"""Figure of the Expand page: an input and a wanted shape are broadcast together."""

from collections.abc import Iterator

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    GREEN,
    ORANGE,
    PLAIN,
    SOFT,
    ZERO,
    Cell,
    Look,
    arrow,
    grid,
    text,
)
from sonnx.operators.onnx.broadcast.shapes import equal_ranks, largest_sizes

_VALUES = (1, 2, 3)
_INPUT = (3, 1)
_SHAPE = (2, 1, 6)
_LINES: tuple[Look, ...] = (BLUE, ORANGE, GREEN)


def _result() -> tuple[int, ...]:
    return largest_sizes(equal_ranks([_INPUT, _SHAPE]))


def _table() -> Iterator[str]:
    result = _result()
    padded, wanted = equal_ranks([_INPUT, _SHAPE])
    added = len(result) - len(_INPUT)
    rows = (
        ("input (3, 1), rank made equal", padded, "the dashed 1 is put in front"),
        ("shape = (2, 1, 6)", wanted, "sizes wanted; 1 asks for nothing"),
        ("output", result, "the greater of the two, axis by axis"),
    )
    for axis in range(len(result)):
        yield text(302 + 50 * axis, 300, f"axis {axis}", size=12, ink=SOFT, anchor="middle")
    for row, (label, sizes, note) in enumerate(rows):
        top = 314 + 42 * row
        last = row == len(rows) - 1
        looks = [
            GREEN if last else ZERO if row == 0 and axis < added else PLAIN for axis in range(len(sizes))
        ]
        cells = [Cell(str(size), look) for size, look in zip(sizes, looks, strict=True)]
        yield text(262, top + 17, label, anchor="end", bold=last)
        yield grid(277, top, [cells], 50, 34)
        yield text(445, top + 17, note, ink=SOFT)


def _expand() -> Iterator[str]:
    planes, lines, columns = _result()
    top, side = 106, 34
    yield text(73, 38, "input", size=15, mono=True, bold=True, anchor="middle")
    yield text(73, 60, "(3, 1)", size=12, mono=True, ink=SOFT, anchor="middle")
    cells = [[Cell(str(v), look)] for v, look in zip(_VALUES, _LINES, strict=True)]
    yield grid(56, top, cells, side)
    yield arrow(116, top + 51, 214, top + 51)
    yield text(165, top + 34, "copies", size=12, ink=SOFT, anchor="middle")
    yield text(487, 38, "output", size=15, mono=True, bold=True, anchor="middle")
    shape = ", ".join(str(size) for size in _result())
    yield text(487, 60, f"({shape})", size=12, mono=True, ink=SOFT, anchor="middle")
    for plane in range(planes):
        left = 244 + plane * (side * columns + 50)
        copies = [[cells[i][0]] * columns for i in range(lines)]
        centre = left + side * columns / 2
        label = f"output[{plane}, :, :]"
        yield text(centre, 90, label, size=12, mono=True, ink=SOFT, anchor="middle")
        yield grid(left, top, copies, side)
    yield text(380, 242, "output[p, i, j] = input[i, 0]", size=14, mono=True, bold=True, anchor="middle")
    yield from _table()


FIGURES: tuple[Figure, ...] = (
    compose(
        "expand-example",
        "Expand: an input of shape (3, 1) and the shape (2, 1, 6)",
        "Expand gives each axis the greater of its size in the input and in the wanted shape, "
        "and repeats the input along the axes where it has size 1.",
        "An input column with the values 1, 2, 3 becomes two equal planes of 3 lines and 6 "
        "columns: the first line holds six times 1, the second six times 2, the third six times 3. "
        "A table gives the sizes by axis: input 1, 3, 1 after a 1 is put in front; wanted shape "
        "2, 1, 6; output 2, 3, 6.",
        (760, 456),
        _expand,
    ),
)
