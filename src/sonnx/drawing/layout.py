"""Blocks that know their size, so that a figure is put together without coordinates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import INK, MINUS, PLAIN, SOFT, Cell, Look, Rows, arrow, grid, line, rect, span, text

_MARGIN = 26.0
# No font in use is wider: a text that fits by this measure fits everywhere.
_ADVANCE = 0.62
_LETTERS = 14.0


@dataclass(frozen=True)
class Block:
    """A part of a figure: its size, and what draws it from its top left corner."""

    width: float
    height: float
    draw: Callable[[float, float], str]


def sheet(name: str, title: str, caption: str, alt: str, body: Block) -> Figure:
    """Make a figure of a block, with a margin around it."""
    size = ceil(body.width + 2 * _MARGIN), ceil(body.height + 2 * _MARGIN)
    return compose(name, title, caption, alt, size, lambda: [body.draw(_MARGIN, _MARGIN)])


def words(content: str, *, size: float = 13, mono: bool = False, bold: bool = False, ink: str = INK) -> Block:
    """One line of text."""
    height = 1.4 * size
    return Block(
        _ADVANCE * size * len(content),
        height,
        lambda x, y: text(x, y + height / 2, content, size=size, mono=mono, bold=bold, ink=ink),
    )


def code(content: str, ink: str = INK) -> Block:
    """One line of code, in bold letters."""
    return words(content, size=_LETTERS, mono=True, bold=True, ink=ink)


def note(content: str) -> Block:
    """One line of text in the background."""
    return words(content, size=12, ink=SOFT)


def cells(rows: Rows, size: float = 34, height: float = 34) -> Block:
    """A grid whose cells are wide enough for their labels."""
    longest = max((len(cell.label) for row in rows for cell in row), default=0)
    wide = max(size, _ADVANCE * min(15.0, height * 0.42) * longest + 10)
    columns = max(map(len, rows), default=0)
    return Block(wide * columns, height * len(rows), lambda x, y: grid(x, y, rows, wide, height))


def labelled(values: Sequence[object], look: Look = PLAIN, size: float = 34) -> Block:
    """A row of cells of one look."""
    return cells([[Cell(plain(value), look) for value in values]], size)


def plain(value: object) -> str:
    """Write a value with a minus sign that is one."""
    return str(value).replace("-", MINUS)


def to(ink: str = SOFT) -> Block:
    """An arrow to the right."""
    return Block(46, 10, lambda x, y: arrow(x, y + 5, x + 46, y + 5, ink))


def rule(width: float) -> Block:
    """A thin line across."""
    return Block(width, 1, lambda x, y: line(x, y, x + width, y, Look(stroke="#d3d7dc")))


def measure(length: float, ink: str) -> Block:
    """A span across, with ticks at both ends."""
    return Block(length, 10, lambda x, y: span(x + 3, y + 5, x + length - 3, y + 5, ink, 4))


def gap(width: float, height: float = 0) -> Block:
    """Nothing, of a size."""
    return Block(width, height, lambda x, y: "")


def key(*entries: tuple[Look, str]) -> Block:
    """What colours mean."""
    return beside(*(beside(_swatch(look), words(name), gap=8) for look, name in entries), gap=24)


def _swatch(look: Look) -> Block:
    return Block(18, 18, lambda x, y: rect(x, y, 18, 18, look))


def beside(*blocks: Block, gap: float = 20, align: float = 0.5) -> Block:
    """Blocks from left to right; `align` 0 puts their tops in a line, 0.5 their middles."""
    height = max(block.height for block in blocks)

    def draw(x: float, y: float) -> str:
        parts = []
        for block in blocks:
            parts.append(block.draw(x, y + align * (height - block.height)))
            x += block.width + gap
        return "".join(parts)

    return Block(sum(block.width for block in blocks) + gap * (len(blocks) - 1), height, draw)


def above(*blocks: Block, gap: float = 12, align: float = 0) -> Block:
    """Blocks from top to bottom; `align` 0 puts their left edges in a line, 0.5 their middles."""
    width = max(block.width for block in blocks)

    def draw(x: float, y: float) -> str:
        parts = []
        for block in blocks:
            parts.append(block.draw(x + align * (width - block.width), y))
            y += block.height + gap
        return "".join(parts)

    return Block(width, sum(block.height for block in blocks) + gap * (len(blocks) - 1), draw)


def table(columns: Mapping[str, Sequence[Cell] | Sequence[str]], height: float = 30) -> Block:
    """Columns under their heads, of cells or of words."""
    return beside(*(_column(head, entries, height) for head, entries in columns.items()), gap=14, align=0)


def _column(head: str, entries: Sequence[Cell] | Sequence[str], height: float) -> Block:
    rows = [
        cells([[entry]], 56, height) if isinstance(entry, Cell) else _line(words(entry), height)
        for entry in entries
    ]
    width = max(row.width for row in rows)
    body = [
        cells([[entry]], width, height) if isinstance(entry, Cell) else row
        for entry, row in zip(entries, rows, strict=True)
    ]
    return above(words(head, ink=SOFT), above(*body, gap=0), gap=6)


def _line(block: Block, height: float) -> Block:
    """A block in the middle of a row."""
    return beside(block, gap(0, height), gap=0)
