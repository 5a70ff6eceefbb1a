"""Figures of the XLA Broadcast page: new dimensions on the left, and nothing else that changes."""

from collections.abc import Iterator, Sequence

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    GREEN_INK,
    ORANGE,
    ORANGE_INK,
    SOFT,
    Cell,
    Look,
    arrow,
    grid,
    text,
)
from sonnx.numeric.arrays import Array
from sonnx.operators.xla.broadcast.meaning import meaning

_SIDE = 36.0
_X = np.array([7, 8, 9])
_NEW = (2, 4)


def repeated(operand: Array, sizes: Sequence[int]) -> Array:
    """Broadcast by the operator's own definition."""
    return meaning({"operand": operand}, {"broadcast_sizes": sizes})["output"]


def _cells(lines: Array, look: Look) -> list[list[Cell]]:
    thin = Look(look.fill, look.stroke)
    return [[Cell(str(value), thin) for value in line] for line in np.atleast_2d(lines).tolist()]


def _sizes(x: float, y: float, new: Sequence[int], own: Sequence[int]) -> str:
    cells = [*(Cell(str(n), ORANGE) for n in new), *(Cell(str(n), BLUE) for n in own)]
    return grid(x, y, [cells], 46, 34)


def _shapes() -> Iterator[str]:
    """Above: how the sizes of the output come about."""
    yield text(40, 40, "broadcast_sizes", size=14, mono=True, bold=True, ink=ORANGE_INK)
    yield _sizes(190, 23, _NEW, ())
    yield text(40, 84, "operand", size=14, mono=True, bold=True, ink=BLUE_INK)
    yield text(190, 84, "its own sizes", ink=SOFT)
    yield _sizes(282, 67, (), _X.shape)
    yield arrow(352, 62, 420, 62)
    yield text(436, 62, "output", size=14, mono=True, bold=True, ink=GREEN_INK)
    yield _sizes(504, 45, _NEW, _X.shape)
    yield text(527, 96, "i", size=13, mono=True, ink=SOFT, anchor="middle")
    yield text(573, 96, "j", size=13, mono=True, ink=SOFT, anchor="middle")
    yield text(619, 96, "k", size=13, mono=True, ink=SOFT, anchor="middle")


def _left() -> Iterator[str]:
    yield from _shapes()
    top = 170.0
    yield text(94, top - 22, "operand[k]", size=14, mono=True, ink=BLUE_INK, anchor="middle")
    yield grid(40, top + 1.5 * _SIDE, _cells(_X, BLUE), _SIDE)
    yield arrow(166, top + 2 * _SIDE, 226, top + 2 * _SIDE)
    output = repeated(_X, _NEW)
    for i, plane in enumerate(output):
        left = 292 + 228 * i
        label = f"output[{i}, j, k]"
        yield text(left + 1.5 * _SIDE, top - 22, label, size=14, mono=True, ink=GREEN_INK, anchor="middle")
        yield grid(left, top, _cells(plane, BLUE), _SIDE)
        for j in range(len(plane)):
            label, middle = f"j = {j}", top + _SIDE * (j + 0.5)
            yield text(left - 8, middle, label, size=12, mono=True, ink=SOFT, anchor="end")
    yield text(40, top + 4 * _SIDE + 30, "Every pair of new indices gives the operand again:", ink=SOFT)
    yield text(446, top + 4 * _SIDE + 30, "output[i, j, k] = operand[k]", size=14, mono=True)


def _panel(x: float, head: str, operand: Array, new: Sequence[int], note: str) -> Iterator[str]:
    """One operand, its output beside it, and both shapes."""
    side, top = 34.0, 84.0
    output = repeated(operand, new)
    planes = [output] if output.ndim == 2 else list(output)
    yield text(x, 34, head, bold=True)
    shape = ",".join(map(str, operand.shape))
    yield text(x, 62, f"s32[{shape}]", size=13, mono=True, ink=BLUE_INK)
    yield grid(x, top, _cells(operand, BLUE), side)
    start = x + 68
    yield arrow(start - 10, top + side, start + 30, top + side)
    shape = ",".join(map(str, output.shape))
    yield text(start + 44, 62, f"s32[{shape}]", size=13, mono=True, ink=GREEN_INK)
    for i, plane in enumerate(planes):
        yield grid(start + 44 + (plane.shape[1] * side + 22) * i, top, _cells(plane, BLUE), side)
    yield text(x, 212, note, ink=SOFT)


def _cases() -> Iterator[str]:
    yield from _panel(40, "a scalar, sizes [2, 3]", np.array(2), (2, 3), "all elements are the scalar")
    column = np.array([[5], [6], [7]])
    yield from _panel(402, "a column, sizes [2]", column, (2,), "its own size 1 stays 1: two columns")


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-broadcast-left",
        "Broadcast: new dimensions on the left",
        "The new sizes stand before the operand's own, and every index of theirs leads to a copy.",
        "Above, the sizes: broadcast_sizes 2 and 4, then the operand's own size 3, give the output's sizes "
        "2, 4, 3. Below, the operand 7, 8, 9 and the output: two planes of four lines, and each of these "
        "eight lines is 7, 8, 9.",
        (760, 366),
        _left,
    ),
    compose(
        "xla-broadcast-cases",
        "Broadcast: a scalar and a column",
        "A scalar fills the new dimensions; a size 1 that the operand has itself is not stretched.",
        "Left, the scalar 2 with the sizes 2 and 3 gives two lines of three elements 2. Right, a column "
        "5, 6, 7 of shape 3, 1 with the size 2 gives an array of shape 2, 3, 1: the column twice.",
        (760, 240),
        _cases,
    ),
)
