"""Laws of every figure: it is well-formed, speaks to everyone, and nothing is cut off."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from docs.folders import folders
from tests.loops import for_each

from sonnx.drawing import svg
from sonnx.drawing.figure import Figure, compose

pytestmark = pytest.mark.measured

SVG = "{http://www.w3.org/2000/svg}"
BY_OPERATOR = {folder.name.replace("_", "-"): folder.figures for folder in folders()}
FIGURES = [figure for figures in BY_OPERATOR.values() for figure in figures]
HOSTILE = "</text><script>alert('1')</script> & \"quoted\" ]]> \x00\x1b\ud800"

every_figure = for_each("figure", FIGURES, ids=lambda figure: figure.name)


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float
    label: str = ""

    def inside(self, other: "Box") -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )

    def meets(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


@cache
def drawn(figure: Figure) -> str:
    """A figure's document, drawn once for all laws."""
    return figure.draw()


def parsed(document: str) -> Element:
    return ElementTree.fromstring(document)


def view(root: Element) -> Box:
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    return Box(left, top, left + width, top + height)


def text_boxes(root: Element, advance: float) -> Iterator[Box]:
    """Estimate where each text lies; ``advance`` is the width of a character in font sizes."""
    for node in root.iter(f"{SVG}text"):
        content = node.text or ""
        size, x, y = (float(node.attrib[key]) for key in ("font-size", "x", "y"))
        width = size * advance * len(content)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[node.attrib["text-anchor"]]
        yield Box(left, y - 0.8 * size, left + width, y + 0.2 * size, content)


def corners(root: Element) -> Iterator[tuple[float, float]]:
    for node in root.iter():
        given = node.attrib
        if node.tag == f"{SVG}rect":
            x, y, width, height = (float(given[key]) for key in ("x", "y", "width", "height"))
            yield from ((x, y), (x + width, y + height))
        elif node.tag == f"{SVG}line":
            yield from ((float(given[f"x{end}"]), float(given[f"y{end}"])) for end in "12")
        elif node.tag in (f"{SVG}polygon", f"{SVG}polyline"):
            for point in given["points"].split():
                x, y = map(float, point.split(","))
                yield x, y


def outside(root: Element, advance: float = 0.62) -> list[str]:
    window = view(root)
    return [box.label for box in text_boxes(root, advance) if not box.inside(window)]


def overlapping(root: Element) -> list[tuple[str, str]]:
    # 0.55 is nearer to the fonts in use than the cautious 0.62 that guards the edges.
    pairs = combinations(text_boxes(root, 0.55), 2)
    return [(one.label, other.label) for one, other in pairs if one.meets(other)]


def test_figure_names_are_unique_and_start_with_their_operator() -> None:
    names = [figure.name for figure in FIGURES]
    assert len(set(names)) == len(names)
    for operator, figures in BY_OPERATOR.items():
        for figure in figures:
            assert re.fullmatch(rf"{operator}(-[a-z0-9]+)+", figure.name)


@every_figure
def test_figure_is_an_accessible_svg_image(figure: Figure) -> None:
    root = parsed(drawn(figure))
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert (title.text or "").strip()
    assert description.text == figure.alt
    identifiers = [title.attrib["id"], description.attrib["id"]]
    assert root.attrib["aria-labelledby"].split() == identifiers
    assert all(identifier.startswith(figure.name) for identifier in identifiers)


@every_figure
def test_figure_states_its_size(figure: Figure) -> None:
    root = parsed(drawn(figure))
    window = view(root)
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (
        window.right,
        window.bottom,
    )
    assert window.right > 0
    assert window.bottom > 0


@every_figure
def test_caption_is_one_sentence_and_alt_says_more(figure: Figure) -> None:
    assert re.fullmatch(r"[A-Z].*\.", figure.caption)
    assert ". " not in figure.caption
    assert len(figure.alt) > len(figure.caption) / 2
    assert figure.alt != figure.caption


@every_figure
def test_drawing_is_deterministic(figure: Figure) -> None:
    assert figure.draw() == drawn(figure)


@every_figure
def test_no_text_leaves_the_figure(figure: Figure) -> None:
    assert outside(parsed(drawn(figure))) == []


@every_figure
def test_no_shape_leaves_the_figure(figure: Figure) -> None:
    root = parsed(drawn(figure))
    window = view(root)
    assert [p for p in corners(root) if not Box(*p, *p).inside(window)] == []


@every_figure
def test_no_two_texts_overlap(figure: Figure) -> None:
    assert overlapping(parsed(drawn(figure))) == []


@every_figure
def test_figure_holds_only_shapes_and_text(figure: Figure) -> None:
    """No script, style sheet, link or outside resource: pages may include a figure as it is."""
    tags = {node.tag.removeprefix(SVG) for node in parsed(drawn(figure)).iter()}
    shapes = {"rect", "line", "polygon", "polyline", "text"}
    assert tags <= {"svg", "title", "desc"} | shapes


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@every_figure
def test_every_text_can_be_read_on_the_paper(figure: Figure) -> None:
    inks = {node.attrib["fill"] for node in parsed(drawn(figure)).iter(f"{SVG}text")}
    assert {ink for ink in inks if contrast(ink, svg.PAPER) < 4.5} == set()


def test_every_label_can_be_read_in_its_cell() -> None:
    looks = [value for value in vars(svg).values() if isinstance(value, svg.Look)]
    assert looks
    assert [look for look in looks if contrast(look.ink, look.fill) < 4.5] == []


def test_text_outside_of_the_figure_is_noticed() -> None:
    def body() -> Iterator[str]:
        yield svg.text(10, 20, "fits")
        yield svg.text(90, 20, "runs over the edge")
        yield svg.text(10, 58, "sinks", size=20)

    figure = compose("x-edge", "t", "c", "a", (120, 60), body)
    assert outside(parsed(figure.draw())) == ["runs over the edge", "sinks"]


def test_overlapping_texts_are_noticed() -> None:
    def body() -> Iterator[str]:
        yield svg.text(10, 20, "first")
        yield svg.text(30, 22, "second")
        yield svg.text(10, 50, "third")

    figure = compose("x-overlap", "t", "c", "a", (200, 80), body)
    assert overlapping(parsed(figure.draw())) == [("first", "second")]


def test_hostile_text_stays_text_everywhere() -> None:
    def body() -> Iterator[str]:
        yield svg.text(10, 20, HOSTILE)
        yield svg.grid(10, 30, [[svg.Cell(HOSTILE, svg.Look(fill=HOSTILE))]])

    root = parsed(compose(HOSTILE, HOSTILE, "c", HOSTILE, (100, 100), body).draw())
    expected = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    expected = expected.replace("\ud800", "\ufffd")
    assert root.find(f".//{SVG}script") is None
    assert root.findtext(f"{SVG}title") == expected
    assert root.findtext(f"{SVG}desc") == expected
    assert [node.text for node in root.iter(f"{SVG}text")] == [expected, expected]
    assert expected in {node.get("fill") for node in root.iter(f"{SVG}rect")}


@pytest.mark.parametrize(
    ("value", "written"),
    [(1, "1"), (1.5, "1.5"), (100, "100"), (-0.001, "0"), (2.345678, "2.35"), (1e6, "1000000")],
)
def test_numbers_are_short_and_never_in_exponent_form(value: float, written: str) -> None:
    assert svg.number(value) == written


def test_an_arrow_needs_two_ends() -> None:
    with pytest.raises(ValueError, match="two different ends"):
        svg.arrow(1, 2, 1, 2)


def test_an_arrow_points_at_its_end() -> None:
    root = parsed(f"<g>{svg.arrow(0, 0, 50, 0)}</g>")
    head = root.find("polygon")
    assert head is not None
    assert head.attrib["points"].split()[0] == "50,0"


def test_heavier_outlines_are_drawn_over_plain_ones() -> None:
    row = [svg.Cell("", svg.BLUE), svg.Cell("", svg.PLAIN)]
    root = parsed(f"<g>{svg.grid(0, 0, [row])}</g>")
    assert [node.attrib["x"] for node in root.iter("rect")] == ["34", "0"]


def test_a_stack_draws_its_first_plane_last() -> None:
    planes = [[[svg.Cell("front")]], [[svg.Cell("back")]]]
    root = parsed(f"<g>{svg.stack(0, 50, planes, 34, 10)}</g>")
    assert [node.text for node in root.iter("text")] == ["back", "front"]


def labels(figures: tuple[Figure, ...], name: str) -> list[str]:
    (figure,) = (figure for figure in figures if figure.name == name)
    return [node.text or "" for node in parsed(figure.draw()).iter(f"{SVG}text")]
