"""All findings of a model at once, each once, whatever the model holds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.check.support import BODY, CALL, CLIP, HI, LO, OUT, OWN, TO_T, broken, calling, function, places

from sonnx.check.models import MOST_FINDINGS, check_graph, checked
from sonnx.model.graph import Constant, Graph, Node, Opaque, Value
from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators.graph.examples import FUNCTION, GOOD, graph, node, scalar, values
from sonnx.vocabulary.rule import Finding


def test_a_tensor_is_judged_once_however_many_nodes_use_it() -> None:
    nodes = [TO_T, *(node("Clip", "t lo hi", name) for name in ("a", "b", "y"))]
    outputs = values(y="float[2,3]", a="float[2,3]", b="float[2,3]")
    vague = graph(nodes, outputs, values=values(t="float[n,3]"))
    assert [(f.rule, f.location) for f in check_graph(vague)] == [("general.R2", Location("tensor", "t"))]


@pytest.mark.parametrize(
    ("text", "rule"),
    [("float8[2,3]", "general.R3"), ("sparse float[2,3]", "general.R4"), ("float", "general.R2")],
)
def test_an_input_or_initializer_of_a_wrong_type_is_named_once_at_its_place(text: str, rule: str) -> None:
    several = [TO_T, CLIP]
    outputs = values(y="float[2,3]", t="float[2,3]")
    given = graph(several, outputs, inputs=values(x=text))
    assert [(f.rule, f.location) for f in check_graph(given)] == [(rule, Location("input", "x"))]
    held = graph(several, outputs, inputs=(), constants=(LO, HI, Constant("x", tensor_type(text))))
    assert [(f.rule, f.location) for f in check_graph(held)] == [(rule, Location("initializer", "x"))]


def test_a_tensor_of_a_function_is_judged_at_every_call() -> None:
    body = function(node("Clip", "a l h", "t"), node("Clip", "t l h", "b"))
    twice = calling(body, calls=(replace(CALL, outputs=("m",)), replace(CALL, inputs=("m", "lo", "hi"))))
    twice = replace(twice, values=values(m="float[2,3]"))
    assert places(twice, "general.R2") == ["node 0 (F), tensor `t`", "node 1 (F), tensor `t`"]


def test_a_sparse_tensor_is_wheres_own_matter_only_where_nobody_else_uses_it() -> None:
    where = node("Where", "c x x", "y")
    sparse = values(x="sparse float[2,3]", c="bool[2,3]")
    assert broken(graph([where], inputs=sparse)) == {"where.R1"}
    shared = graph([where, node("Clip", "x lo hi", "z")], (*OUT, *values(z="float[2,3]")), inputs=sparse)
    assert broken(shared) == {"where.R1", "general.R4"}


def test_a_model_with_many_defects_gives_all_of_them() -> None:
    attributes: dict[str, Any] = {"strides": (0, 1), "pads": (1, 1), "group": 0, "body": Opaque("graph")}
    messy = Graph(
        "\x1b",
        values(x="float[n,3]", lo="float[]", X="int32[1,1,4,4]", s="sparse float[2]"),
        values(y="float[9]", gone="float[]"),
        (
            node("Conv", "X X", "c", attributes=attributes, name="n"),
            node("Clip", "late lo hi", "y", name="n"),
            node("Clip", "x lo nowhere", "late"),
            node("Clip", "l lo hi", "l"),
            node("Bernoulli", "x", "dead"),
            replace(node("Unheard", "x", "y"), repeated=("alpha",)),
            node("F", "x x", "called", domain=OWN, attributes={"k": 1}),
        ),
        (scalar("lo", 0.0), Constant("hi", tensor_type("float[]"), problem="gone")),
        values(lo="double[]"),
        (function(BODY, inputs=("a",), outputs=("b",)),),
        opsets=(("", 22), ("", 13)),
        extras=("training_info",),
    )
    assert broken(messy) == {
        *(f"graph.D{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 18, 19, 20)),
        *("general.R1", "general.R2", "general.R4", "general.R5"),
        *("conv.X.D1", "conv.strides.D1", "conv.pads.C2", "conv.group.C1", "clip.output.C1"),
    }


def test_rules_on_graphs_come_first_in_their_order() -> None:
    messy = replace(graph([node("Clip", "x lo", "y"), TO_T]), extras=("training_info",), opsets=())
    assert [finding.rule for finding in check_graph(messy)] == [
        "graph.D4",
        "graph.D9",
        "graph.D20",
        "general.R2",
        "clip.max.D1",
    ]


def test_the_check_changes_nothing() -> None:
    before = repr(FUNCTION)
    first: tuple[Finding, ...] = check_graph(FUNCTION)
    assert check_graph(FUNCTION) == first
    assert repr(FUNCTION) == before


def calls_of_calls(body: tuple[Node, ...], depth: int, **more: Any) -> Graph:
    """Functions that each call the next one twice."""
    functions = [function(*body, name=f"F{depth}", **more)]
    for level in range(depth):
        call = node(f"F{level + 1}", "a l h", "t", domain=OWN)
        functions.append(function(call, replace(call, inputs=tuple("tlh"), outputs=("b",)), name=f"F{level}"))
    return calling(*functions, calls=(replace(CALL, operator="F0"),))


SCALAR, OPEN = tensor_type("float[]"), TensorType(None, None)
CALLS = (CALL,) * 20_000
WIDE = tuple(f"n{index}" for index in range(20_000))
HEAVY: Mapping[str, tuple[Callable[[], Graph], set[str]]] = {
    "bodies": (lambda: calls_of_calls((BODY,), 60), {"graph.D14"}),
    "bodies with types for their callers": (
        lambda: calls_of_calls((BODY,), 60, values=values(a="float[2,3]")),
        {"graph.D14"},
    ),
    "empty bodies": (lambda: calls_of_calls((), 60), {"graph.D3", "graph.D13", "graph.D14"}),
    "inputs of functions": (
        lambda: calling(function(BODY, inputs=WIDE), calls=CALLS),
        {"graph.D1", "graph.D3", "graph.D14"},
    ),
    "outputs of functions": (
        lambda: calling(function(BODY, outputs=WIDE), calls=CALLS),
        {"graph.D1", "graph.D3", "graph.D4", "graph.D13", "graph.D14"},
    ),
    "attributes of functions": (
        lambda: calling(function(BODY, attributes=WIDE), calls=CALLS),
        {"graph.D1"},
    ),
    "types in functions": (
        lambda: calling(function(BODY, values=tuple(Value(name, OPEN) for name in WIDE)), calls=CALLS),
        {"graph.D1", "graph.D14"},
    ),
    "constants and inputs": (
        lambda: replace(
            GOOD,
            inputs=tuple(Value(name, SCALAR) for name in WIDE),
            constants=tuple(Constant(f"c{name}", SCALAR, np.float32(0)) for name in WIDE),
        ),
        {"graph.D3"},
    ),
    "operands": (
        lambda: graph([replace(CLIP, inputs=WIDE, outputs=WIDE[::-1])]),
        {"graph.D2", "graph.D3", "graph.D4"},
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("case", HEAVY)
def test_a_model_made_to_be_heavy_is_refused_and_not_worked_off(case: str) -> None:
    # Work that grows as the product of two of these numbers would take hours.
    make, expected = HEAVY[case]
    heavy = make()
    verdict = checked(heavy)
    assert verdict.broken == expected
    assert 0 < len(verdict.findings) <= MOST_FINDINGS


def test_a_rule_that_only_many_others_come_before_is_still_heeded() -> None:
    # Were the functions replaced by their bodies because nobody got as far as graph.D14, this would not end.
    heavy = replace(calls_of_calls((BODY,), 60), constants=(LO,) * 2 * MOST_FINDINGS)
    assert {finding.rule for finding in check_graph(heavy)} == {"graph.D1"}
    # `hi` is gone, too.
    assert checked(heavy).broken == {"graph.D1", "graph.D3", "graph.D14"}


@pytest.mark.parametrize(
    "number",
    [
        *(pytest.param(n, marks=pytest.mark.long) for n in (MOST_FINDINGS - 1, MOST_FINDINGS)),
        MOST_FINDINGS + 5,
    ],
)
def test_ten_thousand_findings_are_enough(number: int) -> None:
    many = graph([node("Unheard", "x", "y"), *(replace(CLIP, outputs=("",)),) * (number - 1)])
    found = check_graph(many)
    assert len(found) == min(number, 10_000)
    assert [f.rule for f in found].count("graph.D4") == min(number - 1, 10_000)
    untyped = graph(
        [node("Clip", "x lo hi", f"t{index}") for index in range(number)], values(t0="float[2,3]")
    )
    found = check_graph(untyped)
    assert len(found) == 10_000
    assert [f.rule for f in found].count("general.R2") == 10_000 - min(number - 1, 10_000)
