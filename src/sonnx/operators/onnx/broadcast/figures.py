"""Figures of the Broadcast page: shapes made equal, an example with values."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import above, code, sheet
from sonnx.drawing.moves import move, sizes
from sonnx.drawing.svg import BLUE, GREEN, ORANGE, PLAIN, Cell
from sonnx.operators.rules.broadcasting import equal_ranks, largest_sizes

_SHAPES: tuple[tuple[int, ...], ...] = ((2, 3, 4), (3, 1), ())
_RANKED = equal_ranks(_SHAPES)
_COMMON = largest_sizes(_RANKED)


def _row(given: tuple[int, ...], ranked: tuple[int, ...]) -> list[Cell]:
    added = len(ranked) - len(given)
    looks = [
        ORANGE if axis < added else BLUE if size == _COMMON[axis] else PLAIN
        for axis, size in enumerate(ranked)
    ]
    return [Cell(str(size), look) for size, look in zip(ranked, looks, strict=True)]


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "broadcast-sizes",
            "Broadcast: ranks are made equal, then sizes",
            "Sizes 1 are put in front of the shorter shapes until all ranks are equal, and every axis then "
            "gets its greatest size.",
            "Three shapes: (2, 3, 4), (3, 1) and the empty shape. The first keeps its sizes; the second "
            "becomes 1, 3, 1; the third becomes 1, 1, 1; added sizes are marked. Together they have the "
            "sizes 2, 3, 4. Y reads index 0 wherever its own size is 1: Z0[i, j, k] is X0[i, j, k], Z1[i, "
            "j, k] is X1[j, 0], and Z2[i, j, k] is the only element of X2.",
            above(
                sizes(
                    [
                        *(
                            (f"X{at}", _row(*pair))
                            for at, pair in enumerate(zip(_SHAPES, _RANKED, strict=True))
                        ),
                        ("Z ", [Cell(str(size), GREEN) for size in _COMMON]),
                    ]
                ),
                code("Z0[i, j, k] = X0[i, j, k]"),
                code("Z1[i, j, k] = X1[j, 0]"),
                code("Z2[i, j, k] = X2"),
            ),
        ),
        sheet(
            "broadcast-whole",
            "Broadcast of shapes (3,) and (2, 1)",
            "A vector of 3 elements and a column of 2 elements both become tensors of shape (2, 3).",
            "X0 holds 1, 2, 3; it becomes two equal lines 1, 2, 3. X1 holds the column 10, 20; it becomes "
            "the lines 10, 10, 10 and 20, 20, 20.",
            move(
                {"X0": np.array([1, 2, 3]), "X1": np.array([[10], [20]])},
                lambda given: run("Broadcast", given, {}),
                {"X0": 0, "X1": 1},
            ),
        ),
    )
