"""Figure of the Concatenate page: the same array joined along one dimension and along the other."""

from collections.abc import Iterator, Sequence

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    EDGE,
    GREEN_INK,
    ORANGE,
    ORANGE_INK,
    SOFT,
    Cell,
    Look,
    arrow,
    grid,
    line,
    span,
    text,
)
from sonnx.numeric.arrays import Array
from sonnx.operators.xla.concatenate.meaning import meaning

_SIDE = 36.0
_LOOKS = (BLUE, ORANGE)
_INKS = (BLUE_INK, ORANGE_INK)
_A = np.array([[1, 2], [3, 4], [5, 6]])
_BELOW = (_A, np.array([[7, 8]]))
_BESIDE = (_A, np.array([[7], [8], [9]]))


def joined(operands: Sequence[Array], dimension: int) -> Array:
    """Join arrays by the operator's own definition."""
    named = {f"operands{m}": operand for m, operand in enumerate(operands)}
    return meaning(named, {"dimension": dimension})["output"]


def _cells(values: Array, origins: Array) -> list[list[Cell]]:
    """Label each cell with its value and paint it by the operand that it comes from."""
    pairs = zip(values.tolist(), origins.tolist(), strict=True)
    return [[Cell(str(value), _LOOKS[origin]) for value, origin in zip(*row, strict=True)] for row in pairs]


def _shape(values: Array) -> str:
    return f"s32[{','.join(map(str, values.shape))}]"


def _matrix(x: float, y: float, values: Array, origins: Array, head: str, ink: str) -> Iterator[str]:
    middle = x + _SIDE * values.shape[1] / 2
    yield text(middle, y - 36, head, size=14, mono=True, bold=True, ink=ink, anchor="middle")
    yield text(middle, y - 17, _shape(values), size=12, mono=True, ink=SOFT, anchor="middle")
    yield grid(x, y, _cells(values, origins), _SIDE)


def _operands(operands: Sequence[Array], places: Sequence[tuple[float, float]]) -> Iterator[str]:
    for m, (values, (x, y)) in enumerate(zip(operands, places, strict=True)):
        yield from _matrix(x, y, values, np.full(values.shape, m), f"operands{m}", _INKS[m])


def _result(x: float, y: float, operands: Sequence[Array], dimension: int) -> Iterator[str]:
    origins = joined([np.full(values.shape, m) for m, values in enumerate(operands)], dimension)
    yield from _matrix(x, y, joined(operands, dimension), origins, "output", GREEN_INK)


def _sum(operands: Sequence[Array], dimension: int) -> str:
    sizes = [values.shape[dimension] for values in operands]
    return f"{' + '.join(map(str, sizes))} = {sum(sizes)}"


def _lines() -> Iterator[str]:
    """Dimension 0: lines are put under one another."""
    left, top = 232.0, 104.0
    yield text(196, 32, "dimension = 0", size=15, bold=True, anchor="middle")
    yield from _operands(_BELOW, ((64, top), (64, top + 180)))
    yield arrow(168, top + 72, 222, top + 72)
    yield from _result(left, top, _BELOW, 0)
    right = left + 2 * _SIDE + 14
    for m, (start, values) in enumerate(zip((0, len(_A)), _BELOW, strict=True)):
        first, last = top + _SIDE * start + 3, top + _SIDE * (start + len(values)) - 3
        yield span(right, first, right, last, _INKS[m])
        yield text(right + 10, (first + last) / 2, str(len(values)), mono=True, bold=True, ink=_INKS[m])
    low = top + 4 * _SIDE
    yield text(left + _SIDE, low + 24, f"lines: {_sum(_BELOW, 0)}", anchor="middle")
    yield text(left + _SIDE, low + 45, "columns: 2, as in both", ink=SOFT, anchor="middle")


def _columns() -> Iterator[str]:
    """Dimension 1: lines are lengthened."""
    left, top = 602.0, 104.0
    yield text(566, 32, "dimension = 1", size=15, bold=True, anchor="middle")
    yield from _operands(_BESIDE, ((434, top), (452, top + 180)))
    yield arrow(538, top + 54, 590, top + 54)
    yield from _result(left, top, _BESIDE, 1)
    below = top + 3 * _SIDE + 14
    for m, (start, values) in enumerate(zip((0, _A.shape[1]), _BESIDE, strict=True)):
        first, last = left + _SIDE * start + 3, left + _SIDE * (start + values.shape[1]) - 3
        yield span(first, below, last, below, _INKS[m])
        label = str(values.shape[1])
        yield text((first + last) / 2, below + 18, label, mono=True, bold=True, ink=_INKS[m], anchor="middle")
    centre = left + 1.5 * _SIDE
    yield text(centre, below + 46, f"columns: {_sum(_BESIDE, 1)}", anchor="middle")
    yield text(centre, below + 67, "lines: 3, as in both", ink=SOFT, anchor="middle")


def _dimensions() -> Iterator[str]:
    yield from _lines()
    yield line(390, 24, 390, 396, Look(stroke=EDGE))
    yield from _columns()


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-concatenate-dimensions",
        "Concatenate along dimension 0 and along dimension 1",
        "Sizes add up along the joined dimension and are equal at every other one; "
        "the operands keep their order.",
        "Left, dimension 0: a matrix of three lines 1, 2 and 3, 4 and 5, 6 and a matrix of one line 7, 8 "
        "give four lines; 3 + 1 = 4, and both have 2 columns. Right, dimension 1: the same first matrix "
        "and a column 7, 8, 9 give the lines 1, 2, 7 and 3, 4, 8 and 5, 6, 9; 2 + 1 = 3, and both have "
        "3 lines. Every element has the colour of the operand it comes from.",
        (760, 420),
        _dimensions,
    ),
)
