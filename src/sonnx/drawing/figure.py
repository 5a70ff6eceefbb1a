"""What an operator page needs to know about one of its figures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sonnx.drawing.svg import document

# An operator by its name, arrays by operand, attributes → arrays by output, as definitions give them.
Run = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Figure:
    """A named drawing with its words.

    ``name`` is the stem of its file, ``caption`` the sentence under it, ``alt`` the text for people
    who cannot see it, and ``draw`` gives the whole SVG document, the same text on every call.
    """

    name: str
    caption: str
    alt: str
    draw: Callable[[], str]


def compose(
    name: str,
    title: str,
    caption: str,
    alt: str,
    size: tuple[int, int],
    body: Callable[[], Iterable[str]],
) -> Figure:
    """Make a figure whose document carries the same alternative text as its page entry.

    ``size`` is (width, height) in user units; ``body`` gives the elements, first drawn first.
    """
    width, height = size

    def draw() -> str:
        return document(name, title, alt, width, height, body())

    return Figure(name, caption, alt, draw)
