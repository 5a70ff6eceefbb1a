"""What is damaged or may mean several things stays: no change may hide a defect or choose a meaning."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import helper
from tests.normalize.support import (
    changes,
    float32,
    graph,
    normalize,
    normalized,
    proto,
    read,
    rules,
    with_arrays,
)

import sonnx
from sonnx.api import load
from sonnx.model.graph import Graph, Node
from sonnx.operators import GRAPH_RULES

# What `normalize` mends: dead nodes, their order, defaults of functions. What it leaves without stopping:
# operators that it does not know, names, sizes.
MENDED_OR_LEFT = {
    "graph.D4",
    "graph.D5",
    "graph.D6",
    "graph.D7",
    "graph.D10",
    "graph.D16",
    "graph.D17",
    "graph.D18",
}
BROKEN = {rule.identifier: rule.failing for rule in GRAPH_RULES if rule.identifier not in MENDED_OR_LEFT}


def test_these_are_the_rules_that_stop_everything() -> None:
    assert list(BROKEN) == [f"graph.D{number}" for number in (1, 2, 3, 8, 9, 11, 12, 13, 14, 15, 19, 20)]


@pytest.mark.parametrize("rule", list(BROKEN))
def test_a_model_that_breaks_such_a_rule_is_not_touched_at_all(rule: str) -> None:
    # A dead node and a Clip without bounds, which would be changed in any other model.
    more = (
        Node("Clip", ("x",), ("fine",), version=13),
        Node("Clip", ("x", "lo", "hi"), ("dead",), version=13),
    )
    output = replace(BROKEN[rule].inputs[0], name="fine")
    given = replace(BROKEN[rule], nodes=(*BROKEN[rule].nodes, *more), outputs=(*BROKEN[rule].outputs, output))
    done = normalize(given)
    assert done.changes == ()
    assert done.graph is given
    assert rule in rules(done)


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x) => (float[2] y) { y = Clip(x)  y = Clip(x) }",
        "g (float[2] x, float[2] x) => (float[2] y) { y = Clip(x) }",
        "g (float[2] x) => (float[2] y) <float[2] y = {1.0, 2.0}> { y = Clip(x) }",
        "g (float[2] x) => (float[2] y) <float l = {1.0}, float l = {2.0}> { y = Clip(x, l) }",
        "g (float[2] x) => (float[2] y) { x = Clip(x)  y = Clip(x) }",
        "g (float[2] x) => (float[2] y) { y = Clip(t)  t = Clip(y) }",
        "g (float[2] x) => (float[2] y) { y = Clip(missing) }",
        "g (float[2] x) => (float[2] y, float[2] missing) { y = Clip(x) }",
        "g (float[2] x) => (float[2] y, float[2] y) { y = Clip(x) }",
        "g (float[2] x) => () { y = Clip(x) }",
    ],
    ids=[
        "made twice", "input twice", "shadowed by an initializer", "initializer twice", "made anew", "cycle",
        "undefined", "undefined output", "output twice", "no output",
    ],
)  # fmt: skip
def test_a_tensor_that_means_nothing_or_two_things_stays(text: str) -> None:
    done = normalized(text)
    assert done.changes == ()
    assert {"graph.D1", "graph.D2", "graph.D3"} & set(rules(done))


@pytest.mark.parametrize(
    "opsets", [[], [("", 6)], [("", 22), ("", 13)], [("", 22), ("ai.onnx", 22)], [("", 999)]]
)
def test_an_operator_of_unknown_version_stays(opsets: list[tuple[str, int]]) -> None:
    model = proto("g (float[2] x) => (float[2] y) { y = Clip(x) }")
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*entry) for entry in opsets)
    done = normalize(read(model))
    assert done.changes == ()
    assert "graph.D9" in rules(done)


def test_an_attribute_written_twice_stays() -> None:
    model = proto("g (float[1,1,3,3] x, float[1,1,3,3] w) => (y) { y = Conv<strides = [1, 1]>(x, w) }")
    model.graph.node[0].attribute.append(helper.make_attribute("strides", [2, 2]))
    done = normalize(read(model))
    assert done.changes == ()
    assert "graph.D19" in rules(done)


def test_types_that_contradict_one_another_decide_no_padding() -> None:
    text = """g (float[1,1,5,5] x, float[1,1,2,2] w) => (float[1,1,?,?] y) <float[1,1,6,6] x>
              { y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w) }"""
    done = normalized(text)
    assert done.changes == ()
    assert "graph.D11" in rules(done)


def test_what_a_branch_may_need_is_not_removed() -> None:
    text = """g (bool c, float[2] x) => (float[2] y)
              { t = Clip(x)
                y = If(c) <then_branch = a () => (float[2] u) { u = Clip(t) },
                           else_branch = b () => (float[2] v) { v = Clip(x) }> }"""
    done = normalized(text)
    assert done.changes == ()
    assert "graph.D8" in rules(done)


def test_an_operator_outside_the_profile_stays_and_the_rest_is_made_to_conform() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { t = Clip(x)  u = Unheard(t)  y = Clip(u) }")
    assert [node.operator for node in done.graph.nodes] == ["Clip", "Unheard", "Clip"]
    assert rules(done) == ["graph.D6", "general.R2", "clip.min.D1", "clip.max.D1"]
    assert ("0 Clip", "wrote the type of `t`: float[2]") in changes(done)
    assert "u" not in done.graph.types


def test_a_random_operator_stays() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { y = RandomNormalLike(x) }")
    assert (done.changes, rules(done)) == ((), ["graph.D7"])


def test_names_stay_as_they_are() -> None:
    model = proto("g (float[2] x) => (float[2] y) { [same] t = Clip(x)  [same] y = Clip(t) }")
    done = normalize(read(model))
    assert rules(done) == ["graph.D17"]
    assert [node.name for node in done.graph.nodes] == ["same", "same"]
    model.graph.node[0].name = "\x1b[2J"
    done = normalize(read(model))
    assert "graph.D18" in rules(done)
    assert done.graph.nodes[0].name == "\x1b[2J"


def test_a_model_that_is_too_large_stays_too_large() -> None:
    done = normalized("g (float[65536,65536] x) => (y) { y = Clip(x) }")
    assert "graph.D16" in rules(done)


def test_what_cannot_be_read_stays_even_where_nobody_needs_it() -> None:
    model = with_arrays(proto("g (float[2] x) => (float[2] y) { y = Clip(x) }"), idle=float32([1, 2]))
    model.graph.initializer[0].raw_data = b"123"
    done = normalize(read(model))
    assert done.changes == ()
    assert "graph.D15" in rules(done)


def test_a_constant_inside_a_function_that_cannot_be_read_stays() -> None:
    function = """F (a, c) => (b)
                  { k = Constant<value: tensor = float[2] {1.0, 2.0}>()  b = Where(c, a, k) }"""
    model = proto("g (float[2] x, bool[2] c) => (float[2] y) { y = own.F(x, c) }", function)
    model.functions[0].node[0].attribute[0].t.dims[0] = 3
    done = normalize(read(model))
    assert "graph.D6" in rules(done)
    assert "Constant" in {node.operator for node in done.graph.nodes}


def test_a_reference_outside_of_a_function_is_no_value() -> None:
    model = proto("g (float[1,1,3,3] x, float[1,1,1,1] w) => (y) { y = Conv<strides = [1, 1]>(x, w) }")
    attribute = model.graph.node[0].attribute[0]
    attribute.Clear()
    attribute.name, attribute.ref_attr_name, attribute.type = "strides", "steps", 7
    done = normalize(read(model))
    assert "conv.strides.C1" in rules(done)


def test_a_reference_to_an_attribute_that_the_function_does_not_have_is_no_default() -> None:
    function = "F <s> (a, w) => (b) {{ b = Conv<strides: ints = @{}>(a, w) }}"
    text = "g (float[1,1,5,5] x, float[1,1,1,1] w) => (y) { y = own.F<s = [2, 2]>(x, w) }"
    done = normalized(text, function.format("steps"))
    assert done.changes == ()
    assert rules(done) != []
    assert rules(normalized(text, function.format("s"))) == []


def run(model: Graph, **inputs: Any) -> Any:
    return sonnx.Graph.of(model).run(inputs)["y"]


def test_zero_elements_beside_one_are_left_not_filled() -> None:
    # Elsewhere 0 beside 1 broadcasts to 0; the profile has no such shape (D-BCAST-2).
    done = normalized("g (bool[1] c, float[0] x, float[0] z) => (float[0] y) { y = Where(c, x, z) }")
    assert (done.changes, rules(done)) == ((), ["where.R2"])


def test_a_graph_of_constants_alone_has_no_nodes_left_and_runs() -> None:
    done = normalized("g () => (y) { y = Constant<value_floats = [1.0, -0.0]>() }")
    assert rules(done) == []
    assert done.graph.nodes == ()
    assert sonnx.same_bits(run(done.graph), float32([1, -0.0]))


def test_a_result_that_is_written_to_does_not_change_the_model() -> None:
    done = normalized("g () => (y) { y = Constant<value_floats = [1.0, 2.0]>() }")
    run(done.graph)[...] = 9
    assert run(done.graph).tolist() == [1, 2]


def test_the_file_that_was_read_is_as_before(tmp_path: Any) -> None:
    path = tmp_path / "net.onnx"
    content = proto("g (float[n] x) => (y) { y = Clip(x) }").SerializeToString()
    path.write_bytes(content)
    model = load(path)
    done = model.normalize({"n": 2})
    done.save(tmp_path / "out.onnx")
    assert done.check() == ()
    assert path.read_bytes() == content
    assert model.check() != ()
    assert load(tmp_path / "out.onnx").check() == ()


def test_elements_are_not_changed_under_way() -> None:
    given = graph("g (float[2] x) => (float[2] y) <float l = {0.0}> { y = Clip(x, l) }")
    payload = np.array(0x7FA00001, np.uint32).view(np.float32)  # a signalling NaN
    constant = replace(given.constants[0], data=payload)
    done = normalize(replace(given, constants=(constant,)))
    assert done.graph.data["l"].view(np.uint32) == 0x7FA00001
