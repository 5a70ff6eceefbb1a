"""What a model leaves open is a finding, and the other rules are asked as far as they can be."""

from typing import Any

import numpy as np
import pytest
from tests.check.support import CLIP, HI, LO, OUT, broken, shown

from sonnx.check import inference
from sonnx.check.inference import amended, inferred_types
from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Graph, Node
from sonnx.model.tensor_type import tensor_type
from sonnx.operators.graph.examples import OPSETS, graph, node, values
from sonnx.operators.onnx.clip import OPERATOR as LIMIT
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Operator

IMAGE = {"X": "float[1,2,5,5]", "W": "float[3,2,3,3]"}
EXPLICIT: dict[str, Any] = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (3, 3),
    "auto_pad": "NOTSET",
}


def constant(kind: str, **more: Any) -> Graph:
    """A Clip whose lower bound comes from a Constant node."""
    held = Constant("", tensor_type(kind), np.zeros(tensor_type(kind).sizes or (), np.float32))
    made = node("Constant", "", "lo", attributes={"value": held} | more)
    return graph([made, CLIP], constants=(HI,))


def test_rules_are_asked_as_if_defaults_were_written() -> None:
    bare = node("Conv", "X W", "Y")
    wrong = {"X": "float[1,3,5,5]", "W": "float[3,2,3,3]"}
    assert broken(graph([bare], values(Y="float[1,3,3,3]"), inputs=values(**IMAGE))) == {"general.R1"}
    assert broken(graph([bare], values(Y="float[1,3,3,3]"), inputs=values(**wrong))) == {
        "general.R1",
        "conv.X.C2",
    }
    assert broken(graph([bare], values(Y="float[1,3,5,5]"), inputs=values(**IMAGE))) == {
        "general.R1",
        "conv.Y.C1",
    }


def test_rules_are_asked_as_if_bounds_were_written_and_operands_expanded() -> None:
    assert broken(graph([node("Clip", "x", "y")], values(y="float[9]"))) == {
        "clip.min.D1",
        "clip.max.D1",
        "clip.output.C1",
    }
    inputs = values(c="bool[1,3]", x="float[2,1]", z="float[2,3]")
    where = [node("Where", "c x z", "y")]
    assert broken(graph(where, values(y="float[2,3]"), inputs=inputs)) == {"where.R4"}
    assert broken(graph(where, values(y="float[2,1]"), inputs=inputs)) == {"where.R4", "where.output.C1"}


def test_no_rule_is_named_twice_at_one_node() -> None:
    bare = graph(
        [node("Conv", "X W", "Y", attributes={"group": 0})], values(Y="float[9]"), inputs=values(**IMAGE)
    )
    found = [finding.rule for finding in check_graph(bare)]
    assert found.count("conv.group.C1") == 1
    assert len(found) == len(set(found))


def test_types_that_follow_let_later_rules_speak() -> None:
    chain = [node("Clip", "X lo hi", "t"), node("Conv", "t W", "Y", attributes={**EXPLICIT, "group": 7})]
    checked = graph(chain, values(Y="float[1,3,3,3]"), inputs=values(**IMAGE))
    assert broken(checked) == {"general.R2", "conv.group.C1"}
    assert shown(checked, "general.R2") == [(("t", "?", ""),)]


def test_a_batch_left_open_leaves_the_other_sizes_to_be_judged() -> None:
    given = {"X": "float[batch,3,5,5]", "W": "float[3,2,3,3]"}
    checked = graph(
        [node("Conv", "X W", "Y", attributes=EXPLICIT)],
        values(Y="float[batch,3,3,3]"),
        inputs=values(**given),
    )
    assert broken(checked) == {"general.R2", "conv.X.C2"}


def test_the_type_of_a_constant_node_is_that_of_its_value() -> None:
    assert broken(constant("float[]")) == {"graph.D6", "general.R2"}
    assert broken(constant("float[1]")) == {"graph.D6", "general.R2", "clip.min.D2"}
    assert inferred_types(constant("float[1]"))["lo"] == tensor_type("float[1]")
    for odd in ({"value": 1.0}, {"value": None}):
        assert "lo" not in inferred_types(constant("float[1]", **odd))
    value = constant("float[1]").nodes[0].attributes
    for outputs in ("", "t u"):
        assert "t" not in inferred_types(graph([node("Constant", "", outputs, attributes=value)]))


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([node("Clip", "x lo hi", "t")], "float[2,3]"),
        ([node("Clip", "x", "t")], "float[2,3]"),
        ([node("Clip", "nowhere lo hi", "t")], "?"),
        ([node("Clip", "", "t")], None),
        ([node("Unheard", "x", "t")], None),
        ([node("Clip", "x lo hi", "t", domain="other")], None),
        ([node("Clip", "s lo hi", "t"), node("Clip", "x lo hi", "s")], "float[2,3]"),
        ([node("Clip", "t lo hi", "t")], None),
        ([node("Conv", "X W", "t")], "float[1,3,3,3]"),
        ([node("Where", "c x x", "t")], "float[2,3]"),
        ([Node("Clip", ("x", "lo", "hi"), ("", "t"))], None),
    ],
)
def test_types_follow_where_the_operands_are_known(nodes: list[Node], expected: str | None) -> None:
    inputs = values(x="float[2,3]", c="bool[1,3]", **IMAGE)
    found = inferred_types(graph(nodes, OUT, inputs=inputs))
    assert found.get("t") == (None if expected is None else tensor_type(expected))


def test_what_a_node_with_types_gives_is_not_inferred_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(operator: Operator, call: Call) -> Call:
        asked.append(operator.name)
        return amended(operator, call)

    monkeypatch.setattr(inference, "amended", noted)
    nodes = [node("Clip", "x lo hi", "t"), node("Conv", "X W", "u")]
    inputs = values(x="float[2,3]", **IMAGE)
    written = graph(nodes, OUT, inputs=inputs, values=values(t="float[2,3]"))
    assert inferred_types(written)["u"] == tensor_type("float[1,3,3,3]")
    assert asked == ["Conv"]
    # An output that is left out has no type to be inferred.
    asked.clear()
    left_out = Node("Clip", ("x", "lo", "hi"), ("t", ""))
    inferred_types(graph([left_out], OUT, inputs=inputs, values=values(t="float[2,3]")))
    assert asked == []


def test_a_type_that_is_written_stays_as_it_is_written() -> None:
    written = graph([node("Clip", "x lo hi", "t u"), CLIP], OUT, values=values(t="double[9]"))
    assert inferred_types(written)["t"] == tensor_type("double[9]")
    assert inferred_types(written)["y"] == tensor_type("float[2,3]")
    assert "u" not in inferred_types(written)


def test_a_call_that_leaves_nothing_out_is_not_changed() -> None:
    whole = call("Clip", {"input": "float[2]", "min": "float[]", "max": "float[]"})
    assert amended(LIMIT, whole) is whole
    assert amended(EXPAND, call("Expand", {"input": "float[2]"})).inputs == {"input": tensor_type("float[2]")}


def test_what_a_call_leaves_out_is_written_and_its_operands_are_expanded() -> None:
    filled = amended(LIMIT, call("Clip", {"input": "double[2]", "max": "double[]"}))
    assert filled.inputs["min"] == tensor_type("double[]")
    written = amended(CONV, call("Conv", IMAGE, {"strides": (2, 2)}))
    assert written.attributes == {**EXPLICIT, "strides": (2, 2)}
    given = {"condition": "bool[3]", "X": "float[2,1] as A,B", "Y": "float[2,3]"}
    expanded = amended(WHERE, call("Where", given))
    assert {name: kind.shape for name, kind in expanded.inputs.items()} == dict.fromkeys(given, (2, 3))


def test_advice_on_a_type_that_nobody_can_infer_says_so() -> None:
    def advice(made: Node) -> list[str]:
        taking = node("Clip", "t lo hi", "y")
        found = check_graph(graph([made, taking], constants=(LO, HI), opsets=(*OPSETS, ("other", 1))))
        return [finding.help for finding in found if finding.rule == "general.R2"]

    foreign = "write the type; of what an operator outside the profile makes nobody can infer it"
    assert advice(node("Unheard", "x", "t")) == [foreign]
    assert advice(node("Constant", "", "t", domain="other")) == [foreign]
    assert advice(node("Constant", "", "t")) == [foreign]
    held = Constant("", tensor_type("float[2,3]"), np.zeros((2, 3), np.float32))
    constant = node("Constant", "", "t", attributes={"value": held})
    assert advice(constant) == ["write the type; `sonnx normalize` infers it"]
    assert advice(node("Clip", "x lo hi", "t")) == ["write the type; `sonnx normalize` infers it"]
