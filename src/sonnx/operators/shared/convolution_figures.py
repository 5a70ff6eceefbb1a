"""The family of operators with windows: what a kernel slides along, where it stands, what it meets."""

from collections.abc import Sequence

import numpy as np

from sonnx.drawing.layout import Block, above, beside, cells, gap, labelled, measure, note, to
from sonnx.drawing.moves import LOOKS
from sonnx.drawing.svg import BLUE, FADED, GREEN, ORANGE, ORANGE_INK, PLAIN, ZERO, Cell
from sonnx.model.dtype import DType
from sonnx.operators.shared.convolution import Axis, convolve, pad

_SIDE = 34.0


def base_area(values: Sequence[int], axis: Axis) -> list[int]:
    """What a window slides along: the elements of one dimension, dilated, then padded."""
    X = np.array(values, np.int32).reshape(1, 1, -1)
    return [int(value) for value in pad(X, [axis], DType.INT32)[0, 0]]


def sums(values: Sequence[int], weights: Sequence[int], axis: Axis) -> list[int]:
    """The convolution of one dimension."""
    X, W = (np.array(part, np.int32).reshape(1, 1, -1) for part in (values, weights))
    bias = np.zeros(1, np.int32)
    return [int(value) for value in convolve(X, W, bias, [axis], 1, DType.INT32, "separate")[0, 0]]


def area(values: Sequence[int]) -> Block:
    """A base area: every 0 was inserted, as the examples hold none."""
    return cells([[Cell(str(value), BLUE if value else ZERO) for value in values]], _SIDE)


def padding(values: Sequence[int], axis: Axis) -> Block:
    """Elements, faded where padding takes them away, and what is then there."""
    kept = base_area(values, axis)
    given = cells([[Cell(str(value), BLUE if value in kept else FADED) for value in values]], _SIDE)
    return beside(given, to(), area(kept))


def sliding(values: Sequence[int], weights: Sequence[int], axis: Axis) -> Block:
    """The window, the base area with a bar under each place of the window, and the sums."""
    found = sums(values, weights, axis)
    bars = [
        beside(gap(position * axis.stride * _SIDE), measure(axis.extent * _SIDE, ORANGE_INK), gap=0)
        for position in range(len(found))
    ]
    slid = above(area(base_area(values, axis)), *bars, gap=3)
    window, results = labelled(weights, ORANGE), labelled(found, GREEN)
    return beside(window, above(note(f"low {axis.begin}, high {axis.end}"), slid, gap=4), to(), results)


def plane(lines: Axis, columns: Axis, shape: tuple[int, int]) -> Block:
    """An image whose elements are counted, with the zeros between and around them."""
    X = np.arange(1, shape[0] * shape[1] + 1, dtype=np.int32).reshape(1, 1, *shape)
    rows = pad(X, [lines, columns], DType.INT32)[0, 0].tolist()
    return cells([[Cell(str(value), BLUE if value else ZERO) for value in row] for row in rows], _SIDE)


def taps(lines: Axis, columns: Axis) -> Block:
    """The places that a kernel spans; those with an index meet the weight in that line and column."""

    def cell(i: int, j: int) -> Cell:
        if i % lines.dilation or j % columns.dilation:
            return Cell()
        return Cell(f"{i // lines.dilation},{j // columns.dilation}", ORANGE)

    return cells([[cell(i, j) for j in range(columns.extent)] for i in range(lines.extent)], _SIDE)


def steps(lines: Axis, columns: Axis, shape: tuple[int, int]) -> Block:
    """The places of a kernel on an image, and the output element that each gives."""
    wide = columns.output_size(shape[1])
    indices = [(m, n) for m in range(lines.output_size(shape[0])) for n in range(wide)]
    image = [[Cell("", PLAIN) for _ in range(shape[1])] for _ in range(shape[0])]
    output = [Cell(f"{m},{n}", look) for (m, n), look in zip(indices, LOOKS, strict=True)]
    for (m, n), made in zip(indices, output, strict=True):
        for i in range(lines.extent):
            for j in range(columns.extent):
                label = made.label if i == j == 0 else ""
                image[m * lines.stride + i][n * columns.stride + j] = Cell(label, made.look)
    rows = [output[first : first + wide] for first in range(0, len(output), wide)]
    return beside(cells(image, _SIDE), to(), cells(rows, 44))
