"""Attributes that hold something else than a number, or refer to one: what the check says of them."""

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import AttributeProto, helper
from tests.check.support import broken

from sonnx.api import load
from sonnx.normalize.structure import inline_functions
from sonnx.vocabulary.rule import Finding

pytestmark = pytest.mark.measured

FLOAT = onnx.TensorProto.FLOAT


def model(node: onnx.NodeProto, opset: int, *functions: onnx.FunctionProto) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [value("x", FLOAT, [3])], [value("y", FLOAT, [3])])
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid("own", 1)] if functions else [])]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def findings(made: onnx.ModelProto, folder: Path) -> tuple[Finding, ...]:
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    return load(path).check()


def sigmoid(alpha: Any) -> onnx.NodeProto:
    return helper.make_node("HardSigmoid", ["x"], ["y"], alpha=alpha, beta=0.5)


def test_an_integer_in_the_place_of_a_float_is_told_apart(tmp_path: Path) -> None:
    (found,) = findings(model(sigmoid(1), 22), tmp_path)
    assert found.rule == "hard_sigmoid.alpha.D1"
    assert found.values[0].note == "an integer, which files keep apart from floats"
    assert found.help == "write the float nearest to it, 1.0"


def test_a_tensor_as_an_attribute_is_shown_by_its_type(tmp_path: Path) -> None:
    (found,) = findings(model(sigmoid(helper.make_tensor("q", FLOAT, [], [0.25])), 22), tmp_path)
    assert found.rule == "hard_sigmoid.alpha.D1"
    assert found.values[0].value == "a tensor, float[]"


def referring(kind: int) -> onnx.FunctionProto:
    node = sigmoid(0.25)
    (alpha,) = (each for each in node.attribute if each.name == "alpha")
    alpha.Clear()
    alpha.name, alpha.type, alpha.ref_attr_name = "alpha", kind, "slope"
    opsets = [helper.make_opsetid("", 22)]
    return helper.make_function("own", "F", ["x"], ["y"], [node], opsets, attributes=["slope"])


def calling(kind: int) -> onnx.ModelProto:
    return model(helper.make_node("F", ["x"], ["y"], domain="own", slope=0.25), 22, referring(kind))


def test_a_reference_has_the_kind_of_the_attribute(tmp_path: Path) -> None:
    assert findings(calling(AttributeProto.FLOAT), tmp_path) == ()
    (found,) = findings(calling(AttributeProto.INT), tmp_path)
    assert found.rule == "graph.D13"
    assert (found.values[0].value, found.values[0].note) == ("a reference of kind int", "needs float")
    assert found.help == "write the kind float at the reference"


def test_a_reference_outside_of_functions_is_shown_as_one(tmp_path: Path) -> None:
    node = referring(AttributeProto.FLOAT).node[0]
    found = {each.rule: each for each in findings(model(node, 22), tmp_path)}
    assert set(found) == {"graph.D13", "hard_sigmoid.alpha.D1"}
    assert found["hard_sigmoid.alpha.D1"].values[0].value == "a reference to another attribute"


@pytest.mark.parametrize(("body", "wanted"), [(13, 13), (14, 14), (22, 22)])
def test_normalizing_imports_what_the_functions_need(body: int, wanted: int, tmp_path: Path) -> None:
    nodes = [helper.make_node("HardSwish" if body > 13 else "Relu", ["x"], ["y"])]
    functions = [
        helper.make_function("own", "F", ["x"], ["y"], nodes, [helper.make_opsetid("", body)]),
        helper.make_function("own", "Idle", ["x"], ["y"], nodes, [helper.make_opsetid("", 24)]),
    ]
    made = model(helper.make_node("F", ["x"], ["y"], domain="own"), 13, *functions)
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    normalized = load(path).normalize()
    assert dict(normalized.opsets)[""] == wanted
    assert broken(normalized) == set()
    changes = inline_functions(load(path))[1]
    told = [change.what for change in changes if "operator set" in change.what]
    assert told == ([f"imported operator set {wanted} in place of 13"] if wanted > 13 else [])
    # What is written down is read again as it was.
    normalized.save(tmp_path / "n.onnx")
    assert broken(load(tmp_path / "n.onnx")) == set()
