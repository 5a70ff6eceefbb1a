"""What engines take of a graph: no calls, no compositions, every node where the model has it (D-ALL-14)."""

from dataclasses import replace

import numpy as np
import pytest
from tests.native.support import value

from sonnx.evaluate.execution import Settings, execute
from sonnx.model.graph import Function, Graph, Node
from sonnx.operators import catalogue
from sonnx.operators.composing import executable
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.vocabulary.operator import BodyNode, Contract, Operator

pytestmark = pytest.mark.measured

INPUTS = CLIP.contract.inputs
# Bounded twice: by the first two bounds, then by the same ones the other way round.
TWICE = Operator(
    Contract(
        "SonnxTwice",
        (1,),
        "Clip, and Clip with the bounds exchanged.",
        INPUTS,
        CLIP.contract.outputs,
        (),
        (),
        lambda call: {CLIP.contract.outputs[0].name: call.inputs["input"]},
    ),
    body=lambda call: (
        BodyNode(CLIP, ("input", "min", "max"), ("once",)),
        BodyNode(CLIP, ("once", "max", "min"), ("output",)),
    ),
)


def graph(*nodes: Node, functions: tuple[Function, ...] = ()) -> Graph:
    scalars = [value(name, "float", ()) for name in ("low", "high")]
    return Graph(
        "g",
        (value("x", "float", (3,)), *scalars),
        (value("y", "float", (3,)),),
        nodes,
        functions=functions,
        opsets=(("", 22),),
        source="g.onnx",
    )


def bounded(operator: str, domain: str = "") -> Node:
    return Node(operator, ("x", "low", "high"), ("y",), {}, "n", domain)


@pytest.fixture
def composition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue._BY_KEY, TWICE.key, TWICE)


def test_a_graph_without_calls_and_compositions_stays_as_it_is() -> None:
    plain = graph(bounded("Clip"))
    assert executable(plain).graph is plain


@pytest.mark.usefixtures("composition")
def test_a_composition_becomes_its_body_at_the_place_of_its_node() -> None:
    asked = graph(bounded("SonnxTwice"))
    found = executable(asked)
    assert [node.operator for node in found.graph.nodes] == ["Clip", "Clip"]
    assert [node.inputs[1:] for node in found.graph.nodes] == [("low", "high"), ("high", "low")]
    places = {(place.path[0].index, place.path[0].name) for place in found.locations}
    assert places == {(0, "n")}
    assert [node.name for node in found.graph.nodes] == ["n/Clip", "n/Clip"]
    arrays = {"x": np.array([-1, 0.5, 9], np.float32), "low": np.float32(0), "high": np.float32(1)}
    # Clip with min above max gives max: here everything becomes `low`.
    assert execute(asked, arrays, Settings())["y"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.usefixtures("composition")
def test_what_engines_take_is_made_once() -> None:
    inner = Node("SonnxTwice", ("a", "b", "c"), ("d",))
    function = Function("F", "own", ("a", "b", "c"), ("d",), (inner,))
    for asked in (
        graph(bounded("SonnxTwice")),
        graph(bounded("F", "own"), functions=(function,)),
        graph(bounded("F", "own"), functions=(replace(function, nodes=(replace(inner, operator="Clip"),)),)),
    ):
        assert executable(asked) is executable(asked)
