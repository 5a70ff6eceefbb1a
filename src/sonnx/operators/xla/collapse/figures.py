"""Figure of the Collapse page: one array, three runs of its dimensions, one order of elements."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    EDGE,
    GREEN,
    ORANGE,
    PURPLE,
    SOFT,
    Cell,
    Look,
    arrow,
    grid,
    line,
    text,
)
from sonnx.numeric.arrays import Array
from sonnx.operators.xla.collapse.meaning import meaning

_SIDE = 30.0
_LOOKS = (BLUE, ORANGE, GREEN, PURPLE)
# The array of the document: tens count the planes, units go on by line and column.
V = np.array([[[10 * (i + 1) + 5 * j + k for k in range(3)] for j in range(2)] for i in range(4)])
_PLANES = np.arange(4)[:, None, None] + np.zeros_like(V)


def collapsed(operand: Array, dimensions: Sequence[int]) -> Array:
    """Collapse by the operator's own definition."""
    return meaning({"operand": operand}, {"dimensions": dimensions})["output"]


def _cells(values: Array, planes: Array) -> list[list[Cell]]:
    """Label each cell with its value and paint it by the plane that it comes from."""
    lines = zip(np.atleast_2d(values).tolist(), np.atleast_2d(planes).tolist(), strict=True)
    return [[Cell(str(v), _LOOKS[plane]) for v, plane in zip(*pair, strict=True)] for pair in lines]


def _given() -> Iterator[str]:
    yield text(40, 36, "v", size=16, mono=True, bold=True)
    yield text(60, 36, "f32[4,2,3]", size=14, mono=True, ink=SOFT)
    yield text(190, 36, "v[i, j, k]: plane i, line j, column k", ink=SOFT)
    for i in range(4):
        left = 92 + 168 * i
        yield text(left + 1.5 * _SIDE, 66, f"i = {i}", size=12, mono=True, ink=SOFT, anchor="middle")
        yield grid(left, 80, _cells(V[i], _PLANES[i]), _SIDE)
        for j in range(2):
            label = f"j = {j}"
            yield text(left - 8, 80 + _SIDE * (j + 0.5), label, size=12, mono=True, ink=SOFT, anchor="end")


def _head(x: float, y: float, dimensions: Sequence[int], note: str) -> Iterator[str]:
    shape = ",".join(map(str, collapsed(V, dimensions).shape))
    yield text(x, y, f"dimensions = [{', '.join(map(str, dimensions))}]", size=14, mono=True, bold=True)
    yield text(x + 206, y, f"f32[{shape}]", size=14, mono=True, ink=SOFT)
    yield text(x, y + 23, note, ink=SOFT)


def _first_two() -> Iterator[str]:
    left, top = 150.0, 262.0
    yield from _head(40, 184, (0, 1), "c = 2i + j counts the lines, j faster")
    yield text(52, top - 16, "i, j", size=12, mono=True, ink=SOFT, anchor="middle")
    yield text(left - 20, top - 16, "c", size=12, mono=True, bold=True, anchor="middle")
    for c, (i, j) in enumerate(product(range(4), range(2))):
        middle = top + _SIDE * (c + 0.5)
        yield text(52, middle, f"{i}, {j}", size=12, mono=True, ink=SOFT, anchor="middle")
        yield arrow(74, middle, 112, middle)
        yield text(left - 20, middle, str(c), size=13, mono=True, bold=True, anchor="middle")
    yield grid(left, top, _cells(collapsed(V, (0, 1)), collapsed(_PLANES, (0, 1))), _SIDE)


def _last_two() -> Iterator[str]:
    left, top, wide = 452.0, 330.0, 40.0
    yield from _head(412, 184, (1, 2), "c = 3j + k counts the columns, k faster")
    yield text(left - 12, 254, "j, k", size=12, mono=True, ink=SOFT, anchor="end")
    yield text(left - 12, top - 16, "c", size=12, mono=True, bold=True, anchor="end")
    for c, (j, k) in enumerate(product(range(2), range(3))):
        middle = left + wide * (c + 0.5)
        yield text(middle, 254, f"{j}, {k}", size=12, mono=True, ink=SOFT, anchor="middle")
        yield arrow(middle, 266, middle, 300)
        yield text(middle, top - 16, str(c), size=13, mono=True, bold=True, anchor="middle")
    yield grid(left, top, _cells(collapsed(V, (1, 2)), collapsed(_PLANES, (1, 2))), wide, _SIDE)
    for i in range(4):
        middle = top + _SIDE * (i + 0.5)
        yield text(left - 12, middle, f"i = {i}", size=12, mono=True, ink=SOFT, anchor="end")


def _all_three() -> Iterator[str]:
    yield from _head(40, 546, (0, 1, 2), "c = 6i + 3j + k: read all planes line by line")
    yield grid(40, 590, _cells(collapsed(V, (0, 1, 2)), collapsed(_PLANES, (0, 1, 2))), 28.5, _SIDE)


def _runs() -> Iterator[str]:
    yield from _given()
    yield line(30, 156, 734, 156, Look(stroke=EDGE))
    yield from _first_two()
    yield line(380, 170, 380, 506, Look(stroke=EDGE))
    yield from _last_two()
    yield line(30, 520, 734, 520, Look(stroke=EDGE))
    yield from _all_three()


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-collapse-runs",
        "Collapse of an array f32[4,2,3]",
        "Neighbouring dimensions become one whose size is their product; "
        "read from left to right and from top to bottom, the elements stay in one order.",
        "An array of four planes, each of two lines and three columns: 10, 11, 12 and 15, 16, 17, then 20 to "
        "27, 30 to 37 and 40 to 47 in the same way. Dimensions 0 and 1 collapsed: eight lines of three "
        "columns, the lines of the first plane, then those of the second, and so on. Dimensions 1 and 2 "
        "collapsed: four lines of six columns, one line for each plane. All three collapsed: one row of 24 "
        "elements from 10 to 47. In each result the elements come in the same order.",
        (764, 644),
        _runs,
    ),
)
