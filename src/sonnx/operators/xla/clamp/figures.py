"""Figure of the Clamp page: where Clamp and Clip part."""

from math import inf, nan

import numpy as np

from sonnx.drawing.curves import shown
from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import sheet, table
from sonnx.drawing.svg import BLUE, ORANGE, PURPLE, Cell
from sonnx.operators.onnx.clip.figures import clip

# operand, min, max: first where the two operators part, then where they agree
ROWS = (
    ((-0.0, 0.0, 1.0), "+0 is the larger zero"),
    ((0.0, -1.0, -0.0), "\u22120 is the smaller zero"),
    ((-1.0, 0.0, -0.0), "+0, then down to \u22120"),
    ((-3.0, nan, 1.0), "a NaN bound gives NaN"),
    ((-3.0, -1.0, nan), "a NaN bound gives NaN"),
    ((nan, -1.0, 1.0), "both alike"),
    ((0.5, 2.0, -1.0), "both alike"),
    ((inf, -1.0, 1.0), "both alike"),
)


def clamp(run: Run, low: float, high: float, operand: float) -> float:
    """Give one element of Clamp by its own definition."""
    named = zip(("operand", "min", "max"), (operand, low, high), strict=True)
    return float(run("xla.Clamp", {name: np.array([value], float) for name, value in named}, {})["output"][0])


def results(run: Run) -> list[tuple[str, str]]:
    """What Clamp and Clip give for each row."""
    return [(shown(clamp(run, low, high, x)), shown(clip(run, low, high, x))) for (x, low, high), _ in ROWS]


def _compared(run: Run, which: int) -> list[Cell]:
    apart = (ORANGE, PURPLE)[which]
    return [Cell(pair[which], BLUE if pair[0] == pair[1] else apart) for pair in results(run)]


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "xla-clamp-clip",
            "Clamp and Clip compared",
            "Clamp and Clip differ for NaN bounds and for zeros of unlike sign, and nowhere else.",
            "A table of operand, min and max with the results of Clamp and of Clip. "
            + " ".join(
                f"{', '.join(map(shown, row))}: Clamp {one}, Clip {other}."
                for (row, _), (one, other) in zip(ROWS, results(run), strict=True)
            ),
            table(
                {
                    **{
                        name: [Cell(shown(row[at])) for row, _ in ROWS]
                        for at, name in enumerate(("operand", "min", "max"))
                    },
                    "Clamp": _compared(run, 0),
                    "Clip": _compared(run, 1),
                    "why": [why for _, why in ROWS],
                },
                34,
            ),
        ),
    )
