"""Graphs are checked for their form when they are made, and hold whatever a file says, right or wrong."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Reference, Value
from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType, tensor_type

FLOAT = tensor_type("float[2]")
X, Y = Value("x", FLOAT), Value("y", FLOAT)
CLIP = Node("Clip", ("x", "lo", ""), ("y",), name="limit")
LO = Constant("lo", tensor_type("float[]"), np.array(1, np.float32))
BODY = Function("Limit", "own", ("a",), ("b",), (Node("Clip", ("a",), ("b",)),), opsets=(("", 13),))
GRAPH = Graph("net", (X,), (Y,), (CLIP,), (LO,), functions=(BODY,), opsets=(("", 22),), source="net.onnx")


def changed(made: Any, field: str, value: Any) -> Any:
    return replace(made, **{field: value})


@pytest.mark.parametrize(
    ("made", "field", "value", "complaint"),
    [
        (X, "name", 1, "Value: name must be text, not int"),
        (X, "type", "float", "Value: type must be a TensorType, not str"),
        (LO, "name", b"x", "Constant: name must be text, not bytes"),
        (LO, "type", None, "Constant: type must be a TensorType, not NoneType"),
        (LO, "problem", 3, "Constant: problem must be text, not int"),
    ],
)
def test_a_tensor_without_a_name_or_a_type_is_refused(
    made: Any, field: str, value: Any, complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        changed(made, field, value)


@pytest.mark.parametrize("field", ["operator", "name", "domain", "overload"])
def test_the_names_of_a_node_are_text(field: str) -> None:
    with pytest.raises(TypeError, match=f"Node: {field} must be text, not NoneType"):
        changed(CLIP, field, None)


@pytest.mark.parametrize("field", ["inputs", "outputs", "repeated"])
def test_what_a_node_lists_is_text(field: str) -> None:
    with pytest.raises(TypeError, match=f"Node: {field} must hold str, not int"):
        changed(CLIP, field, ("x", 1))


@pytest.mark.parametrize("field", ["name", "domain", "overload"])
def test_the_names_of_a_function_are_text(field: str) -> None:
    with pytest.raises(TypeError, match=f"Function: {field} must be text, not int"):
        changed(BODY, field, 1)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("inputs", "str"),
        ("outputs", "str"),
        ("nodes", "Node"),
        ("attributes", "str"),
        ("values", "Value"),
        ("opsets", "tuple"),
    ],
)
def test_what_a_function_lists_has_its_type(field: str, kind: str) -> None:
    with pytest.raises(TypeError, match=f"Function: {field} must hold {kind}, not int"):
        changed(BODY, field, (1,))


@pytest.mark.parametrize("field", ["name", "source", "documentation"])
def test_the_names_of_a_graph_are_text(field: str) -> None:
    with pytest.raises(TypeError, match=f"Graph: {field} must be text, not int"):
        changed(GRAPH, field, 1)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("inputs", "Value"),
        ("outputs", "Value"),
        ("nodes", "Node"),
        ("constants", "Constant"),
        ("values", "Value"),
        ("functions", "Function"),
        ("opsets", "tuple"),
        ("extras", "str"),
        ("metadata", "tuple"),
    ],
)
def test_what_a_graph_lists_has_its_type(field: str, kind: str) -> None:
    with pytest.raises(TypeError, match=f"Graph: {field} must hold {kind}, not int"):
        changed(GRAPH, field, (1,))


def test_lists_become_tuples() -> None:
    made = Graph("net", [X], [Y], [Node("Clip", ["x"], ["y"])])  # type: ignore[arg-type]  # the law
    assert made == Graph("net", (X,), (Y,), (Node("Clip", ("x",), ("y",)),))
    assert isinstance(made.nodes[0].inputs, tuple)


def test_nothing_that_was_made_can_be_changed() -> None:
    for made in (X, LO, CLIP, BODY, GRAPH):
        with pytest.raises(FrozenInstanceError):
            made.name = "other"  # type: ignore[misc]  # the law
    with pytest.raises(TypeError):
        CLIP.attributes["axis"] = 1  # type: ignore[index]  # the law


def test_data_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Constant 'w': data of shape \(2,\) for float\[3\]"):
        Constant("w", tensor_type("float[3]"), np.zeros(2, np.float32))
    for vague in ("float", "float[n]", "?"):
        with pytest.raises(ValueError, match="data of shape"):
            Constant("w", tensor_type(vague), np.zeros(2, np.float32))
    assert Constant("w", tensor_type("float[3]")).data is None


def test_a_graph_may_hold_what_no_rule_allows() -> None:
    Graph("", (X, X), (), (Node("", (), ()), CLIP, CLIP), (LO, LO), opsets=(("", -1), ("", -1)), ir_version=0)


def test_a_node_names_the_function_it_may_call_as_the_function_does() -> None:
    assert Node("Limit", (), (), domain="own", overload="2").function == ("own", "Limit", "2")
    assert replace(BODY, overload="2").key == ("own", "Limit", "2")


def test_the_types_written_first_count_in_the_order_inputs_initializers_values_outputs() -> None:
    def typed(text: str) -> Value:
        return Value("x", tensor_type(text))

    held = Constant("x", tensor_type("float[2]"))
    graph = Graph("", (typed("float[1]"),), (typed("float[4]"),), (), (held,), (typed("float[3]"),))
    assert [str(written) for _, written, _ in graph.declarations()] == [f"float[{n}]" for n in (1, 2, 3, 4)]
    assert graph.types["x"] == tensor_type("float[1]")
    assert replace(graph, inputs=()).types["x"] == tensor_type("float[2]")
    assert replace(graph, inputs=(), constants=()).types["x"] == tensor_type("float[3]")
    assert replace(graph, inputs=(), constants=(), values=()).types["x"] == tensor_type("float[4]")


def test_axes_may_be_denoted_wherever_a_type_is_written() -> None:
    weights = Constant("w", tensor_type("float[2,3]"))
    denoted = Value("w", tensor_type("float[2,3] as A,B"))
    again = Value("w", tensor_type("float[2,3] as C,D"))
    graph = Graph("", (), (again,), (), (weights,), (denoted,))
    assert graph.types["w"] == tensor_type("float[2,3] as A,B")
    foreign = Constant("w", TensorType(None, (2,), sparse=True, foreign="float8"))
    denoted = Value("w", tensor_type("float[2] as A"))
    kept = Graph("", (), (), (), (foreign,), (denoted,)).types["w"]
    assert kept == TensorType(None, (2,), sparse=True, denotation=("A",), foreign="float8")


def test_the_data_of_a_graph_is_that_of_the_constants_that_could_be_read() -> None:
    unread = Constant("w", FLOAT, problem="no such file")
    graph = replace(GRAPH, constants=(LO, unread))
    assert list(graph.data) == ["lo"]
    assert graph.data["lo"] is LO.data


def test_declarations_say_where_they_stand() -> None:
    graph = replace(GRAPH, values=(Value("t", FLOAT),))
    assert [(name, place) for name, _, place in graph.declarations()] == [
        ("x", Location("input", "x", file="net.onnx")),
        ("lo", Location("initializer", "lo", file="net.onnx")),
        ("t", Location("tensor", "t", file="net.onnx")),
        ("y", Location("output", "y", file="net.onnx")),
    ]


def test_the_scopes_are_the_graph_and_the_body_of_each_function() -> None:
    outer, inner = GRAPH.scopes
    assert (outer.inputs, outer.outputs, outer.constants) == (("x",), ("y",), ("lo",))
    assert (outer.nodes, outer.opsets) == ((CLIP,), (("", 22),))
    assert outer.location == Location("model", file="net.onnx") == GRAPH.location
    assert (inner.inputs, inner.outputs, inner.constants) == (("a",), ("b",), ())
    assert (inner.nodes, inner.opsets) == (BODY.nodes, (("", 13),))
    assert inner.location == Location("function", "Limit", operator="own", file="net.onnx")


def test_a_scope_locates_its_parts_inside_the_function_and_nothing_inside_the_model() -> None:
    outer, inner = GRAPH.scopes
    assert outer.node_location(0) == Location("node", "limit", 0, "Clip", "net.onnx")
    assert outer.at("input", "x") == Location("input", "x", file="net.onnx")
    assert inner.node_location(0) == Location("node", "", 0, "Clip", "net.onnx", inner.location)
    assert inner.at("output", "b").path == (
        inner.location,
        Location("output", "b", file="net.onnx", inside=inner.location),
    )


def test_a_node_that_was_moved_is_located_where_it_was() -> None:
    before = Location("node", "old", 7, "Clip", "net.onnx")
    moved = replace(GRAPH, nodes=(replace(CLIP, origin=before),))
    assert moved.scope.node_location(0) == before
    assert moved.nodes[0] == CLIP


def test_values_of_attributes_say_in_messages_what_they_are() -> None:
    assert repr(Opaque("graph")) == "a value of kind graph"
    assert Reference("axis").kind == "ints"
