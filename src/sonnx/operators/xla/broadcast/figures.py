"""Figures of the XLA Broadcast page: new dimensions on the left, and nothing else that changes."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import Block, above, beside, code, sheet
from sonnx.drawing.moves import move
from sonnx.numeric.arrays import Array


def _scene(run: Run, operand: Array, sizes: list[int]) -> Block:
    made = move(
        {"operand": operand},
        lambda given: run("xla.Broadcast", given, {"broadcast_sizes": sizes}),
        {"operand": 0},
    )
    return above(code(f"broadcast_sizes = {sizes}"), made)


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "xla-broadcast-left",
            "Broadcast: new dimensions on the left",
            "The new sizes stand before the operand's own, and every index of theirs leads to a copy.",
            "broadcast_sizes 2 and 4, then the operand's own size 3, give the output's sizes 2, 4, 3. The "
            "operand is 7, 8, 9; the output has two planes of four lines, and each of these eight lines is "
            "7, 8, 9.",
            above(_scene(run, np.array([7, 8, 9]), [2, 4]), code("output[i, j, k] = operand[k]"), gap=20),
        ),
        sheet(
            "xla-broadcast-cases",
            "Broadcast: a scalar and a column",
            "A scalar fills the new dimensions; a size 1 that the operand has itself is not stretched.",
            "Left, the scalar 2 with the sizes 2 and 3 gives two lines of three elements 2. Right, a column "
            "5, 6, 7 of shape 3, 1 with the size 2 gives an array of shape 2, 3, 1: the column twice.",
            beside(
                _scene(run, np.array(2), [2, 3]), _scene(run, np.array([[5], [6], [7]]), [2]), gap=44, align=0
            ),
        ),
    )
