"""Figure of the Collapse page: one array, three runs of its dimensions, one order of elements."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import Block, above, beside, code, note, rule, sheet
from sonnx.drawing.moves import tensor

# The array of the document: tens count the planes, units go on by line and column.
_V = np.array([[[10 * (i + 1) + 5 * j + k for k in range(3)] for j in range(2)] for i in range(4)])
_PLANES = np.arange(4)[:, None, None] + np.zeros_like(_V)


def _collapsed(run: Run, dimensions: list[int], how: str) -> Block:
    values, colours = (
        run("xla.Collapse", {"operand": x}, {"dimensions": dimensions})["output"] for x in (_V, _PLANES)
    )
    return above(code(f"dimensions = {dimensions}"), note(how), tensor("output", values, colours, 28))


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "xla-collapse-runs",
            "Collapse of an array f32[4,2,3]",
            "Neighbouring dimensions become one whose size is their product; read from left to right and "
            "from top to bottom, the elements stay in one order.",
            "An array of four planes, each of two lines and three columns: 10, 11, 12 and 15, 16, 17, then "
            "20 to 27, 30 to 37 and 40 to 47 in the same way. Dimensions 0 and 1 collapsed: eight lines of "
            "three columns, the lines of the first plane, then those of the second, and so on. Dimensions 1 "
            "and 2 collapsed: four lines of six columns, one line for each plane. All three collapsed: one "
            "row of 24 elements from 10 to 47. In each result the elements come in the same order.",
            above(
                tensor("v", _V, _PLANES),
                rule(680),
                beside(
                    _collapsed(run, [0, 1], "c = 2i + j counts the lines, j faster"),
                    _collapsed(run, [1, 2], "c = 3j + k counts the columns, k faster"),
                    gap=60,
                    align=0,
                ),
                rule(680),
                _collapsed(run, [0, 1, 2], "c = 6i + 3j + k: read all planes line by line"),
                gap=18,
            ),
        ),
    )
