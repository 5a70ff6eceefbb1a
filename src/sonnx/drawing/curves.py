"""The family of element-wise operators: output against input, and a table of special values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import copysign, inf, isnan, nan

from sonnx.drawing.figure import Figure
from sonnx.drawing.layout import Block, above, beside, sheet, table, words
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    GREEN_INK,
    MINUS,
    ORANGE_INK,
    PLAIN,
    PURPLE_INK,
    Cell,
    Look,
    arrow,
    line,
    polyline,
    rect,
    text,
)

_Function = Callable[[float], float]

SPECIAL = (-inf, -1.5, -0.0, 0.0, 1.5, inf, nan)
_INKS = (GREEN_INK, ORANGE_INK, PURPLE_INK)
_CURVE = Look(stroke=BLUE_INK, width=4)
_SIDE = 198.0
_REACH = 4.5
_STEPS = 32
# Beside each half number too, so that a jump there is upright.
_NEAR = 1e-6
# Between neighbouring points, what rises more is a jump.
_JUMP = 0.75


def shown(value: float) -> str:
    """Write a float with its sign wherever a zero or an infinity has one."""
    if isnan(value):
        return "NaN"
    size = "\u221e" if abs(value) == inf else f"{abs(value):g}"
    plus = "+" if value in (0, inf) else ""
    return f"{MINUS}{size}" if copysign(1, value) < 0 else f"{plus}{size}"


@dataclass(frozen=True)
class Curve:
    """One plot: what is drawn, and dashed levels by name."""

    head: str
    function: _Function
    levels: Mapping[str, float]

    def block(self) -> Block:
        """The plot under its head."""
        named = max((words(name, size=12).width for name in self.levels), default=10)
        half = _SIDE / 2
        plot = Block(
            _SIDE + 10 + named, _SIDE + 24, lambda x, y: "".join(self._plot(x + half, y + 20 + half))
        )
        return above(words(self.head, size=14, bold=True), plot, gap=6, align=0.5)

    def _plot(self, x: float, y: float) -> Iterator[str]:
        unit, half = _SIDE / 2 / _REACH, _SIDE / 2
        yield rect(x - half, y - half, _SIDE, _SIDE, PLAIN, round_by=4)
        yield arrow(x - half, y, x + half + 10, y)
        yield arrow(x, y + half, x, y - half - 10)
        for (name, level), ink in zip(self.levels.items(), _INKS, strict=False):
            height = y - level * unit
            yield line(x - half, height, x + half, height, Look(stroke=ink, width=1.3, dash="4 4"))
            yield text(x + half + 7, height, name, size=12, mono=True, bold=True, ink=ink)
        for run in _runs(self.function):
            yield polyline([(x + along * unit, y - up * unit) for along, up in run], _CURVE)


def _runs(function: _Function) -> Iterator[list[tuple[float, float]]]:
    """The points of a curve, cut where it jumps or leaves the plot; straight parts have ends only."""
    halves = range(-int(2 * _REACH), int(2 * _REACH) + 1)
    places = {half / 2 + near for half in halves for near in (-_NEAR, 0.0, _NEAR)}
    places |= {step / _STEPS for step in range(-int(_REACH * _STEPS), int(_REACH * _STEPS) + 1)}
    points = [(x, function(x)) for x in sorted(places) if abs(x) <= _REACH]
    run: list[tuple[float, float]] = []
    for x, y in points:
        drawn = abs(y) <= _REACH  # no NaN is
        if run and (not drawn or abs(y - run[-1][1]) > _JUMP):
            yield _corners(run)
            run = []
        if drawn:
            run.append((x, y))
    if run:
        yield _corners(run)


def _corners(run: list[tuple[float, float]]) -> list[tuple[float, float]]:
    slopes = [round((b[1] - a[1]) / (b[0] - a[0]), 3) for a, b in pairwise(run)]
    inner = [point for point, (one, other) in zip(run[1:-1], pairwise(slopes), strict=True) if one != other]
    return [run[0], *inner, run[-1]]


def elementwise(page: str, title: str, names: Sequence[str], function: Callable[..., float]) -> Figure:
    """The figure of an operator that needs no code for it; `function` gives one element.

    Of one operand: its curve, and the special values. Of more: curves against the first with the others at
    1 and at -2, and the special values of the first two with the others at 1.
    """
    first, *others = names
    at = (1.0, -2.0) if others else (0.0,)
    curves = [_with_others(function, first, others, value) for value in at]
    second = SPECIAL if others else (nan,)
    rest = (1.0,) * (len(others) - 1)
    heads = [f"{others[0]} = {shown(y)}" if others else "output" for y in second]
    found = [[shown(function(x, *(y, *rest)[: len(others)])) for x in SPECIAL] for y in second]
    columns = {head: [Cell(result, BLUE) for result in row] for head, row in zip(heads, found, strict=True)}
    special = table({first: [Cell(shown(x)) for x in SPECIAL], **columns})
    drawn = beside(*(curve.block() for curve in curves), gap=40)
    said = "; ".join(f"{head}: {', '.join(row)}" for head, row in zip(heads, found, strict=True))
    return sheet(
        f"{page}-curve",
        f"{title}: output against input",
        f"One element of {title}, and what becomes of zeros, infinities and NaN.",
        f"The output against {first} from {MINUS}4.5 to 4.5, and a table for {first} = "
        f"{', '.join(map(shown, SPECIAL))}. {said}.",
        above(drawn, special, gap=24) if others else beside(drawn, special, gap=40),
    )


def _with_others(function: Callable[..., float], first: str, others: Sequence[str], at: float) -> Curve:
    head = f"{', '.join(others)} = {shown(at)}" if others else f"output against {first}"
    levels = {others[0]: at} if others else {}
    return Curve(head, lambda x: function(x, *(at,) * len(others)), levels)
