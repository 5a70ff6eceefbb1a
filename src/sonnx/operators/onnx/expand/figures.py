"""Figure of the Expand page: an input and a wanted shape are broadcast together."""

import numpy as np

from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import above, beside, note, sheet
from sonnx.drawing.moves import move, sizes
from sonnx.drawing.svg import GREEN, ORANGE, PLAIN, Cell
from sonnx.operators.rules.broadcasting import equal_ranks, largest_sizes

_INPUT = np.array([[1], [2], [3]])
_SHAPE = np.array([2, 1, 6])
_PADDED, _WANTED = equal_ranks([_INPUT.shape, tuple(_SHAPE.tolist())])


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "expand-example",
            "Expand: an input of shape (3, 1) and the shape (2, 1, 6)",
            "Expand gives each axis the greater of its size in the input and in the wanted shape, and "
            "repeats the input along the axes where it has size 1.",
            "An input column with the values 1, 2, 3 becomes two equal planes of 3 lines and 6 columns: the "
            "first line holds six times 1, the second six times 2, the third six times 3. The sizes by "
            "axis: input 1, 3, 1 after a 1 is put in front; wanted shape 2, 1, 6; output 2, 3, 6.",
            above(
                move(
                    {"input": _INPUT},
                    lambda given: run("Expand", {**given, "shape": _SHAPE}, {}),
                    {"input": [[0], [1], [2]]},
                ),
                beside(
                    sizes(
                        [
                            (
                                "input",
                                [Cell(str(n), ORANGE if at == 0 else PLAIN) for at, n in enumerate(_PADDED)],
                            ),
                            ("shape", [Cell(str(n)) for n in _WANTED]),
                            ("output", [Cell(str(n), GREEN) for n in largest_sizes([_PADDED, _WANTED])]),
                        ]
                    ),
                    above(
                        note("a 1 is put in front, for equal ranks"),
                        note("the sizes wanted; 1 asks for nothing"),
                        note("the greater of the two, axis by axis"),
                        gap=22,
                    ),
                ),
                gap=26,
            ),
        ),
    )
