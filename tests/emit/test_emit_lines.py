"""What is too long for a line of emitted C is broken and says the same; comments speak of the type."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import assert_passes, files_of, make, needs_gcc, random_model, written
from tests.emit.test_emit_places import KIND, values

import sonnx
from sonnx.emit.layout import node_comment
from sonnx.emit.lines import narrowed
from sonnx.emit.places import places
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.tensor_type import tensor_type

A, B = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            f"    //@ assert kept: 0 <= k < 9 ==> same({A}[k], {B}[k]) && same({A}[k], c);",
            f"    /*@ assert kept: 0 <= k < 9 ==>\n        same({A}[k], {B}[k])\n"
            f"        && same({A}[k], c); */",
        ),
        (
            f"        const float x = 0 <= k && k < 9 ? {A}[k + 1] : {B}[k + 1] + {A};",
            f"        const float x = 0 <= k && k < 9 ? {A}[k + 1]\n            : {B}[k + 1] + {A};",
        ),
        (f"    assigns {A}[0], {B}[0 .. 9], {A}[1];", f"    assigns {A}[0], {B}[0 .. 9],\n        {A}[1];"),
        (f"    f({A} ==> k), g({B}, {A});", f"    f({A} ==> k),\n        g({B}, {A});"),
        # Inside brackets only where there is no place outside, and nowhere where there is none at all.
        (f"    f({A}, {B} && {A});", f"    f({A}, {B}\n        && {A});"),
        (f"    {A}{B}{A};", f"    {A}{B}{A};"),
        # Heads of functions, directives and what is told of the model stay whole.
        (f"void f(int {A}, int {B}, int {A}_2);", f"void f(int {A}, int {B}, int {A}_2);"),
        (f"     X = `{A}, {B}, {A}`: float[1]", f"     X = `{A}, {B}, {A}`: float[1]"),
        (f"    /* {A}, {B}, {A} */", f"    /* {A}, {B}, {A} */"),
        (f"    # {A}, {B}, {A}", f"    # {A}, {B}, {A}"),
        ("    //@ assert short: 0 <= k ==> k < 9;", "    //@ assert short: 0 <= k ==> k < 9;"),
    ],
)
def test_a_long_line_is_broken_at_its_outermost_mark(line: str, wanted: str) -> None:
    assert narrowed(line) == wanted
    assert all(len(each) <= 110 for each in wanted.split("\n")) or wanted == line


def test_lines_of_models_are_short_but_for_heads_of_functions() -> None:
    for seed in range(8):
        text = files_of(random_model(seed, 6))["model.c"].decode()
        assert [line for line in text.splitlines() if len(line) > 110 and line.startswith(" ")] == []


def test_nothing_but_blanks_and_the_kind_of_an_annotation_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    for graph in (random_model(2, 6), random_model(4, 6)):
        broken = files_of(graph)["model.c"].decode()
        with monkeypatch.context() as patch:
            patch.setattr("sonnx.emit.model.narrowed", str)
            whole = files_of(graph)["model.c"].decode()
        assert broken != whole
        of_one_kind = (re.sub(r"//@ (.*)", r"/*@ \1 */", text) for text in (broken, whole))
        one, other = ("".join(text.split()) for text in of_one_kind)
        assert one == other


@needs_gcc
def test_a_project_with_broken_lines_passes_its_test(tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "broken", random_model(4, 6))))


@pytest.mark.parametrize(
    ("dtype", "says"), [("float", "The sum, rounded once."), ("int8", "The sum modulo 2^n")]
)
def test_a_comment_says_what_concerns_the_type(dtype: str, says: str) -> None:
    kind = tensor_type(f"{dtype}[6]")
    net = Graph(
        "sums",
        (Value("x", kind),),
        (Value("y", kind),),
        (Node("Add", ("x", "x"), ("y",), {}, "twice", version=14),),
        opsets=(("", 22),),
    )
    text = files_of(sonnx.Graph.of(net))["model.c"].decode()
    assert text.count(f"D-ADD: {says}") == 1
    assert ("modulo" in text) == (dtype == "int8")
    assert ("rounded" in text) == (dtype == "float")


def test_numbers_of_attributes_are_hexadecimal_and_say_whether_their_decimals_are_all() -> None:
    given = {"alpha": 0.25, "beta": float(np.float32(1 / 6))}
    node = Node("HardSigmoid", ("x",), ("y",), given, "line", version=22)
    graph = Graph("numbers", values("x"), values("y"), (node,), opsets=(("", 22),))
    (place,) = places(graph)
    assert node_comment(graph, place, node).split("\n   ") == [
        "Node 0 `line`: HardSigmoid",
        f"  X = `x`: {KIND}",
        f"  Y = `y`: {KIND}",
        "  alpha = 0x1p-2 (0.25)",
        "  beta = 0x1.555556p-3 (about 0.1666667)",
    ]
    for held, wanted in (
        ([0.5, -1.5], "0x1p-1 (0.5), -0x1.8p+0 (-1.5)"),
        ((1, 2), "1, 2"),
        (3, "3"),
        (float("inf"), "inf"),
        (float(np.float32(1e10)), "0x1.2a05f2p+33 (1e+10)"),
    ):
        other = Node("HardSigmoid", ("x",), ("y",), {**given, "alpha": held}, "line", version=22)
        assert f"  alpha = {wanted}\n" in node_comment(graph, place, other)
