"""The figures of the XLA conversions and convolutions: the laws of every figure, and the values they show."""

import re

import pytest
from tests.drawing.test_figures import (
    FIGURES as OTHERS,
)
from tests.drawing.test_figures import (
    SVG,
    Box,
    contrast,
    corners,
    labels,
    outside,
    overlapping,
    parsed,
    view,
)

from sonnx.drawing import svg
from sonnx.drawing.figure import Figure
from sonnx.operators.xla.conv import figures as conv
from sonnx.operators.xla.conv_with_general_padding import figures as general
from sonnx.operators.xla.convert_element_type import figures as convert

pytestmark = pytest.mark.measured

BY_OPERATOR = {
    "xla-conv": conv.FIGURES,
    "xla-conv-with-general-padding": general.FIGURES,
    "xla-convert-element-type": convert.FIGURES,
}
FIGURES = [figure for figures in BY_OPERATOR.values() for figure in figures]
MINUS, TIMES_DOT = "\u2212", "\u00b7"

every_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)


def test_names_are_unique_on_the_whole_site_and_start_with_their_page() -> None:
    names = [figure.name for figure in FIGURES]
    others = {figure.name for figure in OTHERS if figure not in FIGURES}
    assert len(set(names)) == len(names)
    assert not others & set(names)
    for page, figures in BY_OPERATOR.items():
        assert all(re.fullmatch(rf"{page}(-[a-z0-9]+)+", figure.name) for figure in figures)


@every_figure
def test_figure_is_an_accessible_svg_image(figure: Figure) -> None:
    root = parsed(figure.draw())
    assert (root.tag, root.attrib["role"]) == (f"{SVG}svg", "img")
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc") == figure.alt
    assert root.attrib["aria-labelledby"] == f"{figure.name}-title {figure.name}-desc"


@every_figure
def test_caption_is_one_sentence_and_alt_says_more(figure: Figure) -> None:
    assert re.fullmatch(r"[A-Z].*\.", figure.caption)
    assert ". " not in figure.caption
    assert len(figure.alt) > len(figure.caption)


@every_figure
def test_nothing_leaves_the_figure_and_no_texts_overlap(figure: Figure) -> None:
    root = parsed(figure.draw())
    assert outside(root) == []
    assert [p for p in corners(root) if not Box(*p, *p).inside(view(root))] == []
    assert overlapping(root) == []


@every_figure
def test_drawing_is_deterministic_and_holds_only_shapes_and_text(figure: Figure) -> None:
    assert figure.draw() == figure.draw()
    tags = {node.tag.removeprefix(SVG) for node in parsed(figure.draw()).iter()}
    assert tags <= {"svg", "title", "desc", "rect", "line", "circle", "polygon", "polyline", "text"}


@every_figure
def test_every_text_can_be_read_on_the_paper(figure: Figure) -> None:
    inks = {node.attrib["fill"] for node in parsed(figure.draw()).iter(f"{SVG}text")}
    assert {ink for ink in inks if contrast(ink, svg.PAPER) < 4.5} == set()


# --- what they show, by hand -------------------------------------------------------------------------------


def run(shown: list[str], *wanted: object) -> bool:
    """Tell whether these labels stand one after the other."""
    words = [str(word).replace("-", MINUS) for word in wanted]
    return any(shown[start : start + len(words)] == words for start in range(len(shown)))


def test_ties_figure_has_four_floats_among_seven_integers() -> None:
    shown = labels(convert.FIGURES, "xla-convert-element-type-ties")
    for integer in range(16777216, 16777223):
        assert shown.count(str(integer)) == 2 - integer % 2
    assert [word for word in shown if word in ("even", "odd")] == ["even", "odd", "even", "odd"]
    assert f"2 {TIMES_DOT} 8388610" in shown


def test_ties_figure_points_at_the_even_neighbours() -> None:
    (figure,) = (found for found in convert.FIGURES if found.name.endswith("-ties"))
    tips = [node.attrib["points"].split()[0] for node in parsed(figure.draw()).iter(f"{SVG}polygon")]
    # Columns 0, 2 and 4 hold the floats that seven arrows lead to, column 6 the last one.
    columns = [round((float(tip.split(",")[0]) - 122) / 95) for tip in tips]
    assert columns == [0, 0, 2, 4, 4, 4, 6]


def test_rounding_once_and_twice_end_at_different_numbers() -> None:
    shown = labels(convert.FIGURES, "xla-convert-element-type-twice")
    assert "1.0009765625" in shown
    assert shown.count("1") == 2
    assert "1 + 2\u207b\u00b9\u2070" in shown


def test_integer_figure_truncates_saturates_and_makes_zero_of_nan() -> None:
    shown = labels(convert.FIGURES, "xla-convert-element-type-integers")
    assert run(shown, "-\u221e", -128, 0, -129, -128, 0, -128.9, -128, 0, -1.9, -1, 0, -0.9, 0, 0)
    assert run(shown, 127.9, 127, 127, 128, 127, 128, 255.9, 127, 255, 256, 127, 255, "\u221e", 127, 255)
    assert run(shown, "NaN", 0, 0)


def test_dilation_figure_puts_zeros_between_and_leaves_holes() -> None:
    shown = labels(general.FIGURES, "xla-conv-with-general-padding-dilations")
    base = [1, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 4, 0, 0, 0, 0, 5, 0, 0, 6]
    assert run(shown, *base)
    # The window's holes are cells without a label.
    assert shown.count("0") == base.count(0)
    assert run(shown, "a", "b", "c", "d", "a", "b", "c", "d")


def test_deconvolution_figure_shows_seven_sums() -> None:
    shown = labels(general.FIGURES, "xla-conv-with-general-padding-deconvolution")
    assert run(shown, 0, 0, 1, 0, 2, 0, 3, 0, 0)
    sums = {"1\u00b7100": 100, "1\u00b710": 10, "1\u00b71 + 2\u00b7100": 201, "2\u00b710": 20}
    sums |= {"2\u00b71 + 3\u00b7100": 302, "3\u00b710": 30, "3\u00b71": 3}
    for written, value in sums.items():
        assert run(shown, written, value)


def test_negative_padding_figure_shows_what_is_left() -> None:
    shown = labels(general.FIGURES, "xla-conv-with-general-padding-negative")
    assert run(shown, "padding = [(-1, 2)]", 1, 2, 3, 4, 5, 2, 3, 4, 5, 0, 0)
    assert run(shown, "padding = [(0, -2)]", 1, 2, 3, 4, 5, 1, 2, 3, "padding = [(2, -1)]")
    assert run(shown, "padding = [(2, -1)]", 1, 2, 3, 4, 0, 0, 1, 2, 3)
    assert run(shown, "padding = [(-5, 5)]", 1, 2, 3, 0, 0, 0, "element")


def test_negative_padding_figure_strikes_out_what_is_removed() -> None:
    (figure,) = (found for found in general.FIGURES if found.name.endswith("-negative"))
    struck = list(parsed(figure.draw()).iter(f"{SVG}line"))
    assert len(struck) == 1 + 2 + 1 + 3


def test_order_figure_shows_both_orders() -> None:
    shown = labels(general.FIGURES, "xla-conv-with-general-padding-order")
    assert run(shown, "dilate", 1, 0, 0, 2, "then pad", 0, 0, 2, 0)
    assert run(shown, "pad", 2, 0, "then dilate", 2, 0, 0, 0)


def test_same_figure_puts_the_odd_zero_at_the_high_end() -> None:
    shown = labels(conv.FIGURES, "xla-conv-same")
    assert run(shown, 1, 10, 1, 2, 3, 0, "low 0, high 1", 21, 32, 3)
    assert run(shown, 1, 10, 100, 0, 1, 2, 3, 0, "low 1, high 1", 210, 321, 32)
    assert run(shown, 1, 10, 100, 1000, 0, 1, 2, 3, 0, 0, "low 1, high 2", 3210, 321, 32)


def test_stride_figure_counts_positions_and_zeros() -> None:
    shown = labels(conv.FIGURES, "xla-conv-same-strides")
    assert run(shown, 0, 1, 2, 3, 4, 5, 0, 210, 432, 54, "positions \u23085 / 2\u2309 = 3")
    assert run(shown, 1, 2, 3, 4, 0, 321, 43, "positions \u23084 / 2\u2309 = 2")
    assert "zeros 2\u00b7(3 \u2212 1) + 3 \u2212 5 = 2" in shown
    assert "zeros 2\u00b7(2 \u2212 1) + 3 \u2212 4 = 1" in shown
