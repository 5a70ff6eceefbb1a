"""Figure of the Concatenate page: the same array joined along one dimension and along the other."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import Block, above, code, note, sheet
from sonnx.drawing.moves import move

_A = np.array([[1, 2], [3, 4], [5, 6]])


def _joined(run: Run, other: list[list[int]], dimension: int, how: str) -> Block:
    operands = {"operands0": _A, "operands1": np.array(other)}
    made = move(
        operands,
        lambda given: run("xla.Concatenate", given, {"dimension": dimension}),
        {"operands0": 0, "operands1": 1},
    )
    return above(code(f"dimension = {dimension}"), made, note(how))


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "xla-concatenate-dimensions",
            "Concatenate along dimension 0 and along dimension 1",
            "Sizes add up along the joined dimension and are equal at every other one; the operands keep "
            "their order.",
            "Above, dimension 0: a matrix of three lines 1, 2 and 3, 4 and 5, 6 and a matrix of one line 7, "
            "8 give four lines; 3 + 1 = 4, and both have 2 columns. Below, dimension 1: the same first "
            "matrix and a column 7, 8, 9 give the lines 1, 2, 7 and 3, 4, 8 and 5, 6, 9; 2 + 1 = 3, and "
            "both have 3 lines. Every element has the colour of the operand it comes from.",
            above(
                _joined(run, [[7, 8]], 0, "lines: 3 + 1 = 4; columns: 2, as in both"),
                _joined(run, [[7], [8], [9]], 1, "columns: 2 + 1 = 3; lines: 3, as in both"),
                gap=30,
            ),
        ),
    )
