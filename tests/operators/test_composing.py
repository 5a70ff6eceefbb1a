"""What engines take of a graph: no calls, no compositions, every node where the model has it (D-ALL-14)."""

from dataclasses import replace

import numpy as np
import pytest
from tests.native.support import model, node, value

import sonnx
from sonnx.check.models import check_graph
from sonnx.derive.evaluate import evaluate
from sonnx.engines import compile_graph
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.dtype import DType
from sonnx.model.graph import Function, Graph, Node
from sonnx.model.tensor_type import TensorType
from sonnx.operators import NODE_OPERATORS, catalogue
from sonnx.operators.composing import executable
from sonnx.operators.onnx.add import OPERATOR as ADD
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.div import OPERATOR as DIV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.relu import OPERATOR as RELU
from sonnx.operators.shared.filling import filled
from sonnx.terms.term import DefinitionError
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyConstant, BodyNode, Contract, Operator, operand_names

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


def _more(call: Call) -> tuple[BodyConstant | BodyNode, ...]:
    """X / (3 + X): what is made of the constant is read by a node that is not the last."""
    return (
        *filled("threes", 3, call.inputs["X"]),
        BodyNode(ADD, ("threes", "X"), ("more",)),
        BodyNode(DIV, ("X", "more"), ("Y",)),
    )


OVER_MORE = Operator(replace(RELU.contract, name="SonnxOverMore"), body=_more)


@pytest.mark.parametrize("shape", [(2, 3), (), (1, 1), (0,), (2, 0)], ids=str)
def test_a_body_may_hold_constants_and_all_engines_give_what_it_says(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]
) -> None:
    monkeypatch.setitem(catalogue._BY_KEY, OVER_MORE.key, OVER_MORE)
    asked = Graph(
        "g",
        (value("x", "float", shape),),
        (value("y", "float", shape),),
        (Node("SonnxOverMore", ("x",), ("y",), {}, "n"),),
        opsets=(("", 22),),
        source="g.onnx",
    )
    x = np.resize(np.array([1, 3, -4, 9, 0, -6], np.float32), shape)
    # By hand: 1/4, 3/6, -4/-1, 9/12, 0/3, -6/-3.
    wanted = np.resize(np.array([0.25, 0.5, 4, 0.75, 0, 2], np.float32), shape)
    assert sonnx.same_bits(evaluate(OVER_MORE, {"X": x}, {})["Y"], wanted)
    assert sonnx.same_bits(execute(asked, {"x": x}, Settings())["y"], wanted)
    assert sonnx.same_bits(compile_graph(asked)({"x": x})["y"], wanted)
    exact = execute(asked, {"x": sonnx.real(x)}, Settings(domain="real"))["y"]
    assert exact.tolist() == wanted.tolist()
    types = executable(asked).graph.types
    assert all(types[name].sizes == shape for node in executable(asked).graph.nodes for name in node.outputs)


def test_a_body_in_which_a_type_does_not_follow_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = BodyNode(EXPAND, ("three", "shape"), ("Y",))
    constants = (
        BodyConstant("three", TensorType(DType.FLOAT, (2,)), (3,)),
        BodyConstant("shape", TensorType(DType.INT64, (1,)), (3,)),
    )
    op = replace(OVER_MORE, body=lambda call: (*constants, wrong))
    monkeypatch.setitem(catalogue._BY_KEY, op.key, op)
    inputs, outputs = (value("x", "float", (3,)),), (value("y", "float", (3,)),)
    asked = Graph("g", inputs, outputs, (Node("SonnxOverMore", ("x",), ("y",), {}, "n"),), opsets=(("", 22),))
    with pytest.raises(DefinitionError, match="`output` of Expand"):
        executable(asked)


COMPOSITIONS = [each for each in NODE_OPERATORS.values() if each.body is not None]


@pytest.mark.parametrize("operator", COMPOSITIONS, ids=lambda each: each.name)
def test_the_body_of_every_composition_conforms_itself(operator: Operator) -> None:
    asked = operator.contract.rules[0].passing
    names = operand_names(operator.contract.inputs, len(asked.inputs))
    for shape in ((2, 3), (), (1,), (0, 2)):
        for dtype in operator.contract.inputs[0].types:
            if dtype is DType.REAL:
                continue
            given = [value(name, str(dtype), shape) for name in names]
            called = node(operator.name, names, "made", **asked.attributes)
            found = executable(model([called], given, [value("made", str(dtype), shape)])).graph
            # Parts have no version of their own: they are what the profile says.
            parts = [
                replace(each, version=NODE_OPERATORS[each.operator].contract.versions[-1])
                for each in found.nodes
            ]
            assert check_graph(replace(found, nodes=tuple(parts))) == ()
