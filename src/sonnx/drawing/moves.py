"""The family of operators that move elements: tensors as planes of cells, painted by where they come from."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from sonnx.drawing.layout import Block, above, beside, cells, code, note, plain, to
from sonnx.drawing.svg import BLUE, GREEN, ORANGE, PURPLE, RED, YELLOW, Cell

LOOKS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, RED)
# Arrays by name: the same function moves values and the numbers of their colours.
Arrays = Mapping[str, Any]
Moved = Callable[[Arrays], Arrays]


def tensor(name: str, values: Any, colours: Any, size: float = 34) -> Block:
    """A tensor under its name and shape: planes of its last two axes beside one another."""
    lines, columns = (1, 1, *values.shape)[-2:]
    count = prod(values.shape[:-2])
    planes = [
        array.reshape(count, lines, columns) for array in (values, np.broadcast_to(colours, values.shape))
    ]
    drawn = [
        cells(
            [
                [Cell(_written(value), LOOKS[colour]) for value, colour in zip(*row, strict=True)]
                for row in zip(plane.tolist(), painted.tolist(), strict=True)
            ],
            size,
        )
        for plane, painted in zip(*planes, strict=True)
    ]
    outer = values.shape[:-2]
    if len(drawn) > 1:
        names = [f"[{', '.join(map(str, index))}, :, :]" for index in np.ndindex(*outer)]
        drawn = [above(note(label), plane, gap=4) for label, plane in zip(names, drawn, strict=True)]
    shape = f"({', '.join(map(str, values.shape))}{',' if values.ndim == 1 else ''})"
    return above(beside(code(name), note(shape), gap=8), beside(*drawn, align=0), gap=6)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else plain(value)


def move(operands: Arrays, moved: Moved, colours: Arrays, size: float = 34) -> Block:
    """Operands, an arrow, and what is moved, each element in the colour it had before.

    What has no colour of its own is not moved: truth values decide, and have the colours of what they choose.
    """
    painted = {name: np.broadcast_to(colour, operands[name].shape) for name, colour in colours.items()}
    given = [
        tensor(name, values, painted.get(name, np.where(values, 0, 1)), size)
        for name, values in operands.items()
    ]
    results, origins = moved(operands), moved({**operands, **painted})
    return beside(
        *given, to(), *(tensor(name, values, origins[name], size) for name, values in results.items())
    )


def sizes(rows: Sequence[tuple[str, Sequence[Cell]]]) -> Block:
    """Shapes under one another, axis by axis from the right, each after its name."""
    named = [code(name) for name, _ in rows]
    width = max(block.width for block in named)
    return above(
        *(
            beside(block, Block(width - block.width, 0, lambda x, y: ""), cells([row], 46), gap=10)
            for block, (_, row) in zip(named, rows, strict=True)
        ),
        gap=6,
    )
