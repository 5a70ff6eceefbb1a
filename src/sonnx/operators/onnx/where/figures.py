"""Figure of the Where page: which input each output element is taken from."""

from collections.abc import Iterator

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    FADED,
    INK,
    ORANGE,
    ORANGE_INK,
    SOFT,
    Cell,
    Look,
    arrow,
    grid,
    rect,
    text,
)
from sonnx.operators.onnx.where.meaning import meaning

_CONDITION = ((True, True), (True, False), (False, True))
_X = ((1, 2), (3, 4), (5, 6))
_Y = ((12, 11), (10, 9), (8, 7))

# Dashes as well as colour tell Y from X, so that the figure survives a black and white print.
_FROM_X = BLUE
_FROM_Y = Look(ORANGE.fill, ORANGE.stroke, 2.2, "5 3")

_SIDE = 46
_TOP = 84
_HEIGHT = 3 * _SIDE


def _source(condition: bool) -> Look:
    return _FROM_X if condition else _FROM_Y


def _operand(values: tuple[tuple[int, ...], ...], chosen_when: bool) -> list[list[Cell]]:
    return [
        [
            Cell(str(value), _source(condition) if condition is chosen_when else FADED)
            for value, condition in zip(line, conditions, strict=True)
        ]
        for line, conditions in zip(values, _CONDITION, strict=True)
    ]


def _output() -> list[list[Cell]]:
    operands = {"condition": np.array(_CONDITION), "X": np.array(_X), "Y": np.array(_Y)}
    chosen = meaning(operands, {})["output"]
    return [
        [Cell(str(value), _source(condition)) for value, condition in zip(*pair, strict=True)]
        for pair in zip(chosen.tolist(), _CONDITION, strict=True)
    ]


def _choice() -> Iterator[str]:
    condition = [
        [Cell("true" if value else "false", _source(value)) for value in line] for line in _CONDITION
    ]
    panels = (
        (32, "condition", condition, INK),
        (234, "X", _operand(_X, True), BLUE_INK),
        (408, "Y", _operand(_Y, False), ORANGE_INK),
        (622, "output", _output(), INK),
    )
    for left, name, rows, ink in panels:
        wide = 60 if name == "condition" else _SIDE
        centre = left + wide
        yield text(centre, 38, name, size=15, mono=True, bold=True, ink=ink, anchor="middle")
        yield text(centre, 60, "(3, 2)", size=12, mono=True, ink=SOFT, anchor="middle")
        yield grid(left, _TOP, rows, wide, _SIDE)
    middle = _TOP + _HEIGHT / 2
    yield text(192, middle, "?", size=20, bold=True, ink=SOFT, anchor="middle")
    yield text(367, middle, ":", size=20, bold=True, ink=SOFT, anchor="middle")
    yield arrow(528, middle, 594, middle)
    yield rect(132, 250, 22, 22, _FROM_X)
    yield text(164, 261, "true: taken from X")
    yield rect(322, 250, 22, 22, _FROM_Y)
    yield text(354, 261, "false: taken from Y")
    yield rect(518, 250, 22, 22, FADED)
    yield text(550, 261, "not taken")


FIGURES: tuple[Figure, ...] = (
    compose(
        "where-choice",
        "Where: each output element is taken from X or from Y",
        "Each output element is the element of X at the same index where the condition is true, "
        "and the element of Y where it is false.",
        "Four grids of 3 lines and 2 columns. Condition: true true, true false, false true. "
        "X: 1 2, 3 4, 5 6. Y: 12 11, 10 9, 8 7. Output: 1 2, 3 9, 8 6, where 9 and 8 come from Y "
        "and all other elements from X.",
        (760, 296),
        _choice,
    ),
)
