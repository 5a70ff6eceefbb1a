"""Constants, functions, order, what nobody uses, and what old formats demanded."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.normalize.support import (
    changes,
    float32,
    normalize,
    normalized,
    proto,
    read,
    rules,
    tensor,
    types,
    with_arrays,
)

import sonnx
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.normalize.passes import Normalized

SPARSE = helper.make_sparse_tensor(tensor("v", float32([1])), tensor("i", np.array([0])), [4])
LIMIT = "Limit (a) => (b) { low = Constant<value_float = 0.0>()  b = Clip(a, low) }"


def constant_node(**attributes: Any) -> Normalized:
    """A graph whose output is made by a Constant; the node is the second one."""
    nodes = [
        helper.make_node("Clip", ["x"], ["y"], name="first"),
        helper.make_node("Constant", [], ["c"], name="second", **attributes),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]),
        helper.make_empty_tensor_value_info("c"),
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return normalize(
        read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8))
    )


@pytest.mark.parametrize(
    ("attributes", "kind", "elements"),
    [
        ({"value_float": 0.1}, "float[]", float32(0.1)),
        ({"value_floats": [0.1, -0.0]}, "float[2]", float32([0.1, -0.0])),
        ({"value_int": -3}, "int64[]", np.array(-3)),
        ({"value_ints": [2, -(2**63)]}, "int64[2]", np.array([2, -(2**63)])),
        ({"value_string": "ä"}, "string[]", np.array("ä", object)),
        ({"value_strings": ["a", ""]}, "string[2]", np.array(["a", ""], object)),
        (
            {"value": tensor("other", np.array([[1.5]], np.float16))},
            "float16[1,1]",
            np.array([[1.5]], np.float16),
        ),
        ({"value": tensor("", np.array([], bool))}, "bool[0]", np.array([], bool)),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_constant_becomes_an_initializer_bit_for_bit(attributes: Any, kind: str, elements: Any) -> None:
    done = constant_node(**attributes)
    assert rules(done) == []
    assert [node.operator for node in done.graph.nodes] == ["Clip"]
    (held,) = [constant for constant in done.graph.constants if constant.name == "c"]
    assert str(held.type) == types(done)["c"] == kind
    assert sonnx.same_bits(held.data, elements)
    assert ("1 Constant", "made its output `c` an initializer") in changes(done)
    assert ("output c", f"wrote the type of `c`: {kind} in place of ?") in changes(done)
    result = sonnx.Graph.of(done.graph).run({"x": float32([1])})
    assert sonnx.same_bits(result["c"], elements)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"value_int": 1, "value_float": 1.0},
        {"value_float": 1},
        {"value_floats": 1.0},
        {"value_int": [1]},
        {"value_string": b"\xff"},
        {"value_strings": [b"good", b"\xff"]},
        {"value": TensorProto(data_type=TensorProto.FLOAT, dims=[2], float_data=[1.0])},
        {"value": TensorProto(data_type=TensorProto.FLOAT8E5M2, dims=[1], raw_data=b"0")},
        {"value": 1.0},
        {"sparse_value": SPARSE},
        {"other": 1.0},
    ],
    ids=[
        "none", "two", "an integer as float", "one as list", "list as one", "no text", "no text among others",
        "too few elements", "a foreign type", "no tensor", "sparse", "another name",
    ],
)  # fmt: skip
def test_a_constant_that_cannot_be_read_stays(attributes: Any) -> None:
    done = constant_node(**attributes)
    assert "graph.D6" in rules(done)
    assert [node.operator for node in done.graph.nodes] == ["Clip", "Constant"]


def test_a_constant_with_two_outputs_an_input_or_another_domain_stays() -> None:
    for text in ("y, z = Constant<value_int = 1>()", "y = Constant<value_int = 1>(x)"):
        done = normalized(f"g (int64 x) => (int64 y) {{ {text} }}")
        assert done.changes == ()
        assert "graph.D6" in rules(done)
    done = normalized("g (int64 x) => (int64 y) { y = own.Constant<value_int = 1>() }", more=', "own": 1')
    assert done.changes == ()


def test_numbers_that_no_file_holds_make_no_constant() -> None:
    for value in (2**63, True, 1.5):
        node = Node("Constant", (), ("y",), {"value_int": value}, version=13)
        output = Value("y", tensor_type("int64[]"))
        done = normalize(Graph("g", (), (output,), (node,), opsets=(("", 22),)))
        assert rules(done) == ["graph.D6"]


def written_constant(written: str) -> Normalized:
    """The constant [1, 2], of which the model says that it is of another type."""
    return normalized(
        f"""g (bool[2] c, float[2] x) => (float[2] y) <{written} k>
            {{ k = Constant<value_floats = [1.0, 2.0]>()  y = Where(c, x, k) }}"""
    )


@pytest.mark.parametrize("written", ["float[3]", "int64[2]", "double[?]", "float[?,?]"])
def test_a_constant_whose_written_type_is_another_one_is_found_out(written: str) -> None:
    done = written_constant(written)
    assert "graph.D11" in rules(done)
    assert str(done.graph.values[0].type) == written


def test_a_constant_whose_written_type_is_open_gets_its_own() -> None:
    done = written_constant("float[?]")
    assert rules(done) == []
    assert ("tensor k", "wrote the type of `k`: float[2] in place of float[?]") in changes(done)


def test_a_function_becomes_its_body() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { [call] y = own.Limit(x) }", LIMIT)
    assert rules(done) == []
    assert (done.graph.functions, done.graph.opsets) == ((), (("", 22),))
    (node,) = done.graph.nodes
    assert (node.operator, node.name) == ("Clip", "call/Clip1")
    assert node.inputs == ("x", "call/low", "call/Clip1_max")
    assert node.outputs == ("y",)
    assert changes(done) == [
        ("0 Limit", "replaced the call by the body of the function `Limit`"),
        ("0 Limit > 0 Constant", "made its output `call/low` an initializer"),
        ("0 Limit > 1 Clip", "gave `max` the constant 3.4028235e+38"),
    ]
    assert done.changes[0].rule == "D-GRAPH-3"


def test_functions_in_functions_become_their_bodies() -> None:
    twice = "Twice (p) => (q) { m = own.Limit(p)  [inner] q = own.Limit(m) }"
    done = normalized("g (float[2] x) => (float[2] y) { y = own.Twice(x) }", LIMIT, twice)
    assert rules(done) == []
    assert [node.operator for node in done.graph.nodes] == ["Clip", "Clip"]
    first, second = done.graph.nodes
    assert (first.inputs[0], second.inputs[0], second.outputs) == ("x", first.outputs[0], ("y",))
    assert ("0 Twice > 1 Limit > 1 Clip", "gave `max` the constant 3.4028235e+38") in changes(done)
    assert len({node.name for node in done.graph.nodes}) == 2


def test_attributes_of_a_call_reach_the_nodes_that_refer_to_them() -> None:
    outer = "Outer <s, d: ints = [1, 2]> (x, w) => (y) { y = own.Inner<t: ints = @s, d: ints = @d>(x, w) }"
    inner = (
        "Inner <t, d> (x, w) => (y) { y = Conv<strides: ints = @t, dilations: ints = @d, group = 1>(x, w) }"
    )
    text = "g (float[1,1,9,9] x, float[1,1,2,2] w) => (float[1,1,?,?] y) { y = own.Outer<s = [3, 1]>(x, w) }"
    done = normalized(text, outer, inner)
    assert rules(done) == []
    (node,) = done.graph.nodes
    assert node.attributes["strides"] == (3, 1)
    assert node.attributes["dilations"] == (1, 2)
    assert types(done)["y"] == "float[1,1,3,7]"  # (9 - 2) // 3 + 1 = 3;  9 - 3 + 1 = 7


def test_an_operand_that_a_call_leaves_out_is_absent_in_the_body() -> None:
    function = "Limit3 (a, l, h) => (b) { b = Clip(a, l, h) }"
    done = normalized("g (int8[2] x, int8 top) => (int8[2] y) { y = own.Limit3(x, , top) }", function)
    assert rules(done) == []
    (node,) = done.graph.nodes
    assert done.graph.data[node.inputs[1]] == -128
    assert node.inputs[2] == "top"


def test_the_names_of_a_body_stay_clear_of_those_of_the_graph() -> None:
    # Without a node name, the tensor `low` of the body becomes `Limit/low`; here that is an input.
    model = proto("g (float[2] x, float z) => (float[2] y) { t = own.Limit(x)  y = own.Limit(t, z) }", LIMIT)
    model.graph.node[1].input.pop()
    model.graph.input[1].name = "Limit/low"
    done = normalize(read(model))
    assert rules(done) == []
    data = done.graph.data
    lows = [node.inputs[1] for node in done.graph.nodes]
    assert len(set(lows)) == 2
    assert "Limit/low" not in lows
    assert [data[name].item() for name in lows] == [0, 0]


def test_a_body_cannot_capture_a_tensor_of_the_graph() -> None:
    function = "Steal (a) => (b) { b = Clip(a, secret) }"
    done = normalized("g (float[2] x, float secret) => (float[2] y) { y = own.Steal(x) }", function)
    assert done.changes == ()
    assert "graph.D3" in rules(done)


def test_a_function_that_gives_its_input_back_stays() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { y = own.Same(x) }", "Same (a) => (a) { b = Clip(a) }")
    assert done.changes == ()
    assert "graph.D13" in rules(done)


def test_a_function_that_nobody_calls_is_removed_and_that_is_said() -> None:
    done = normalized("g (float[2] x, float l, float h) => (float[2] y) { y = Clip(x, l, h) }", LIMIT)
    assert rules(done) == []
    assert done.graph.functions == ()
    assert changes(done) == [("", "removed `Limit`")]


def test_the_operator_set_that_only_a_function_imports_comes_with_its_body() -> None:
    model = proto("g (float[2] x) => (float[2] y) { y = own.Limit(x) }", LIMIT)
    del model.opset_import[0]
    assert [entry.domain for entry in model.opset_import] == ["own"]
    done = normalize(read(model))
    assert rules(done) == []
    assert done.graph.opsets == (("", 22),)


def test_operator_sets_that_have_nothing_to_do_with_functions_stay() -> None:
    text = "g (float[2] x) => (float[2] y) { y = own.Limit(x) }"
    assert normalized(text, LIMIT, more=', "other": 3').graph.opsets == (("", 22), ("other", 3))
    strange = proto("g (float[2] x) => (float[2] y) { t = own.Limit(x)  y = own.Strange(t) }", LIMIT)
    del strange.functions[0].opset_import[1]
    assert normalize(read(strange)).graph.opsets == (("", 22), ("own", 1))
    foreign = "Foreign (a) => (b) { b = strange.Op(a) }"
    model = proto(text.replace("Limit", "Foreign"), foreign)
    model.functions[0].opset_import.append(helper.make_opsetid("strange", 7))
    done = normalize(read(model))
    assert done.graph.opsets == (("", 22), ("strange", 7))
    assert rules(done) == ["graph.D6"]


def test_of_several_versions_that_functions_import_the_newest_comes() -> None:
    second = "Other (a) => (b) { b = Clip(a) }"
    model = proto("g (float[2] x) => (float[2] y) { t = own.Limit(x)  y = own.Other(t) }", LIMIT, second)
    del model.opset_import[0]
    model.functions[1].opset_import[0].version = 18
    assert normalize(read(model)).graph.opsets == (("", 22),)


def test_nodes_are_sorted_and_that_is_said() -> None:
    text = """g (float[2] x, float l, float h) => (float[2] y)
              <float[2] t, float[2] u> { y = Clip(u, l, h)  u = Clip(t, l, h)  t = Clip(x, l, h) }"""
    done = normalized(text)
    assert rules(done) == []
    assert [node.outputs[0] for node in done.graph.nodes] == ["t", "u", "y"]
    assert changes(done) == [("", "sorted the nodes; 2 of 3 moved")]


def test_changes_and_findings_name_the_place_in_the_file_not_in_the_result() -> None:
    text = "g (float[2] x, float[1] l) => (float[2] y) { y = Clip(t, l)  u = Clip(x)  t = Clip(x) }"
    done = normalized(text)
    places = {where for where, what in changes(done) if what.startswith("gave `max`")}
    assert places == {"0 Clip", "2 Clip"}
    assert ("1 Clip", "removed the node") in changes(done)
    (finding,) = done.findings
    assert finding.rule == "clip.min.D2"
    assert finding.location is not None
    assert finding.location.index == 0


def test_dead_nodes_go_with_all_that_only_they_need() -> None:
    text = """g (float[2] x, float l, float h) => (float[2] y) <float[2] t, float[2] u, float one = {1.0}>
              { t = Clip(x, one, h)  y = Clip(x, l, h)  u = Clip(t, l, one) }"""
    done = normalized(text)
    assert rules(done) == []
    assert [node.outputs for node in done.graph.nodes] == [("y",)]
    assert done.graph.constants == ()
    assert done.graph.values == ()
    assert changes(done) == [
        ("0 Clip", "removed the node"),
        ("2 Clip", "removed the node"),
        ("", "removed the initializers `one`"),
    ]
    assert {change.rule for change in done.changes} == {"graph.D4", "D-GRAPH-1"}


def test_an_initializer_that_is_an_output_is_used() -> None:
    text = """g (float[2] x, float l, float h) => (float[2] y, float one)
              <float one = {1.0}> { y = Clip(x, l, h) }"""
    done = normalized(text)
    assert (done.changes, done.findings) == ((), ())
    result = sonnx.Graph.of(done.graph).run({"x": float32([1, 2]), "l": float32(0), "h": float32(9)})
    assert result["one"].item() == 1


def test_an_input_that_is_an_output_stays_and_takes_its_size() -> None:
    text = "g (float[n] x, float l, float h) => (float[n] y, float[?] x) { y = Clip(x, l, h) }"
    done = normalized(text, dims={"n": 2})
    assert rules(done) == []
    assert ("output x", "wrote the type of `x`: float[2] in place of float[?]") in changes(done)
    assert [str(value.type) for value in done.graph.outputs] == ["float[2]", "float[2]"]


def test_types_of_tensors_that_are_nowhere_are_no_concern_of_ours() -> None:
    text = "g (float[2] x, float l, float h) => (float[2] y) <float[?] nowhere> { y = Clip(x, l, h) }"
    done = normalized(text)
    assert done.changes == ()
    assert [value.name for value in done.graph.values] == ["nowhere"]


FORMAL = "g (float[2] x, float l, float h) => (float[2] y) { y = Clip(x, l, h) }"


def test_the_formal_inputs_of_old_files_are_taken_out() -> None:
    model = with_arrays(proto(FORMAL, ir=3), l=float32(0), h=float32(6))
    done = normalize(read(model))
    assert rules(done) == []
    assert [value.name for value in done.graph.inputs] == ["x"]
    assert done.graph.ir_version == 4
    assert changes(done) == [
        ("", "took the initializers `l`, `h` out of the inputs"),
        ("", "wrote version 4 of ONNX's format in place of 3"),
    ]


def test_a_formal_input_of_another_type_than_its_initializer_stays() -> None:
    model = with_arrays(proto(FORMAL, ir=3), l=float32([0]), h=float32(6))
    done = normalize(read(model))
    assert done.changes == ()
    assert {"graph.D10", "graph.D11"} <= set(rules(done))


@pytest.mark.parametrize("ir", [4, 8, 10])
def test_a_default_that_newer_files_give_an_input_stays(ir: int) -> None:
    model = with_arrays(proto(FORMAL, ir=ir), l=float32(0), h=float32(6))
    done = normalize(read(model))
    assert done.changes == ()
    assert rules(done) == ["graph.D10", "graph.D10"]


def test_a_default_that_no_node_takes_stays() -> None:
    text = "g (float[2] x, float l, float idle) => (float[2] y) { y = Clip(x, l, l) }"
    done = normalize(read(with_arrays(proto(text), idle=float32(0))))
    assert (done.changes, rules(done)) == ((), ["graph.D10"])


def test_a_default_decides_no_shape() -> None:
    model = with_arrays(proto("g (float[3] x, int64[2] s) => (y) { y = Expand(x, s) }"), s=np.array([2, 3]))
    done = normalize(read(model))
    assert done.changes == ()
    assert {"graph.D10", "general.R2"} <= set(rules(done))


def test_a_wrong_name_for_an_axis_does_not_get_lost_with_a_formal_input() -> None:
    text = "g (float[1,1,3,3] x, float[1,1,3,3] w) => (float[1,1,1,1] y) { y = Conv(x, w) }"
    model = with_arrays(proto(text, ir=3), w=np.ones((1, 1, 3, 3), np.float32))
    for axis in model.graph.input[1].type.tensor_type.shape.dim:
        axis.denotation = "FILTER_SPATIAL"
    done = normalize(read(model))
    assert [value.name for value in done.graph.inputs] == ["x"]
    assert rules(done) == ["conv.W.C3"]


def test_an_old_format_is_left_where_it_can_hold_the_result() -> None:
    done = normalized("g (bool[2] c, float[2] x, float[2] y) => (float[2] z) { z = Where(c, x, y) }", ir=3)
    assert (done.changes, done.findings, done.graph.ir_version) == ((), (), 3)


def test_an_old_format_gives_way_to_one_that_can_hold_the_new_constants() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { y = Clip(x) }", ir=3)
    assert done.graph.ir_version == 4
    assert ("", "wrote version 4 of ONNX's format in place of 3") in changes(done)


def test_what_conforms_is_left_alone() -> None:
    text = "g (float[2] x) => (float[2] y) <float l = {0.0}, float h = {6.0}> { y = Clip(x, l, h) }"
    before = read(proto(text))
    done = normalize(before)
    assert (done.changes, done.findings) == ((), ())
    assert done.graph == before


def test_constants_keep_their_own_arrays() -> None:
    text = "g (float[2] x) => (float[2] y) <float l = {0.0}> { y = Clip(x, l) }"
    before = read(proto(text))
    done = normalize(before)
    (kept, _) = done.graph.constants
    assert isinstance(kept, Constant)
    assert kept is before.constants[0]
