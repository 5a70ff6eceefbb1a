"""How tensors and nodes hang together: each rule names what is wrong, and nothing else (D-GRAPH-1)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.check.support import (
    ABC,
    BODY,
    CALL,
    CLIP,
    CONSTANT,
    FROM_T,
    FULL,
    HI,
    LO,
    LOOP,
    OTHER_DOMAIN,
    OUT,
    OWN,
    SUBGRAPH,
    THROUGH,
    TO_T,
    TWO,
    T,
    broken,
    calling,
    function,
    named,
)
from tests.loops import for_each

from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Graph, Node, Opaque, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators import GRAPH_RULES
from sonnx.operators.graph.examples import CHAIN, GOOD, OPSETS, graph, node, values
from sonnx.vocabulary.rule import GraphRule

pytestmark = pytest.mark.measured


@for_each("rule", GRAPH_RULES, ids=lambda rule: rule.identifier)
def test_the_failing_example_breaks_that_rule_alone_and_the_passing_one_none(rule: GraphRule) -> None:
    found = check_graph(rule.failing)
    assert {finding.rule for finding in found} == {rule.identifier}
    for finding in found:
        assert (finding.statement, finding.page) == (rule.statement, rule.page)
        assert finding.values
        assert finding.help
        assert finding.location is not None
    assert check_graph(rule.passing) == ()


# What each graph breaks, by hand; nothing for those that are only near to breaking a rule.
CASES: Mapping[str, tuple[Graph, set[str]]] = {
    # Every tensor has one definition.
    "two inputs of one name": (replace(GOOD, inputs=GOOD.inputs * 2), {"graph.D1"}),
    "two initializers of one name": (replace(GOOD, constants=(LO, HI, LO)), {"graph.D1"}),
    "an input that a node makes": (graph(THROUGH, inputs=TWO), {"graph.D1"}),
    "an initializer that a node makes": (
        graph(THROUGH, constants=(LO, HI, Constant("z", tensor_type("float[2,3]"), FULL))),
        {"graph.D1"},
    ),
    "an output listed twice": (replace(GOOD, outputs=GOOD.outputs * 2), {"graph.D1"}),
    "one node with an output twice": (graph([node("Clip", "x lo hi", "y y")]), {"graph.D1", "general.R5"}),
    "a default written twice": (
        replace(GOOD, inputs=values(x="float[2,3]", lo="float[]"), constants=(LO, LO, HI)),
        {"graph.D1", "graph.D10"},
    ),
    "two definitions in a function": (calling(function(BODY, BODY)), {"graph.D1"}),
    "two inputs of one name in a function": (calling(function(BODY, inputs=tuple("alhh"))), {"graph.D1"}),
    "one name in the graph and in a function": (
        calling(function(node("Clip", "x l h", "y"), inputs=("x", "l", "h"), outputs=("y",))),
        set(),
    ),
    # No cycles.
    "a loop": (graph([node("Clip", "y lo hi", "y")]), {"graph.D2"}),
    "a cycle of three": (graph([*LOOP, node("Clip", "c lo hi", "y")], values=ABC), {"graph.D2"}),
    "a cycle in a function": (
        calling(function(node("Clip", "b l h", "t"), node("Clip", "t l h", "b"), values=T)),
        {"graph.D2"},
    ),
    # Whatever is taken is defined.
    "an undefined operand": (graph([node("Clip", "x lo nowhere", "y")]), {"graph.D3"}),
    "an undefined output": (replace(GOOD, outputs=values(y="float[2,3]", z="float[]")), {"graph.D3"}),
    "no outputs": (replace(GOOD, outputs=(), values=OUT), {"graph.D3"}),
    "a tensor of the graph in a function": (calling(function(node("Clip", "a l hi", "b"))), {"graph.D3"}),
    "a declared tensor that nobody makes": (
        graph([node("Clip", "t lo hi", "y")], values=T),
        {"graph.D3"},
    ),
    "an input given out as it is": (replace(GOOD, outputs=values(y="float[2,3]", x="float[2,3]")), set()),
    "no node at all": (graph([], values(x="float[2,3]")), set()),
    # Every node is used.
    "a dead node": (graph([CLIP, TO_T], values=T), {"graph.D4"}),
    "a node without outputs": (graph([CLIP, node("Clip", "x lo hi", "")]), {"graph.D4"}),
    "a node whose only output is absent": (
        graph([CLIP, Node("Clip", ("x", "lo", "hi"), ("",), version=13)]),
        {"graph.D4"},
    ),
    "a dead node in a function": (
        calling(function(BODY, node("Clip", "a l h", "t"), values=T)),
        {"graph.D4"},
    ),
    # Nodes are sorted.
    "an unsorted function": (
        calling(function(node("Clip", "t l h", "b"), node("Clip", "a l h", "t"), values=T)),
        {"graph.D5"},
    ),
    "unsorted nodes behind a cycle": (
        graph([*LOOP, FROM_T, node("Clip", "c lo hi", "t")], values=(*ABC, *T)),
        {"graph.D2"},
    ),
    # Operators are known.
    "an operator of another domain": (OTHER_DOMAIN, {"graph.D6"}),
    "Broadcast, which is none of ONNX": (graph([node("Broadcast", "x", "y")]), {"graph.D6"}),
    "a Constant": (CONSTANT, {"graph.D6"}),
    "an unknown overload": (named(overload="2"), {"graph.D6"}),
    "an unknown operator in a function": (calling(function(node("Unheard", "a", "b"))), {"graph.D6"}),
    # Nothing is random.
    "a Dropout for inference": (graph([node("Dropout", "x lo", "y")], constants=(LO,)), {"graph.D6"}),
    "a Dropout whose training is an input": (
        graph([node("Dropout", "x lo x", "y")]),
        {"graph.D7"},
    ),
    "an optimizer": (
        graph(
            [replace(CLIP, operator="Adam", domain="ai.onnx.preview.training")],
            opsets=(*OPSETS, ("ai.onnx.preview.training", 1)),
        ),
        {"graph.D7"},
    ),
    "Dropout of another domain": (
        graph([node("Dropout", "x", "y", domain="other")], opsets=(*OPSETS, ("other", 1))),
        {"graph.D6"},
    ),
    "a function called Dropout": (
        calling(function(BODY, name="Dropout"), calls=(replace(CALL, operator="Dropout"),)),
        set(),
    ),
    "a random node in a function": (calling(function(node("Bernoulli", "a", "b"))), {"graph.D7"}),
    # No subgraphs.
    "an If": (
        graph(
            [
                node(
                    "If",
                    "c",
                    "y",
                    attributes={"then_branch": Opaque("graph"), "else_branch": Opaque("graph")},
                )
            ],
            inputs=values(c="bool[]"),
        ),
        {"graph.D8"},
    ),
    "a list of graphs": (named(operator="Any", attributes={"bodies": Opaque("graphs")}), {"graph.D8"}),
    "a graph at a known operator": (named(attributes=SUBGRAPH), {"graph.D8", "general.R5"}),
    "a graph given to a function": (
        calling(function(BODY, attributes=("body",)), calls=(replace(CALL, attributes=SUBGRAPH),)),
        {"graph.D8"},
    ),
    "another value that no operator has": (named(attributes={"a": Opaque("sparse_tensor")}), {"general.R5"}),
    # Versions are known.
    "no operator set": (replace(GOOD, opsets=()), {"graph.D9"}),
    "one operator set twice": (replace(GOOD, opsets=OPSETS * 2), {"graph.D9"}),
    "an unused operator set twice": (
        replace(GOOD, opsets=(*OPSETS, ("other", 1), ("other", 2))),
        {"graph.D9"},
    ),
    "an operator set that is too old": (replace(GOOD, opsets=(("", 12),)), {"graph.D9"}),
    "the oldest operator set": (replace(GOOD, opsets=(("", 13),)), set()),
    "a version that nobody knows": (named(version=None), {"graph.D9"}),
    "a version that the profile does not cover": (named(version=12), {"graph.D9"}),
    "no version of the format": (replace(GOOD, ir_version=2), {"graph.D9"}),
    "the oldest version of the format": (replace(GOOD, ir_version=3), set()),
    "a function without operator sets": (calling(function(BODY, opsets=())), {"graph.D9"}),
    "a function with an old operator set": (calling(function(BODY, opsets=(("", 11),))), {"graph.D9"}),
    "a function whose domain is not imported": (
        replace(calling(function(BODY)), opsets=OPSETS),
        {"graph.D9"},
    ),
    "an unknown operator whose domain is not imported": (named(domain="other"), {"graph.D6", "graph.D9"}),
    "no operator set of ONNX where none is used": (
        replace(calling(function(BODY)), opsets=((OWN, 1),)),
        set(),
    ),
    # No defaults.
    "a default of a function": (calling(function(BODY, defaults={"k": 1})), {"graph.D10"}),
    # Types agree.
    "an input with a second type": (replace(GOOD, values=values(x="double[2,3]")), {"graph.D11"}),
    "an input with a second shape": (replace(GOOD, values=values(x="float[3,2]")), {"graph.D11"}),
    "an input with a second rank": (replace(GOOD, values=values(x="float[2]")), {"graph.D11"}),
    "an output with a second shape": (
        replace(GOOD, values=values(y="float[3,2]")),
        {"graph.D11", "clip.output.C1"},
    ),
    "an output that is declared dense and sparse": (
        replace(GOOD, outputs=values(y="sparse float[2,3]"), values=OUT),
        {"graph.D11"},
    ),
    "a foreign type beside one of the profile": (
        replace(GOOD, values=values(x="float8[2,3]")),
        {"graph.D11"},
    ),
    "two denotations": (
        replace(GOOD, inputs=values(x="float[2,3] as A,B"), values=values(x="float[2,3] as A,C")),
        {"graph.D11"},
    ),
    "a symbol beside a number": (replace(GOOD, values=values(x="float[batch,3]")), {"graph.D11"}),
    "an axis left open beside a number": (replace(GOOD, values=values(x="float[?,3]")), set()),
    "a shape or a type left open": (replace(GOOD, values=values(x="float", y="?[2,3]")), {"general.R2"}),
    "two sizes after an open one": (
        replace(CHAIN, values=tuple(Value("t", tensor_type(f"float[{size},3]")) for size in ("?", 2, 5))),
        {"graph.D11", "general.R2"},
    ),
    "a type that is said in two parts": (
        replace(
            CHAIN, values=tuple(Value("t", tensor_type(text)) for text in ("float", "?[2,3]", "double[2,3]"))
        ),
        {"graph.D11", "general.R2"},
    ),
    "the same type again": (replace(GOOD, values=values(x="float[2,3]", lo="float[]")), set()),
    "a function that writes another type for what it is given": (
        calling(function(BODY, values=values(a="double[2,3]"))),
        {"graph.D11"},
    ),
    "a function that writes another type for what it gives": (
        calling(function(BODY, values=values(b="float[3,2]"))),
        {"graph.D11"},
    ),
    "a function that writes two types for one tensor": (
        calling(
            function(
                node("Clip", "a l h", "t"), node("Clip", "t l h", "b"), values=(*T, *values(t="float[9]"))
            )
        ),
        {"graph.D11"},
    ),
    "a function that writes the types of its callers again": (
        calling(function(BODY, values=values(a="float[2,3]", b="float[2,3]", l="float[]"))),
        set(),
    ),
}


@for_each("case", CASES)
def test_a_model_breaks_exactly_these_rules(case: str) -> None:
    checked, expected = CASES[case]
    assert broken(checked) == expected
