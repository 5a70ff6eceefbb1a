"""The figures of the XLA operations that move and select: every figure's laws, and the values they show."""

import inspect
import re
from collections.abc import Callable
from itertools import product
from math import inf, isnan, nan

import pytest
from tests.drawing import test_figures as laws
from tests.drawing.test_figures import SVG, labels, parsed
from tests.loops import for_each

from sonnx.drawing import svg
from sonnx.drawing.figure import Figure
from sonnx.operators.xla.broadcast import figures as broadcast
from sonnx.operators.xla.call import figures as call
from sonnx.operators.xla.clamp import figures as clamp
from sonnx.operators.xla.collapse import figures as collapse
from sonnx.operators.xla.concatenate import figures as concatenate

pytestmark = pytest.mark.measured

BY_OPERATOR = {
    "xla-broadcast": broadcast.FIGURES,
    "xla-call": call.FIGURES,
    "xla-clamp": clamp.FIGURES,
    "xla-collapse": collapse.FIGURES,
    "xla-concatenate": concatenate.FIGURES,
}
FIGURES = [figure for figures in BY_OPERATOR.values() for figure in figures]
LAWS = [
    law
    for name, law in ((name, inspect.unwrap(value)) for name, value in vars(laws).items() if callable(value))
    if name.startswith("test_") and list(inspect.signature(law).parameters) == ["figure"]
]
MINUS, TO = "\u2212", "\u2192"


@for_each("figure", FIGURES, ids=lambda figure: figure.name)
@for_each("law", LAWS, ids=lambda law: law.__name__)
def test_every_law_of_figures_holds(law: Callable[[Figure], None], figure: Figure) -> None:
    law(figure)


def test_there_are_laws_and_each_operation_has_figures() -> None:
    assert inspect.unwrap(laws.test_no_two_texts_overlap) in LAWS
    assert inspect.unwrap(laws.test_every_text_can_be_read_on_the_paper) in LAWS
    assert len(LAWS) >= 9
    assert all(BY_OPERATOR.values())


def test_names_are_unique_on_the_whole_site_and_start_with_their_page() -> None:
    names = [figure.name for figure in FIGURES]
    others = {figure.name for figure in laws.FIGURES if figure not in FIGURES}
    assert len(set(names)) == len(names)
    assert not others & set(names)
    for page, figures in BY_OPERATOR.items():
        assert all(re.fullmatch(rf"{page}(-[a-z0-9]+)+", figure.name) for figure in figures)


def words(figures: tuple[Figure, ...], name: str) -> str:
    """All texts of a figure in the order in which they are drawn."""
    return " ".join(labels(figures, name))


def painted(figures: tuple[Figure, ...], name: str, fill: str) -> int:
    """How many rectangles of a figure are filled with a colour."""
    (figure,) = (figure for figure in figures if figure.name == name)
    return sum(node.attrib["fill"] == fill for node in parsed(figure.draw()).iter(f"{SVG}rect"))


# --- Concatenate, Collapse, Broadcast -----------------------------------------------------------------------


def test_concatenate_figure_shows_the_documents_example_and_the_sizes() -> None:
    shown = words(concatenate.FIGURES, "xla-concatenate-dimensions")
    assert "output s32[4,2] 1 2 3 4 5 6 7 8 3 1 lines: 3 + 1 = 4 columns: 2, as in both" in shown
    assert "output s32[3,3] 1 2 7 3 4 8 5 6 9 2 1 columns: 2 + 1 = 3 lines: 3, as in both" in shown


def test_concatenate_figure_paints_each_element_by_its_operand() -> None:
    # The first operand has 6 elements, the second 2 and then 3; each is drawn once more in the output.
    name = "xla-concatenate-dimensions"
    assert painted(concatenate.FIGURES, name, svg.BLUE.fill) == 4 * 6
    assert painted(concatenate.FIGURES, name, svg.ORANGE.fill) == 2 * 2 + 2 * 3


def test_collapse_figure_holds_the_documents_array() -> None:
    assert collapse.V.tolist() == [
        [[10, 11, 12], [15, 16, 17]],
        [[20, 21, 22], [25, 26, 27]],
        [[30, 31, 32], [35, 36, 37]],
        [[40, 41, 42], [45, 46, 47]],
    ]


def test_collapse_figure_keeps_one_order_in_all_results() -> None:
    shown = words(collapse.FIGURES, "xla-collapse-runs")
    in_order = "10 11 12 15 16 17 20 21 22 25 26 27 30 31 32 35 36 37 40 41 42 45 46 47"
    assert shown.count(in_order) == 3
    for run, shape in (("[0, 1]", "[8,3]"), ("[1, 2]", "[4,6]"), ("[0, 1, 2]", "[24]")):
        assert f"dimensions = {run} f32{shape}" in shown


def test_collapse_figure_counts_the_last_index_fastest() -> None:
    shown = words(collapse.FIGURES, "xla-collapse-runs")
    assert "i, j c 0, 0 0 0, 1 1 1, 0 2 1, 1 3 2, 0 4 2, 1 5 3, 0 6 3, 1 7" in shown
    assert "j, k c 0, 0 0 0, 1 1 0, 2 2 1, 0 3 1, 1 4 1, 2 5" in shown


def test_broadcast_figure_puts_the_new_sizes_first_and_copies_the_operand_eight_times() -> None:
    shown = words(broadcast.FIGURES, "xla-broadcast-left")
    assert "output 2 4 3 i j k" in shown
    assert shown.count("7 8 9") == 1 + 2 * 4


def test_broadcast_figure_leaves_a_size_1_of_the_operand() -> None:
    shown = words(broadcast.FIGURES, "xla-broadcast-cases")
    assert "s32[] 2 s32[2,3] 2 2 2 2 2 2" in shown
    assert "s32[3,1] 5 6 7 s32[2,3,1] 5 6 7 5 6 7" in shown


# --- Clamp --------------------------------------------------------------------------------------------------


def test_clamp_table_shows_where_clip_differs() -> None:
    shown = words(clamp.FIGURES, "xla-clamp-clip")
    rows = (
        f"{MINUS}0 +0 1 +0 {MINUS}0",
        f"+0 {MINUS}1 {MINUS}0 {MINUS}0 +0",
        f"{MINUS}1 +0 {MINUS}0 {MINUS}0 +0",
        f"{MINUS}3 NaN 1 NaN {MINUS}3",
        f"{MINUS}3 {MINUS}1 NaN NaN {MINUS}1",
        f"NaN {MINUS}1 1 NaN NaN both alike",
        f"0.5 2 {MINUS}1 {MINUS}1 {MINUS}1 both alike",
        f"+\u221e {MINUS}1 1 1 1 both alike",
    )
    for row in rows:
        assert row in shown
    assert shown.count("both alike") == 3
    assert painted(clamp.FIGURES, "xla-clamp-clip", svg.PURPLE.fill) == 5


def zeros_of_unlike_sign(*values: float) -> bool:
    return {"0.0", "-0.0"} <= {str(value) for value in values}


def test_clamp_and_clip_differ_only_for_nan_bounds_and_zeros_as_the_caption_says() -> None:
    found = set()
    for x, low, high in product((-inf, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, inf, nan), repeat=3):
        if not clamp.same(clamp.clamp(x, low, high), clamp.clip(x, low, high)):
            assert isnan(low) or isnan(high) or zeros_of_unlike_sign(x, low, high)
            found.add("NaN" if isnan(low) or isnan(high) else "zeros")
    assert found == {"NaN", "zeros"}


def test_floats_are_shown_with_the_signs_of_zeros_and_infinities() -> None:
    values = (0.0, -0.0, inf, -inf, nan, 1.5, -2.0)
    signs = ["+0", f"{MINUS}0", "+\u221e", f"{MINUS}\u221e", "NaN", "1.5", f"{MINUS}2"]
    assert [clamp.shown(value) for value in values] == signs


def heights(points: str, centre: float) -> list[tuple[float, float]]:
    """The corners of a curve in the units of its plot: 21 to a unit, the origin at (centre, 186)."""
    pairs = (tuple(map(float, point.split(","))) for point in points.split())
    return [((x - centre) / 21, (186 - y) / 21) for x, y in pairs]


def test_clamp_curve_is_lifted_first_and_lowered_last() -> None:
    figure = clamp.FIGURES[0]
    lines = [node.attrib for node in parsed(figure.draw()).iter(f"{SVG}polyline")]
    thick = [line["points"] for line in lines if line["stroke"] == svg.BLUE_INK]
    dotted = [line["points"] for line in lines if line["stroke"] == svg.SOFT]
    first, second, third = (heights(*pair) for pair in zip(thick, (132, 382, 632), strict=True))
    assert first == [(-4.5, -2), (-2, -2), (4.5, 4.5)]
    assert second == [(-4.5, -2), (-2, -2), (3, 3), (4.5, 3)]
    assert {y for _, y in third} == {-1.5}
    assert heights(dotted[1], 632) == [(-4.5, 2), (2, 2), (4.5, 4.5)]


# --- Call ---------------------------------------------------------------------------------------------------


def test_call_figure_puts_the_body_in_place_of_each_call() -> None:
    shown = labels(call.FIGURES, "xla-call-body")
    inside = [text for text in shown if TO in text]
    assert inside[1:3] == [f"x {TO} b", f"b {TO} y"]
    assert inside[4:7] == [f"p {TO} t", f"q {TO} u", f"t, u {TO} z"]
    one = [f"p {TO} call 1/b", f"call 1/b {TO} t"]
    two = [f"q {TO} call 2/b", f"call 2/b {TO} u"]
    assert inside[7:] == [*one, *two, f"t, u {TO} z"]


def test_call_figure_draws_no_call_among_the_inlined_operations() -> None:
    assert [node.operator for node in call.inlined()] == [
        "Broadcast",
        "Collapse",
        "Broadcast",
        "Collapse",
        "Concatenate",
    ]
    assert labels(call.FIGURES, "xla-call-body").count("Call twice") == 2
