"""Small pure functions that build SVG text.

Every function returns markup and keeps no state. Coordinates are user units with y pointing down.
Only attributes are used for styling, and arrow heads are polygons rather than markers: a page may
hold many figures inline, and neither style sheets nor marker identifiers can then collide.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from xml.sax.saxutils import escape, quoteattr

SANS = "system-ui, sans-serif"
MONO = "ui-monospace, monospace"

# Named here because the characters themselves are easily mistaken for x and the hyphen.
MINUS = "\u2212"

INK = "#1b2127"
SOFT = "#59636e"
RULE = "#9aa3ad"
PAPER = "#fcfcfa"
EDGE = "#d3d7dc"

# The Okabe-Ito colours stay apart for the common kinds of colour blindness. As text they need a
# contrast of 4.5 to 1 with the paper, so most are darkened here; outlines keep the originals.
BLUE_INK = "#0072b2"
ORANGE_INK = "#946600"  # #e69f00
GREEN_INK = "#00795a"  # #009e73
RED_INK = "#b84f00"  # #d55e00
PURPLE_INK = "#a8558a"  # #cc79a7


@dataclass(frozen=True)
class Look:
    """How a shape is painted; ``ink`` is the colour of a label inside it."""

    fill: str = "none"
    stroke: str = RULE
    width: float = 1.0
    dash: str = ""
    ink: str = INK


PLAIN = Look("#ffffff")
FADED = Look("#f4f5f6", "#c3c9cf", ink="#66707a")
ZERO = Look("#e4e7ea", RULE, dash="3 2", ink=SOFT)
BLUE = Look("#cfe6f5", BLUE_INK, 1.8)
ORANGE = Look("#fbe5b8", "#e69f00", 1.8)
GREEN = Look("#c9ebdf", "#009e73", 1.8)
RED = Look("#f8d5bf", "#d55e00", 1.8)
PURPLE = Look("#f3deea", "#cc79a7", 1.8)
YELLOW = Look("#faf5b4", "#b5a800", 1.8)


@dataclass(frozen=True)
class Cell:
    """One square of a grid: its label and its look."""

    label: str = ""
    look: Look = PLAIN


Rows = Sequence[Sequence[Cell]]

# XML 1.0 has no way to write these characters, not even as references.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(content: str) -> str:
    """Replace the characters that no XML document can hold by U+FFFD."""
    return _NOT_XML.sub("\ufffd", content)


def number(value: float) -> str:
    """Write a coordinate with at most two decimals and without a needless point."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written in ("", "-0") else written


def element(tag: str, attributes: Mapping[str, str | float], content: str | None = None) -> str:
    """Build one element; ``content`` is markup and has to be escaped already."""
    written = "".join(
        f" {key}={quoteattr(clean(value) if isinstance(value, str) else number(value))}"
        for key, value in attributes.items()
    )
    return f"<{tag}{written}/>" if content is None else f"<{tag}{written}>{content}</{tag}>"


def _paint(look: Look) -> dict[str, str | float]:
    paint: dict[str, str | float] = {
        "fill": look.fill,
        "stroke": look.stroke,
        "stroke-width": look.width,
    }
    return paint | {"stroke-dasharray": look.dash} if look.dash else paint


def rect(x: float, y: float, width: float, height: float, look: Look = PLAIN, *, round_by: float = 0) -> str:
    """Draw a rectangle from its top left corner."""
    place: dict[str, str | float] = {"x": x, "y": y, "width": width, "height": height}
    if round_by:
        place["rx"] = round_by
    return element("rect", place | _paint(look))


def line(x1: float, y1: float, x2: float, y2: float, look: Look | None = None) -> str:
    """Draw a straight line."""
    place: dict[str, str | float] = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return element("line", place | _paint(look or Look(stroke=SOFT, width=1.4)))


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def polyline(points: Iterable[tuple[float, float]], look: Look) -> str:
    """Draw an open run of straight lines."""
    shape: dict[str, str | float] = {"points": _points(points), "stroke-linejoin": "round"}
    return element("polyline", shape | _paint(replace(look, fill="none")))


def polygon(points: Iterable[tuple[float, float]], look: Look) -> str:
    """Draw a closed shape."""
    return element("polygon", {"points": _points(points), **_paint(look)})


def arrow(x1: float, y1: float, x2: float, y2: float, ink: str = SOFT, width: float = 1.6) -> str:
    """Draw a line with a filled head whose tip is at (x2, y2)."""
    length = hypot(x2 - x1, y2 - y1)
    if length == 0:
        raise ValueError("an arrow needs two different ends")
    along_x, along_y = (x2 - x1) / length, (y2 - y1) / length
    head = min(9.0, length)
    back_x, back_y = x2 - along_x * head, y2 - along_y * head
    half = head * 0.42
    tip = [
        (x2, y2),
        (back_x - along_y * half, back_y + along_x * half),
        (back_x + along_y * half, back_y - along_x * half),
    ]
    shaft = line(x1, y1, back_x, back_y, Look(stroke=ink, width=width))
    return shaft + polygon(tip, Look(ink, ink, 0.5))


def span(x1: float, y1: float, x2: float, y2: float, ink: str = SOFT, tick: float = 5) -> str:
    """Draw a measure: a horizontal or vertical line with a tick across each end."""
    look = Look(stroke=ink, width=1.6)
    across_x, across_y = (0.0, tick) if y1 == y2 else (tick, 0.0)
    ends = (
        line(x - across_x, y - across_y, x + across_x, y + across_y, look) for x, y in ((x1, y1), (x2, y2))
    )
    return line(x1, y1, x2, y2, look) + "".join(ends)


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 13,
    mono: bool = False,
    bold: bool = False,
    ink: str = INK,
    anchor: str = "start",
) -> str:
    """Write one line whose vertical middle is at y; ``anchor`` is start, middle or end.

    The baseline is computed here, since renderers disagree about ``dominant-baseline``.
    """
    style: dict[str, str | float] = {
        "x": x,
        "y": y + 0.35 * size,
        "font-family": MONO if mono else SANS,
        "font-size": size,
        "fill": ink,
        "text-anchor": anchor,
    }
    if bold:
        style["font-weight"] = "600"
    return element("text", style, escape(clean(content)))


def grid(x: float, y: float, rows: Rows, size: float = 34, height: float | None = None) -> str:
    """Draw cells of one size, line by line, from the top left corner.

    ``height`` makes the cells oblong. Heavier outlines are drawn later, so that a plain neighbour
    never covers half of a coloured edge.
    """
    tall = size if height is None else height
    placed = [
        (x + column * size, y + row * tall, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    ]
    boxes = (
        rect(left, top, size, tall, cell.look)
        for left, top, cell in sorted(placed, key=lambda item: item[2].look.width)
    )
    letters = min(15.0, tall * 0.42)
    labels = (
        text(
            left + size / 2,
            top + tall / 2,
            cell.label,
            size=letters,
            mono=True,
            ink=cell.look.ink,
            anchor="middle",
        )
        for left, top, cell in placed
        if cell.label
    )
    return "".join(boxes) + "".join(labels)


def stack(x: float, y: float, planes: Sequence[Rows], size: float, shift: float) -> str:
    """Draw planes behind one another, plane 0 in front with its top left corner at (x, y).

    Each further plane lies ``shift`` to the right of and above the one before it.
    """
    return "".join(
        grid(x + depth * shift, y - depth * shift, planes[depth], size)
        for depth in reversed(range(len(planes)))
    )


def cross(x: float, y: float, reach: float, ink: str) -> str:
    """Draw the sign for "refused" around a centre."""
    look = Look(stroke=ink, width=3)
    return line(x - reach, y - reach, x + reach, y + reach, look) + line(
        x - reach, y + reach, x + reach, y - reach, look
    )


def check_mark(x: float, y: float, reach: float, ink: str) -> str:
    """Draw the sign for "accepted" around a centre."""
    points = [(x - reach, y), (x - reach * 0.3, y + reach * 0.8), (x + reach, y - reach * 0.8)]
    return polyline(points, Look(stroke=ink, width=3))


def document(name: str, title: str, description: str, width: int, height: int, body: Iterable[str]) -> str:
    """Wrap elements into a whole SVG document on its own light panel.

    The panel keeps the figure readable on a dark page. ``name`` makes the identifiers of title and
    description unique, so that figures can be put into one HTML page.
    """
    title_id, description_id = f"{name}-title", f"{name}-desc"
    panel = Look(PAPER, EDGE)
    parts = [
        element("title", {"id": title_id}, escape(clean(title))),
        element("desc", {"id": description_id}, escape(clean(description))),
        rect(0.5, 0.5, width - 1, height - 1, panel, round_by=12),
        *body,
    ]
    attributes: dict[str, str | float] = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": height,
        "viewBox": f"0 0 {width} {height}",
        "role": "img",
        "aria-labelledby": f"{title_id} {description_id}",
    }
    return element("svg", attributes, "\n" + "\n".join(parts) + "\n") + "\n"
