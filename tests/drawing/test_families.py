"""Blocks add up to figures, and the families draw what a function or a shape says."""

from collections.abc import Callable, Mapping
from inspect import signature, unwrap
from math import copysign, floor, inf, isnan, nan
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from docs.folders import elementwise_figures, moving_figures
from tests.derive.moves_made_up import BLOCKS, LEVEL
from tests.drawing import test_figures as laws
from tests.drawing.test_figures import SVG, labels, parsed

from sonnx.drawing import layout, svg
from sonnx.drawing.curves import Curve, elementwise, shown
from sonnx.drawing.figure import Figure
from sonnx.drawing.moves import move, tensor
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.hard_sigmoid.contract import CONTRACT as HARD_SIGMOID
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.vocabulary.operator import Operator

MINUS = "\u2212"
LAWS = [
    law
    for name, law in ((name, unwrap(value)) for name, value in vars(laws).items() if callable(value))
    if name.startswith("test_") and list(signature(law).parameters) == ["figure"]
]


def relu(x: float) -> float:
    return 0.0 if x < 0 else x


def greater(a: float, b: float) -> float:
    return nan if isnan(a) or isnan(b) else max(a, b)


def select(condition: float, a: float, b: float) -> float:
    return a if condition > 0 else b


def lines(block: layout.Block) -> list[list[tuple[float, float]]]:
    """The curves of a block in the units of its plot: 22 to a unit, 4.5 units from frame to middle."""
    root = ElementTree.fromstring(f"<g>{block.draw(0, 0)}</g>")
    runs = []
    frame = next(root.iter("rect"))
    x0, y0 = float(frame.attrib["x"]) + 99, float(frame.attrib["y"]) + 99
    for node in root.iter("polyline"):
        pairs = (tuple(map(float, point.split(","))) for point in node.attrib["points"].split())
        runs.append([(round((x - x0) / 22, 2), round((y0 - y) / 22, 2)) for x, y in pairs])
    return runs


def test_a_curve_has_its_corners_and_nothing_between_them() -> None:
    (run,) = lines(Curve("", lambda x: min(max(x, -2), 3), {}).block())
    assert (run[0], run[-1]) == ((-4.5, -2), (4.5, 3))
    assert {(-2, -2), (3, 3)} <= set(run)
    assert len(run) <= 8


def test_a_curve_is_cut_where_it_jumps_leaves_the_plot_or_is_nan() -> None:
    steps = lines(Curve("", lambda x: float(floor(x)), {}).block())
    assert len(steps) == 9
    assert ((0, 0), (1, 0)) in [(run[0], run[-1]) for run in steps]
    (hyperbola,) = lines(Curve("", lambda x: 1 / x if x > 0 else nan, {}).block())
    assert all(0 < x <= 4.5 and 0 < y <= 4.5 for x, y in hyperbola)
    assert lines(Curve("", lambda x: nan, {}).block()) == []


def test_levels_are_named() -> None:
    block = Curve("a head", relu, {"low": -1.0, "high": 2.0}).block()
    texts = [node.text for node in ElementTree.fromstring(f"<g>{block.draw(0, 0)}</g>").iter("text")]
    assert texts == ["a head", "low", "high"]


@pytest.mark.parametrize(
    ("names", "function"), [(["X"], relu), (["A", "B"], greater), (["condition", "a long name", "B"], select)]
)
def test_an_element_wise_operator_has_a_figure_that_obeys_the_laws(
    names: list[str], function: Callable[..., float]
) -> None:
    figure = elementwise("some-page", "Some", names, function)
    assert len(LAWS) == 9
    for law in LAWS:
        law(figure)


def test_the_figure_of_one_operand_tells_the_special_values() -> None:
    shown_words = labels((elementwise("relu", "Relu", ["X"], relu),), "relu-curve")
    inputs = [f"{MINUS}\u221e", f"{MINUS}1.5", f"{MINUS}0", "+0", "1.5", "+\u221e", "NaN"]
    assert shown_words[1:] == ["X", *inputs, "output", "+0", "+0", f"{MINUS}0", "+0", "1.5", "+\u221e", "NaN"]


def test_the_figure_of_two_operands_tells_all_pairs_of_special_values() -> None:
    figure = elementwise("max", "Max", ["A", "B"], greater)
    assert f"B = {MINUS}0: {MINUS}0, {MINUS}0, {MINUS}0, +0, 1.5, +\u221e, NaN;" in figure.alt
    assert figure.alt.count("NaN") == 1 + 7 + 6 + 1


def test_an_operator_needs_no_code_for_its_figure_where_it_makes_one_element_of_others() -> None:
    (figure,) = elementwise_figures(CLIP)
    assert figure.name == "clip-curve"
    assert "min, max = 1" in labels((figure,), "clip-curve")
    assert elementwise_figures(CONV) == elementwise_figures(WHERE) == ()


def test_attributes_are_those_that_onnx_takes_where_none_are_given() -> None:
    def meaning(operands: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"Y": operands["X"] * attributes["alpha"] + attributes["beta"]}

    (figure,) = elementwise_figures(Operator(HARD_SIGMOID, meaning=meaning))
    # 0.5 - 1.5 alpha, where alpha is the float nearest to 0.2.
    assert labels((figure,), "hard-sigmoid-curve")[-6] == "0.2"


def test_floats_are_shown_with_the_signs_of_zeros_and_infinities() -> None:
    values = (0.0, copysign(0, -1), inf, -inf, nan, 1.5, -2.0)
    signs = ["+0", f"{MINUS}0", "+\u221e", f"{MINUS}\u221e", "NaN", "1.5", f"{MINUS}2"]
    assert [shown(value) for value in values] == signs


def figure_of(block: layout.Block) -> Figure:
    return layout.sheet("a-figure", "A title", "A caption.", "A longer text for those who cannot see.", block)


def test_a_tensor_is_drawn_plane_by_plane_in_its_colours() -> None:
    figure = figure_of(tensor("t", np.arange(8).reshape(2, 2, 2) - 1, np.array([[[0, 1]]])))
    expected = ["t", "(2, 2, 2)", "[0, :, :]", f"{MINUS}1", "0", "1", "2", "[1, :, :]", "3", "4", "5", "6"]
    assert labels((figure,), "a-figure") == expected
    fills = [node.attrib["fill"] for node in parsed(figure.draw()).iter(f"{SVG}rect")][1:]
    assert fills == [svg.BLUE.fill, svg.ORANGE.fill] * 4


def test_a_move_paints_the_results_by_where_they_come_from() -> None:
    given = {"a": np.array([1, 2]), "b": np.array([3])}
    block = move(given, lambda arrays: {"out": np.concatenate([arrays["b"], arrays["a"]])}, {"a": 0, "b": 1})
    fills = [node.attrib["fill"] for node in parsed(figure_of(block).draw()).iter(f"{SVG}rect")][1:]
    assert fills == [s.fill for s in (svg.BLUE, svg.BLUE, svg.ORANGE, svg.ORANGE, svg.BLUE, svg.BLUE)]


def test_blocks_beside_and_above_one_another_add_up() -> None:
    one, other = layout.gap(10, 20), layout.gap(30, 4)
    assert (layout.beside(one, other, gap=5).width, layout.beside(one, other).height) == (45, 20)
    assert (layout.above(one, other).width, layout.above(one, other, gap=5).height) == (30, 29)


def test_cells_are_as_wide_as_their_labels_need() -> None:
    assert layout.labelled([1, 2]).width == 2 * 34
    assert layout.labelled(["a long label"]).width > 100


def test_a_table_keeps_the_cells_of_a_column_equally_wide() -> None:
    block = layout.table({"a": [svg.Cell("1"), svg.Cell("something long")], "b": ["x", "y"]})
    root = ElementTree.fromstring(f"<g>{block.draw(0, 0)}</g>")
    assert len({node.attrib["width"] for node in root.iter("rect")}) == 1
    assert [node.text for node in root.iter("text")] == ["a", "1", "something long", "b", "x", "y"]


def test_of_a_move_that_is_wide_in_every_call_the_narrowest_is_drawn() -> None:
    for operator in (BLOCKS, LEVEL):
        (figure,) = moving_figures(operator)
        assert figure.name == f"{operator.identifier}-move"
        assert parsed(figure.draw()).findall(f".//{SVG}rect")
