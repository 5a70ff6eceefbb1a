"""Figures of the Clip page: the transfer curve and the bounds that are NaN."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isnan, nan

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    GREEN,
    GREEN_INK,
    MINUS,
    ORANGE,
    ORANGE_INK,
    PLAIN,
    SOFT,
    Cell,
    Look,
    arrow,
    circle,
    grid,
    line,
    polyline,
    rect,
    text,
)
from sonnx.operators.onnx.clip.meaning import meaning


def _clip(value: float, low: float, high: float) -> float:
    """Give one output element by the operator's own definition."""
    names = ("input", "min", "max")
    operands = {name: np.array(x, np.float64) for name, x in zip(names, (value, low, high), strict=True)}
    return float(meaning(operands, {})["output"])


def _show(value: float) -> str:
    if isnan(value):
        return "NaN"
    size = "\u221e" if abs(value) == inf else f"{abs(value):g}"
    return f"{MINUS}{size}" if value < 0 else f"+{size}" if value == inf else size


@dataclass(frozen=True)
class _Plot:
    """A square of the plane, ``reach`` units to each side of the centre."""

    centre_x: float
    centre_y: float
    unit: float
    reach: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.centre_x + x * self.unit, self.centre_y - y * self.unit

    def axes(self) -> Iterator[str]:
        left, right = self.at(-self.reach, 0)[0], self.at(self.reach, 0)[0]
        top, bottom = self.at(0, self.reach)[1], self.at(0, -self.reach)[1]
        yield rect(left, top, right - left, bottom - top, PLAIN, round_by=4)
        yield arrow(left, self.centre_y, right + 16, self.centre_y)
        yield arrow(self.centre_x, bottom, self.centre_x, top - 16)
        yield text(right + 20, self.centre_y, "input", ink=SOFT)
        yield text(self.centre_x, top - 26, "output", ink=SOFT, anchor="middle")

    def guide(self, x1: float, y1: float, x2: float, y2: float, ink: str) -> str:
        return line(*self.at(x1, y1), *self.at(x2, y2), Look(stroke=ink, width=1.3, dash="4 4"))


def _ordered() -> Iterator[str]:
    low, high = -2.0, 3.0
    plot = _Plot(208, 232, 26, 5.5)
    yield text(208, 34, "min \u2264 max", size=15, bold=True, anchor="middle")
    yield from plot.axes()
    end = plot.reach
    yield plot.guide(-end, -end, end, end, SOFT)
    for bound, ink in ((low, GREEN_INK), (high, ORANGE_INK)):
        yield plot.guide(bound, 0, bound, bound, ink)
        yield plot.guide(0, bound, bound, bound, ink)
    corners = [(x, _clip(x, low, high)) for x in (-end, low, high, end)]
    yield polyline([plot.at(x, y) for x, y in corners], Look(stroke=BLUE_INK, width=4))
    for bound, look in ((low, GREEN), (high, ORANGE)):
        yield circle(*plot.at(bound, _clip(bound, low, high)), 5, look)
    x, y = plot.at(low, 0)
    yield text(x, y - 13, "min", mono=True, bold=True, ink=GREEN_INK, anchor="middle")
    x, y = plot.at(high, 0)
    yield text(x, y + 14, "max", mono=True, bold=True, ink=ORANGE_INK, anchor="middle")
    x, y = plot.at(0, low)
    yield text(x + 10, y, "min", mono=True, bold=True, ink=GREEN_INK)
    x, y = plot.at(0, high)
    yield text(x - 10, y, "max", mono=True, bold=True, ink=ORANGE_INK, anchor="end")
    yield text(208, 402, "dashed diagonal: output = input", ink=SOFT, anchor="middle")


def _reversed() -> Iterator[str]:
    low, high = 2.0, -1.5
    plot = _Plot(560, 232, 26, 4)
    yield text(560, 34, "min > max", size=15, bold=True, anchor="middle")
    yield from plot.axes()
    end = plot.reach
    yield plot.guide(low, -end, low, end, GREEN_INK)
    yield plot.guide(high, -end, high, end, ORANGE_INK)
    corners = [(x, _clip(x, low, high)) for x in (-end, end)]
    yield polyline([plot.at(x, y) for x, y in corners], Look(stroke=BLUE_INK, width=4))
    x, y = plot.at(low, end)
    yield text(x + 7, y + 14, "min", mono=True, bold=True, ink=GREEN_INK)
    x, y = plot.at(high, end)
    yield text(x - 7, y + 14, "max", mono=True, bold=True, ink=ORANGE_INK, anchor="end")
    x, y = plot.at(end, high)
    yield text(x + 9, y, "max", mono=True, bold=True, ink=ORANGE_INK)
    yield text(560, 364, "every input that is not NaN", ink=SOFT, anchor="middle")
    yield text(560, 383, "gives max", ink=SOFT, anchor="middle")


def _curve() -> Iterator[str]:
    yield from _ordered()
    yield from _reversed()


def _nan_bounds() -> Iterator[str]:
    inputs = (-inf, -3.0, 0.5, 3.0, inf, nan)
    given_at, counted_at, outputs_at, wide, top = 50, 198, 348, 60, 78
    centre = outputs_at + wide * len(inputs) / 2
    yield text(given_at + wide, 34, "as given", bold=True, anchor="middle")
    yield text(counted_at + wide, 34, "counts as", bold=True, anchor="middle")
    yield text(centre, 34, "output for the input", bold=True, anchor="middle")
    heads = [
        (left + wide * (column + 0.5), label)
        for left, labels in (
            (given_at, ("min", "max")),
            (counted_at, ("min", "max")),
            (outputs_at, tuple(_show(value) for value in inputs)),
        )
        for column, label in enumerate(labels)
    ]
    for x, label in heads:
        yield text(x, 62, label, mono=True, ink=SOFT, anchor="middle")
    for row, (low, high) in enumerate(((nan, 1.0), (-1.0, nan), (nan, nan))):
        given = [Cell(_show(b), ORANGE if isnan(b) else PLAIN) for b in (low, high)]
        counted = [
            Cell(_show(extreme if isnan(b) else b), GREEN if isnan(b) else PLAIN)
            for b, extreme in ((low, -inf), (high, inf))
        ]
        outputs = [Cell(_show(_clip(value, low, high)), BLUE) for value in inputs]
        for left, cells in ((given_at, given), (counted_at, counted), (outputs_at, outputs)):
            yield grid(left, top + 48 * row, [cells], wide, 36)
    yield text(given_at, 242, "A NaN bound does not limit; a NaN input stays NaN.")


FIGURES: tuple[Figure, ...] = (
    compose(
        "clip-curve",
        "Clip: output against input",
        "Clip follows the input between the bounds and stays at a bound outside of them; "
        "when min exceeds max it is constant at max.",
        "Two plots of output against input. Left, with min not greater than max: the output is min "
        "up to the input min, then rises with the input along the diagonal, and is max from the "
        "input max on. Right, a smaller plot with min greater than max: a horizontal line at max.",
        (760, 428),
        _curve,
    ),
    compose(
        "clip-nan-bounds",
        "Clip: bounds that are NaN",
        "A NaN min counts as minus infinity and a NaN max as plus infinity, "
        "so that a NaN bound limits nothing.",
        "A table of three pairs of bounds. NaN and 1 count as minus infinity and 1; minus 1 and "
        "NaN count as minus 1 and plus infinity; NaN and NaN count as minus and plus infinity. For "
        "each pair the outputs for minus infinity, minus 3, 0.5, 3, plus infinity and NaN are "
        "given; the output for NaN is always NaN.",
        (760, 270),
        _nan_bounds,
    ),
)
