"""Figures of the Clamp page: the two steps as curves, and where Clamp and Clip part."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import copysign, inf, isnan, nan

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    GREEN_INK,
    MINUS,
    ORANGE,
    ORANGE_INK,
    PLAIN,
    PURPLE,
    SOFT,
    Cell,
    Look,
    arrow,
    grid,
    line,
    polyline,
    rect,
    text,
)
from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.clip.meaning import meaning as clip_meaning
from sonnx.operators.xla.clamp.meaning import maximum
from sonnx.operators.xla.clamp.meaning import meaning as clamp_meaning

# operand, min, max: first where the two operators part, then where they agree
ROWS = (
    (-0.0, 0.0, 1.0),
    (0.0, -1.0, -0.0),
    (-1.0, 0.0, -0.0),
    (-3.0, nan, 1.0),
    (-3.0, -1.0, nan),
    (nan, -1.0, 1.0),
    (0.5, 2.0, -1.0),
    (inf, -1.0, 1.0),
)


def _one(value: float) -> Array:
    return np.array([value], np.float64)


def clamp(operand: float, low: float, high: float) -> float:
    """Give one element of Clamp by its own definition."""
    named = {"operand": operand, "min": low, "max": high}
    return float(clamp_meaning({name: _one(x) for name, x in named.items()}, {})["output"][0])


def clip(operand: float, low: float, high: float) -> float:
    """Give one element of ONNX's Clip by its own definition."""
    named = {"input": _one(operand), "min": np.array(low), "max": np.array(high)}
    return float(clip_meaning(named, {})["output"][0])


def shown(value: float) -> str:
    """Write a float with its sign wherever a zero or an infinity has one."""
    if isnan(value):
        return "NaN"
    size = "\u221e" if abs(value) == inf else f"{abs(value):g}"
    plus = "+" if value in (0, inf) else ""
    return f"{MINUS}{size}" if copysign(1, value) < 0 else f"{plus}{size}"


def same(one: float, other: float) -> bool:
    """Tell whether two floats are one number, the sign of a zero included, or both NaN."""
    return shown(one) == shown(other)


@dataclass(frozen=True)
class _Plot:
    """A square of the plane around its centre, 4.5 units to each side."""

    x: float
    y: float = 186
    unit: float = 21
    reach: float = 4.5

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.x + x * self.unit, self.y - y * self.unit

    def axes(self) -> Iterator[str]:
        left, top = self.at(-self.reach, self.reach)
        right, bottom = self.at(self.reach, -self.reach)
        yield rect(left, top, right - left, bottom - top, PLAIN, round_by=4)
        yield arrow(left, self.y, right + 12, self.y)
        yield arrow(self.x, bottom, self.x, top - 12)
        yield text(right + 2, self.y + 16, "X", size=12, mono=True, ink=SOFT)
        yield text(self.x + 10, top - 14, "Y", size=12, mono=True, ink=SOFT)

    def level(self, height: float, label: str, ink: str) -> Iterator[str]:
        """Draw a bound as a dashed level with its name at the right edge."""
        look = Look(stroke=ink, width=1.3, dash="4 4")
        yield line(*self.at(-self.reach, height), *self.at(self.reach, height), look)
        x, y = self.at(self.reach, height)
        yield text(x + 7, y, label, size=12, mono=True, bold=True, ink=ink)


def _lifted(x: float, low: float) -> float:
    return float(maximum(_one(x), _one(low))[0])


def _points(plot: _Plot, low: float, high: float | None) -> list[tuple[float, float]]:
    """The corners of a curve: the first step alone where there is no upper bound."""
    ends = sorted({-plot.reach, low, plot.reach, *([] if high is None else [high])})
    return [plot.at(x, _lifted(x, low) if high is None else clamp(x, low, high)) for x in ends]


def _panel(plot: _Plot, head: str, low: float, high: float | None, notes: tuple[str, str]) -> Iterator[str]:
    final, before = Look(stroke=BLUE_INK, width=4), Look(stroke=SOFT, width=1.6, dash="2 3")
    yield text(plot.x, 32, head, size=14, bold=True, anchor="middle")
    yield from plot.axes()
    yield from plot.level(low, "min", GREEN_INK)
    if high is not None:
        yield from plot.level(high, "max", ORANGE_INK)
        yield polyline(_points(plot, low, None), before)
    yield polyline(_points(plot, low, high), final)
    for row, note in enumerate(notes):
        yield text(plot.x, 306 + 19 * row, note, size=12, ink=SOFT, anchor="middle")


def _curve() -> Iterator[str]:
    yield from _panel(_Plot(132), "1. maximum with min", -2, None, ("what lies below min", "is lifted to it"))
    yield from _panel(
        _Plot(382), "2. minimum with max", -2, 3, ("what then lies above max", "is lowered to it")
    )
    yield from _panel(
        _Plot(632), "min > max", 2, -1.5, ("step 1 (dotted) is above max", "everywhere, so all is max")
    )


def _table() -> Iterator[str]:
    left, top, wide, tall = 40.0, 74.0, 84.0, 34.0
    columns = [left + wide * n for n in range(3)]
    results = (left + wide * 3 + 40, left + wide * 4 + 64)
    for x, label in zip(columns, ("operand", "min", "max"), strict=True):
        yield text(x + wide / 2, 50, label, mono=True, ink=SOFT, anchor="middle")
    for x, label in zip(results, ("Clamp", "Clip"), strict=True):
        yield text(x + wide / 2, 50, label, size=15, bold=True, anchor="middle")
    whys = (
        "+0 is the larger zero",
        f"{MINUS}0 is the smaller zero",
        f"+0, then down to {MINUS}0",
        "a NaN bound gives NaN",
        "a NaN bound gives NaN",
        "",
        "",
        "",
    )
    for row, (arguments, why) in enumerate(zip(ROWS, whys, strict=True)):
        y = top + (tall + 6) * row
        one, other = clamp(*arguments), clip(*arguments)
        looks = (BLUE, BLUE) if same(one, other) else (ORANGE, PURPLE)
        yield grid(left, y, [[Cell(shown(value)) for value in arguments]], wide, tall)
        for x, result, look in zip(results, (one, other), looks, strict=True):
            yield grid(x, y, [[Cell(shown(result), look)]], wide, tall)
        note = why or "both alike"
        yield text(results[1] + wide + 18, y + tall / 2, note, ink=SOFT if not why else ORANGE_INK)


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-clamp-curve",
        "Clamp: the maximum with min, then the minimum with max",
        "The lower bound is applied first and the upper bound last, so `max` wins where the bounds cross.",
        "Three plots of output against operand. First, the maximum with min: level at min, then rising with "
        "the operand. Second, the minimum of that with max: level at min, rising, then level at max. Third, "
        "with min above max: what the first step gives lies above max everywhere, and the output is level "
        "at max.",
        (764, 344),
        _curve,
    ),
    compose(
        "xla-clamp-clip",
        "Clamp and Clip compared",
        "Clamp and Clip differ for NaN bounds and for zeros of unlike sign, and nowhere else.",
        "A table of operand, min and max with the results of Clamp and of Clip. "
        + " ".join(
            f"{shown(x)}, {shown(low)}, {shown(high)}: Clamp {shown(clamp(x, low, high))}, "
            f"Clip {shown(clip(x, low, high))}."
            for x, low, high in ROWS
        ),
        (760, 412),
        _table,
    ),
)
