"""Boxes, tensors and the arrows between them, for drawings of graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sonnx.drawing.svg import INK, PLAIN, SOFT, Look, arrow, polyline, rect, text

_TITLE = 26.0
_LINE = 18.0
_PILL_HEIGHT = 24.0


@dataclass(frozen=True)
class Box:
    """A node of a graph, drawn from its top left corner; `lines` stand under its title.

    A line is its text and the colour of it.
    """

    x: float
    y: float
    width: float
    title: str
    lines: Sequence[tuple[str, str]] = ()
    look: Look = PLAIN

    @property
    def height(self) -> float:
        """The title, and the lines with a little room under them."""
        return _TITLE + 8 + (_LINE * len(self.lines) + 4 if self.lines else 0)

    @property
    def top(self) -> tuple[float, float]:
        """The middle of the upper edge."""
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        """The middle of the lower edge."""
        return self.x + self.width / 2, self.y + self.height

    def draw(self) -> str:
        """Draw the outline, the title in its middle, the lines from its left."""
        middle = self.x + self.width / 2
        parts = [
            rect(self.x, self.y, self.width, self.height, self.look, round_by=7),
            text(middle, self.y + 17, self.title, size=14, bold=True, ink=self.look.ink, anchor="middle"),
        ]
        for row, (content, ink) in enumerate(self.lines):
            height = self.y + _TITLE + 13 + _LINE * row
            parts.append(text(self.x + 12, height, content, size=11, mono=True, ink=ink))
        return "".join(parts)


def pill(x: float, y: float, label: str, look: Look = PLAIN, *, width: float | None = None) -> str:
    """Draw a tensor around its centre: its name in a rounded frame."""
    wide = 9.0 * len(label) + 20 if width is None else width
    frame = rect(x - wide / 2, y - _PILL_HEIGHT / 2, wide, _PILL_HEIGHT, look, round_by=_PILL_HEIGHT / 2)
    return frame + text(x, y, label, mono=True, ink=look.ink, anchor="middle")


def route(points: Sequence[tuple[float, float]], ink: str = SOFT, width: float = 1.6) -> str:
    """Draw an arrow that goes through all points and ends at the last one."""
    *before, start, end = points
    bent = polyline([*before, start], Look(stroke=ink, width=width)) if before else ""
    return bent + arrow(*start, *end, ink, width)


def lines(x: float, y: float, contents: Sequence[str], *, size: float = 12, ink: str = INK) -> str:
    """Write lines under one another, the first with its middle at y."""
    return "".join(
        text(x, y + (size + 6) * row, content, size=size, ink=ink) for row, content in enumerate(contents)
    )
