"""The page on graph execution: its rules, its rulings, and figures that show what really happens."""

from dataclasses import replace
from html import unescape
from inspect import unwrap

import numpy as np
import pytest
from docs.build import Inputs, make_sources
from docs.folders import folders
from docs.markup import DocsError
from docs.render import rules as shown_rules
from tests.docs.support import Site
from tests.drawing import test_figures as laws

from sonnx.drawing.figure import Figure
from sonnx.drawing.flow import Box, pill, route
from sonnx.drawing.svg import Look
from sonnx.model.graph import Graph
from sonnx.normalize.passes import normalize_graph
from sonnx.operators import GRAPH_RULES
from sonnx.operators.graph import figures
from sonnx.report.graph_text import graph_text
from sonnx.report.text import attribute_text

every_figure = pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: figure.name)
RULINGS = ("D-GRAPH-1", "D-GRAPH-2", "D-GRAPH-3", "D-GRAPH-4")


def labels(name: str) -> list[str]:
    return laws.labels(figures.FIGURES, name)


def test_the_page_of_the_package_explains_every_ruling_on_graphs_and_quotes_the_sources_doubt() -> None:
    page = folders()[0].page or ""
    assert all(f"| {ruling} |" in page for ruling in RULINGS)
    assert "Normally (?)" in page


def test_rules_on_graphs_are_shown_linked_and_listed(site: Site) -> None:
    assert site.problems == ()
    page = (site.root / "operators" / "graph.html").read_text(encoding="utf-8")
    listed = (site.root / "rules.html").read_text(encoding="utf-8")
    rulings = (site.root / "rulings.html").read_text(encoding="utf-8")
    for number in range(1, 21):
        assert f'id="graph-d{number}"' in page
        assert f'href="operators/graph.html#graph-d{number}"' in listed
    for ruling in RULINGS:
        assert f'href="operators/graph.html#{ruling.lower()}"' in rulings
    assert "A model that breaks it" in page
    assert ">Graph execution<" in page.replace("\n", "").replace("  ", "")


def test_a_rule_on_graphs_shows_both_models_and_what_the_check_says() -> None:
    rule = next(rule for rule in GRAPH_RULES if rule.identifier == "graph.D5")
    text = unescape(shown_rules([rule]))
    assert graph_text(rule.failing) in text
    assert graph_text(rule.passing) in text
    assert "error[graph.D5]: Every node must be listed after" in text


def test_a_rule_on_graphs_whose_failing_example_keeps_it_is_refused() -> None:
    rule = GRAPH_RULES[0]
    with pytest.raises(DocsError, match=r"graph\.D1 does not break it"):
        shown_rules([replace(rule, failing=rule.passing)])


def test_a_ruling_on_graphs_that_no_page_explains_fails(with_graphs: Inputs) -> None:
    graph, *others = with_graphs.folders
    silent = replace(graph, page=str(graph.page).replace("D-GRAPH-1, ", ""))
    problems = make_sources(replace(with_graphs, folders=(silent, *others))).problems
    assert problems == ("rulings.md: no page explains D-GRAPH-1, which rules or cases carry",)


@every_figure
def test_figures_of_graphs_obey_the_laws_of_figures(figure: Figure) -> None:
    root = laws.parsed(figure.draw())
    assert laws.outside(root) == []
    assert laws.overlapping(root) == []
    for law in (
        laws.test_figure_is_an_accessible_svg_image,
        laws.test_caption_is_one_sentence_and_alt_says_more,
        laws.test_no_shape_leaves_the_figure,
        laws.test_figure_holds_only_shapes_and_text,
        laws.test_every_text_can_be_read_on_the_paper,
        laws.test_drawing_is_deterministic,
    ):
        unwrap(law)(figure)


@every_figure
def test_no_label_sticks_out_of_its_box(figure: Figure) -> None:
    root = laws.parsed(figure.draw())
    boxes = []
    for node in root.iter(f"{laws.SVG}rect"):
        x, y, width, height = (float(node.attrib[key]) for key in ("x", "y", "width", "height"))
        boxes.append(laws.Box(x, y, x + width, y + height))
    for text in laws.text_boxes(root, 0.6):
        middle = laws.Box((text.left + text.right) / 2, text.top, (text.left + text.right) / 2, text.bottom)
        around = [box for box in boxes if middle.inside(box)]
        smallest = min(around, key=lambda box: (box.right - box.left) * (box.bottom - box.top))
        assert smallest.left <= text.left, text.label
        assert text.right <= smallest.right, text.label


def test_the_orders_drawn_are_all_there_are() -> None:
    # By hand: 0 before 1 and 2, then 4; and 3 at any of the four places before 4.
    first = [(0, 1, 2), (0, 2, 1)]
    wanted = {(*order[:place], 3, *order[place:], 4) for order in first for place in range(4)}
    assert set(figures.all_orders(figures.ORDERED)) == wanted
    assert len(list(figures.all_orders(figures.ORDERED))) == 8
    digits = [label for label in labels("graph-orders") if label.isdecimal()]
    rows = [tuple(map(int, digits[start : start + 5])) for start in range(0, len(digits), 5)]
    assert set(rows[:-1]) == wanted
    assert rows[-1] not in wanted


def test_the_function_figure_shows_the_nodes_that_are_executed() -> None:
    calls = [label for label in labels("graph-function") if "=" in label]
    assert calls == [
        "h = Block(x, w0, lo, hi)",
        "y = Block(h, w1, lo, hi)",
        "t = Conv(a, w)",
        "b = Clip(t, lo, hi)",
        "one/t = Conv(x, w0)",
        "h = Clip(one/t, lo, hi)",
        "two/t = Conv(h, w1)",
        "y = Clip(two/t, lo, hi)",
    ]


@pytest.fixture
def normalized() -> Graph:
    done = normalize_graph(figures.EXPORTED, figures.SIZES)
    assert done.findings == ()
    return done.graph


def test_the_normalized_model_drawn_is_what_normalizing_gives(normalized: Graph) -> None:
    conv, clip, *expands, where = normalized.nodes
    assert {name: attribute_text(value).strip('"') for name, value in conv.attributes.items()} == dict(
        figures.WRITTEN
    )
    assert [node.operator for node in (conv, clip, *expands, where)] == [
        "Conv",
        "Clip",
        "Expand",
        "Expand",
        "Where",
    ]
    assert normalized.data[clip.inputs[1]] == np.float32(figures.LOWEST)
    for node in expands:
        assert str(normalized.data[node.inputs[1]].tolist()) == figures.EXPANDED
    assert {str(normalized.types[name]) for name in ("x", "c", "k", "y")} == {figures.TYPED}


def test_the_figure_shows_the_model_before_and_after() -> None:
    shown = labels("graph-normalize")
    assert f"x: {figures.EXPORTED.inputs[0].type}" in shown
    assert f"keep: {figures.EXPORTED.inputs[1].type}" in shown
    assert f"auto_pad = {figures.EXPORTED.nodes[0].attributes['auto_pad']}" in shown
    assert all(f"{name} = {value}" in shown for name, value in figures.WRITTEN)
    assert shown.count("Expand") == 2
    assert sum(figures.TYPED in label for label in shown) == 4


def test_a_box_is_as_high_as_its_lines() -> None:
    box = Box(10, 20, 100, "Conv", (("a", "#000000"), ("b", "#000000")))
    root = laws.parsed(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">{box.draw()}</svg>')
    (frame,) = root.iter(f"{laws.SVG}rect")
    assert float(frame.attrib["height"]) == box.height
    assert box.bottom == (60, 20 + box.height)
    assert box.top == (60, 20)
    inside = laws.Box(10, 20, 110, 20 + box.height)
    assert all(text.inside(inside) for text in laws.text_boxes(root, 0.62))
    assert Box(0, 0, 10, "").height < Box(0, 0, 10, "", (("a", ""),)).height


def test_a_route_goes_through_its_points_and_ends_at_the_last() -> None:
    root = laws.parsed(f"<g>{route([(0, 0), (0, 30), (50, 30)])}</g>")
    (bent,) = root.iter("polyline")
    assert bent.attrib["points"] == "0,0 0,30"
    head = root.find("polygon")
    assert head is not None
    assert head.attrib["points"].split()[0] == "50,30"
    assert laws.parsed(f"<g>{route([(0, 0), (0, 30)])}</g>").find("polyline") is None


def test_a_pill_is_wide_enough_for_its_label_or_as_wide_as_told() -> None:
    for width, wanted in ((None, 9 * 4 + 20), (90.0, 90)):
        (frame,) = laws.parsed(f"<g>{pill(50, 50, 'keep', Look(), width=width)}</g>").iter("rect")
        assert float(frame.attrib["width"]) == wanted
        assert float(frame.attrib["x"]) == 50 - wanted / 2
