"""Figure of the Where page: which input each output element is taken from."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import above, key, sheet
from sonnx.drawing.moves import move
from sonnx.drawing.svg import BLUE, ORANGE

_OPERANDS = {
    "condition": np.array([[True, True], [True, False], [False, True]]),
    "X": np.array([[1, 2], [3, 4], [5, 6]]),
    "Y": np.array([[12, 11], [10, 9], [8, 7]]),
}


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "where-choice",
            "Where: each output element is taken from X or from Y",
            "Each output element is the element of X at the same index where the condition is true, and the "
            "element of Y where it is false.",
            "Four grids of 3 lines and 2 columns. Condition: true true, true false, false true. X: 1 2, 3 "
            "4, 5 6. Y: 12 11, 10 9, 8 7. Output: 1 2, 3 9, 8 6, where 9 and 8 come from Y and all other "
            "elements from X.",
            above(
                move(_OPERANDS, lambda given: run("Where", given, {}), {"X": 0, "Y": 1}),
                key((BLUE, "true: taken from X"), (ORANGE, "false: taken from Y")),
                gap=20,
            ),
        ),
    )
