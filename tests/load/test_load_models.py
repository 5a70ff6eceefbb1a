"""What a file says, in the graph: names, attributes, types, functions, operator sets."""

from pathlib import Path
from typing import Any

import pytest
from onnx import IR_VERSION, AttributeProto, NodeProto, TensorProto, TypeProto, defs, helper, numpy_helper
from tests.load.support import NEWEST, OPSETS, clip, found, model, part, read, read_file, scalar, value
from tests.loops import for_each
from tests.operators.support import bits

from sonnx.load.reader import from_proto, load
from sonnx.model.graph import Constant, Opaque, Reference
from sonnx.model.tensor_type import TensorType, tensor_type


def test_a_model_that_conforms_has_no_findings() -> None:
    assert found(read(model())) == []


@for_each("opset", OPSETS)
def test_operators_have_the_version_that_their_operator_set_gives_them(opset: int) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node("Where", ["c", "a", "a"], ["b"]),
        helper.make_node("Expand", ["b", "s"], ["d"]),
        clip("d lo hi"),
    ]
    versions = {node.operator: node.version for node in read(model(nodes, opset=opset)).nodes}
    # From ONNX's changelog: Conv 11 and 22, Where 9 and 16, Expand 13, Clip 13.
    assert versions == {
        "Conv": 22 if opset >= 22 else 11,
        "Where": 16 if opset >= 16 else 9,
        "Expand": 13,
        "Clip": 13,
    }


@for_each("opset", OPSETS)
def test_models_of_every_operator_set_from_13_on_conform(opset: int) -> None:
    graph = read(model(opset=opset))
    assert graph.opsets == (("", opset),)
    assert found(graph) == []


@pytest.mark.parametrize("opset", [NEWEST + 1, 2**31, 2**62, 0, -1])
def test_of_an_unknown_operator_set_no_version_is_guessed(opset: int) -> None:
    graph = read(model(opset=opset))
    assert graph.nodes[0].version is None
    assert "graph.D9" in found(graph)


def test_onnx_itself_would_guess() -> None:
    assert defs.get_schema("Clip", NEWEST + 1, "").since_version == 13


@pytest.mark.parametrize(
    ("domain", "version"),
    [("ai.onnx.ml", 2**40), ("ai.onnx.ml", 99), ("ai.onnx.ml", -1), ("own", 1), ("\x1b", 1)],
)
def test_operators_of_other_sets_are_unknown(domain: str, version: int) -> None:
    node = helper.make_node("Scaler", ["x"], ["y"], domain=domain)
    imports = [helper.make_opsetid("", 22), helper.make_opsetid(domain, version)]
    graph = read(model([node], opset_imports=imports))
    assert graph.nodes[0].version is None
    assert "graph.D6" in found(graph)


def test_each_operator_has_the_version_of_its_own_domain() -> None:
    nodes = [clip(), helper.make_node("Conv", ["x", "w"], ["a"]), helper.make_node("Scaler", ["a"], ["b"])]
    nodes[2].domain = "ai.onnx.ml"
    imports = [
        helper.make_opsetid("ai.onnx.ml", 3),
        helper.make_opsetid("", 13),
        helper.make_opsetid("own", 22),
    ]
    versions = [node.version for node in read(model(nodes, opset_imports=imports)).nodes]
    assert versions == [13, 11, 1]


def test_both_spellings_of_onnx_own_domain_are_one() -> None:
    graph = read(model([clip(domain="ai.onnx")], opset_imports=[helper.make_opsetid("ai.onnx", 22)]))
    assert graph.opsets == (("", 22),)
    assert graph.nodes[0].domain == ""
    assert found(graph) == []


def test_an_operator_set_that_is_not_imported_is_a_finding() -> None:
    graph = read(model(opset_imports=[]))
    assert graph.nodes[0].version is None
    assert "graph.D9" in found(graph)


def test_an_operator_set_that_is_imported_twice_is_a_finding() -> None:
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx", 22)]
    assert "graph.D9" in found(read(model(opset_imports=imports)))


def test_a_newer_format_than_onnx_knows_is_a_finding() -> None:
    assert found(read(model(ir_version=IR_VERSION))) == []
    assert found(read(model(ir_version=IR_VERSION + 1))) == ["graph.D20"]


def test_the_file_is_named_as_the_user_named_it(tmp_path: Path) -> None:
    read_file(model(), tmp_path)
    assert load(str(tmp_path / "net.onnx")).source == str(tmp_path / "net.onnx")


# Names.

BAD_NAMES = ["\x1b[2J", "a\nb", "\0", "\x7f", "\x9b31m", "\u202e", "\u200b"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_with_control_characters_are_findings(name: str) -> None:
    for made in (
        model([clip(f"x lo hi {name}")]),
        model([clip(name=name)]),
        model([clip(outputs="y")], inputs=[value("x"), value(name)]),
        model(initializers=[scalar(name, 1.0)]),
        model([NodeProto(op_type=name, output=["y"])]),
        model([NodeProto(op_type="Clip", domain=name, output=["y"])]),
    ):
        assert found(read(made)) != []


def test_names_that_are_no_utf_8_are_findings() -> None:
    good = model([clip(name="NAME")], inputs=[value("x"), value("EXTRA")]).SerializeToString()
    for old in (b"NAME", b"EXTRA"):
        content = good.replace(old, b"\xff" + old[1:])
        assert content != good
        from sonnx.load.reader import from_bytes

        graph = from_bytes(content, "net.onnx", Path("/nowhere"))
        assert "graph.D18" in found(graph)


def test_bytes_that_are_no_utf_8_give_different_names() -> None:
    from sonnx.load.reader import from_bytes

    content = (
        model([clip("x AB AC")]).SerializeToString().replace(b"AB", b"\xff\xfe").replace(b"AC", b"\xff\xfd")
    )
    names = from_bytes(content, "net.onnx", Path("/nowhere")).nodes[0].inputs
    assert names[1] != names[2]


# Attributes.


def node(*attributes: AttributeProto) -> NodeProto:
    made = clip()
    made.attribute.extend(attributes)
    return made


def attribute(made: AttributeProto) -> Any:
    return read(model([node(made)])).nodes[0].attributes[made.name]


@pytest.mark.parametrize(
    "given", [3, -(2**63), 2**63 - 1, 0.5, float("inf"), "NOTSET", "", "ä", (1, 2), (0.5, -0.0), ("a", "")]
)
def test_attributes_are_read_as_they_are(given: Any) -> None:
    held = attribute(helper.make_attribute("a", given))
    assert type(held) is type(given)
    assert repr(held) == repr(given)


@pytest.mark.parametrize("kind", ["INTS", "FLOATS", "STRINGS"])
def test_an_empty_list_is_an_empty_tuple(kind: str) -> None:
    assert attribute(AttributeProto(name="a", type=getattr(AttributeProto, kind))) == ()


def test_a_tensor_is_a_constant() -> None:
    held = attribute(helper.make_attribute("a", scalar("inner", 2.5)))
    assert isinstance(held, Constant)
    assert held.data.tolist() == 2.5


@pytest.mark.parametrize(
    "kind",
    [
        "GRAPH",
        "GRAPHS",
        "TENSORS",
        "SPARSE_TENSOR",
        "SPARSE_TENSORS",
        "TYPE_PROTO",
        "TYPE_PROTOS",
        "UNDEFINED",
    ],
)
def test_an_attribute_of_another_kind_is_named_by_its_kind(kind: str) -> None:
    graph = read(model([node(AttributeProto(name="a", type=getattr(AttributeProto, kind)))]))
    assert graph.nodes[0].attributes["a"] == Opaque(kind.lower())
    assert found(graph) != []


def test_a_value_without_a_kind_is_not_guessed() -> None:
    assert attribute(AttributeProto(name="a", i=3)) == Opaque("undefined")


def test_an_attribute_of_a_kind_that_onnx_lacks_is_undefined() -> None:
    made = NodeProto()
    made.MergeFromString(part(5, part(1, b"a") + b"\xa0\x01\x63"))
    assert read(model([made])).nodes[0].attributes["a"] == Opaque("undefined")


def test_an_attribute_that_stands_twice_is_a_finding() -> None:
    made = [helper.make_attribute("a", 1), helper.make_attribute("b", 1), helper.make_attribute("a", 2)]
    graph = read(model([node(*made)]))
    assert graph.nodes[0].repeated == ("a",)
    assert "graph.D19" in found(graph)


def test_a_subgraph_is_a_finding() -> None:
    inner = helper.make_graph([clip()], "inner", [], [value("y")])
    made = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)
    assert "graph.D8" in found(read(model([made])))


def test_bytes_in_a_text_attribute_are_kept_apart() -> None:
    one, other = (attribute(helper.make_attribute("a", raw)) for raw in (b"\xff", b"\xfe"))
    assert one != other
    assert not one.isprintable()


# Types.


def typed(made: TypeProto) -> TensorType:
    graph = read(model(inputs=[value("x"), helper.make_value_info("z", made)]))
    found(graph)
    return graph.inputs[1].type


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ([1, 3], "float[1,3]"),
        ([], "float[]"),
        (["batch", None, 0], "float[batch,?,0]"),
        ([-2, 2**62], f"float[-2,{2**62}]"),
        ([-1, "?"], "float[?,?]"),  # what some exporters write for a size that is open and has no name
        (None, "float"),
    ],
)
def test_shapes_are_read_as_written(shape: Any, text: str) -> None:
    assert str(typed(helper.make_tensor_type_proto(TensorProto.FLOAT, shape))) == text


def test_minus_one_and_a_question_mark_name_no_size() -> None:
    found = typed(helper.make_tensor_type_proto(TensorProto.FLOAT, [-1, "?", "?"]))
    assert found.shape == (None, None, None)


def test_the_denotation_of_axes_is_read() -> None:
    made = helper.make_tensor_value_info("z", 1, [1, 2], shape_denotation=["DATA_BATCH", "DATA_CHANNEL"])
    assert typed(made.type) == tensor_type("float[1,2] as DATA_BATCH,DATA_CHANNEL")


def test_one_axis_denoted_is_enough() -> None:
    made = helper.make_tensor_value_info("z", 1, [1, 2])
    made.type.tensor_type.shape.dim[1].denotation = "DATA_CHANNEL"
    assert typed(made.type).denotation == ("", "DATA_CHANNEL")


def test_types_that_are_no_tensors_are_foreign_and_findings() -> None:
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    opaque = TypeProto()
    opaque.opaque_type.SetInParent()
    for name, made in {
        "sequence": helper.make_sequence_type_proto(inner),
        "optional": helper.make_optional_type_proto(inner),
        "map": helper.make_map_type_proto(TensorProto.INT64, inner),
        "opaque": opaque,
    }.items():
        assert typed(made).foreign == name
        graph = read(model(inputs=[value("x"), helper.make_value_info("z", made)]))
        assert "general.R2" in found(graph)


def test_a_sparse_type_is_a_finding() -> None:
    made = helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3])
    assert typed(made) == tensor_type("sparse float[3]")
    graph = read(model(inputs=[value("x"), helper.make_value_info("z", made)]))
    assert "general.R4" in found(graph)


def test_a_sparse_initializer_is_a_finding() -> None:
    values = numpy_helper.from_array(numpy_helper.to_array(scalar("s", 1.0)).reshape(1), "s")
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [2])
    made = model()
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [5]))
    graph = read(made)
    assert graph.constants[-1].name == "s"
    assert graph.constants[-1].type == tensor_type("sparse float[5]")
    assert "general.R4" in found(graph)


def test_no_type_is_no_type() -> None:
    assert typed(TypeProto()) == TensorType(None, None)
    made = TypeProto()
    made.tensor_type.SetInParent()
    assert typed(made) == TensorType(None, None)


def test_of_a_shape_without_end_the_beginning_is_kept() -> None:
    made = helper.make_tensor_type_proto(TensorProto.FLOAT, [1] * 5000)
    assert typed(made).shape == (1,) * 65
    assert "graph.D16" in found(read(model(inputs=[value("x"), helper.make_value_info("z", made)])))


# Functions and the rest of the file.


def with_function() -> Any:
    body = helper.make_node("Conv", ["a", "w"], ["b"])
    body.attribute.append(AttributeProto(name="strides", ref_attr_name="steps", type=AttributeProto.INTS))
    function = helper.make_function(
        "own", "F", ["a", "w"], ["b"], [body], [helper.make_opsetid("", 13)], ["steps"]
    )
    function.attribute_proto.append(helper.make_attribute("pads", [0, 0]))
    function.overload = "second"
    function.value_info.append(value("b"))
    call = helper.make_node("F", ["x", "lo"], ["y"], domain="own", overload="second", steps=[1, 1])
    imports = [helper.make_opsetid("", 22), helper.make_opsetid("own", 1)]
    return model([call], opset_imports=imports, functions=[function], ir_version=10)


def test_a_function_is_read_whole() -> None:
    (function,) = read(with_function()).functions
    assert function.key == ("own", "F", "second")
    assert (function.inputs, function.outputs) == (("a", "w"), ("b",))
    assert function.attributes == ("steps",)
    assert function.defaults == {"pads": (0, 0)}
    assert function.opsets == (("", 13),)
    assert function.values[0].type == tensor_type("float[2,3]")
    assert function.nodes[0].attributes["strides"] == Reference("steps", "ints")


def test_operators_in_a_function_have_the_version_of_its_own_operator_set() -> None:
    (function,) = read(with_function()).functions
    assert function.nodes[0].version == 11  # the model itself imports 22, where Conv is 22


def test_a_call_names_its_overload() -> None:
    graph = read(with_function())
    assert graph.nodes[0].function == graph.functions[0].key


@pytest.mark.parametrize("part_name", ["training_info", "configuration"])
def test_parts_that_change_the_model_are_findings(part_name: str) -> None:
    made = model()
    getattr(made, part_name).add()
    assert read(made).extras == (part_name,)
    assert "graph.D20" in found(read(made))


def test_annotations_for_quantization_are_findings() -> None:
    made = model()
    made.graph.quantization_annotation.add()
    assert "graph.D20" in found(read(made))


def test_devices_of_nodes_are_findings() -> None:
    made = model()
    made.graph.node[0].device_configurations.add()
    assert "graph.D20" in found(read(made))


def test_metadata_and_documentation_are_kept() -> None:
    made = model()
    made.metadata_props.add(key="author", value="somebody")
    made.graph.doc_string = "a net"
    graph = read(made)
    assert graph.metadata == (("author", "somebody"),)
    assert graph.documentation == "a net"


def test_a_parsed_model_is_read_like_its_bytes() -> None:
    made = model()
    one, other = read(made), from_proto(made, "net.onnx", Path("/nowhere"))
    assert one.nodes == other.nodes
    assert [bits(c.data) for c in one.constants] == [bits(c.data) for c in other.constants]
