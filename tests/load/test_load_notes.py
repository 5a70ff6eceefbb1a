"""What a model says to people comes through: where it comes from, and what its parts are for."""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

from sonnx.api import load


def documented() -> onnx.ModelProto:
    """A conforming model in which everything that can be documented is, and one initializer is left over."""
    node = helper.make_node("Clip", ["x", "lo", "hi"], ["y"], name="limit", doc_string="why it limits")
    node.metadata_props.add(key="requirement", value="REQ-7")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2], doc_string=name) for name in "xy")
    x.type.denotation = "IMAGE"
    y.metadata_props.add(key="unit", value="m")
    constants = [
        helper.make_tensor(name, TensorProto.FLOAT, [], [bound])
        for name, bound in (("lo", 0.0), ("hi", 6.0), ("left over", 1.0))
    ]
    constants[0].doc_string = "the lower end"
    graph = helper.make_graph([node], "g", [x], [y], constants, doc_string="of the graph")
    graph.metadata_props.add(key="k", value="graph")
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=10,
        producer_name="exporter",
        producer_version="1.2",
        domain="org.example",
        model_version=7,
        doc_string="of the model",
    )
    model.metadata_props.add(key="k", value="model")
    return model


def test_saving_keeps_where_a_model_comes_from_and_what_its_parts_say(tmp_path: Path) -> None:
    before = documented()
    onnx.save(before, tmp_path / "in.onnx")
    load(tmp_path / "in.onnx").save(tmp_path / "out.onnx")
    after = onnx.load(tmp_path / "out.onnx")
    for tensor in (*before.graph.initializer, *after.graph.initializer):
        # The same elements, as raw bytes or as a list.
        value = onnx.numpy_helper.to_array(tensor).tobytes()
        tensor.ClearField("float_data")
        tensor.raw_data = value
    assert after == before


def test_normalizing_changes_nothing_that_it_does_not_say(tmp_path: Path) -> None:
    onnx.save(documented(), tmp_path / "in.onnx")
    done = load(tmp_path / "in.onnx").normalize()
    assert [change.what for change in done.changes] == ["removed the initializers `left over`"]
    done.save(tmp_path / "out.onnx")
    after = onnx.load(tmp_path / "out.onnx")
    assert (after.producer_name, after.producer_version, after.domain) == ("exporter", "1.2", "org.example")
    assert (after.model_version, after.doc_string) == (7, "of the model")
    assert after.graph.node[0].metadata_props[0].value == "REQ-7"
    assert after.graph.input[0].type.denotation == "IMAGE"
