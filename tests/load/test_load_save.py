"""Graphs written to files: nothing lost, nothing half-written, the same bytes every time."""

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import AttributeProto, TensorProto, TypeProto, checker, helper, numpy_helper
from tests.budgets import examples
from tests.load.support import OPSETS, clip, form, found, model, part, read, scalar, value
from tests.load.test_load_data import PLAIN, RAW, little_endian, tensor
from tests.load.test_load_models import with_function
from tests.loops import for_each
from tests.operators.support import EVERY_TYPE, arrays, big_endian

from sonnx.load.reader import from_bytes, load
from sonnx.load.whole_file import whole_file
from sonnx.load.writer import save, to_bytes, to_proto
from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Reference, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators import GRAPH_RULES

NOWHERE = Path("/nowhere")
GOOD = read(model())


def again(graph: Graph) -> Graph:
    return from_bytes(to_bytes(graph), "again.onnx", NOWHERE)


def with_attributes(**attributes: Any) -> Graph:
    return replace(GOOD, nodes=(replace(GOOD.nodes[0], attributes=attributes),))


def rich() -> Any:
    """A model with something of everything that a graph keeps."""
    made = with_function()
    made.graph.initializer.extend(tensor(name, part(RAW, little_endian(name))) for name in PLAIN)
    for index, initializer in enumerate(made.graph.initializer[2:]):
        initializer.name = f"c{index}"
    made.graph.initializer.append(
        TensorProto(name="s", data_type=TensorProto.STRING, dims=[2], string_data=[b"\xc3\xa4\0", b""])
    )
    made.graph.initializer.append(helper.make_tensor("none", TensorProto.INT64, [0, 3], []))
    made.graph.node.append(helper.make_node("Constant", [], ["k"], value=scalar("", 2.5), name="constant"))
    made.graph.node.append(
        helper.make_node(
            "Odd", ["", "x"], ["", "o"], domain="own", i=3, f=0.5, s="ä", fs=[0.5, -0.0], ss=["", "b"]
        )
    )
    made.graph.value_info.append(value("t", ("batch", None, 7)))
    made.graph.value_info.append(
        helper.make_tensor_value_info("d", TensorProto.FLOAT16, [1, 2], shape_denotation=["DATA_BATCH", ""])
    )
    made.graph.value_info.append(helper.make_value_info("untyped", TypeProto()))
    made.graph.value_info.append(value("eight", (1,), TensorProto.FLOAT8E5M2))
    made.graph.value_info.append(value("odd", (1,), 99))
    made.graph.value_info.append(
        helper.make_value_info("sparse", helper.make_sparse_tensor_type_proto(TensorProto.INT8, [4]))
    )
    made.graph.value_info.append(value("no_shape", None))
    made.metadata_props.add(key="author", value="somebody")
    made.graph.doc_string = "a net\nof two lines"
    return made


def test_what_is_loaded_saved_and_loaded_again_is_the_same() -> None:
    graph = read(rich())
    assert form(again(graph)) == form(graph)
    assert len(graph.constants) == 2 + len(PLAIN) + 2


def test_the_same_graph_gives_the_same_bytes() -> None:
    graph = read(rich())
    assert to_bytes(graph) == to_bytes(read(rich())) == to_bytes(again(graph))


@for_each("opset", OPSETS)
def test_every_operator_set_comes_back(opset: int) -> None:
    graph = read(model(opset=opset))
    assert form(again(graph)) == form(graph)


def test_onnx_finds_nothing_wrong_with_what_is_written(tmp_path: Path) -> None:
    save(GOOD, tmp_path / "net.onnx")
    checker.check_model(tmp_path / "net.onnx", full_check=True)


def test_onnx_reads_the_bits_that_were_written() -> None:
    graph = read(rich())
    for constant, proto in zip(graph.constants, to_proto(graph).graph.initializer, strict=True):
        witness = numpy_helper.to_array(proto)
        assert proto.name == constant.name
        if constant.type.dtype == "string":
            # NumPy's own strings lose a NUL at their end.
            assert [text.decode() for text in proto.string_data] == constant.data.tolist()
        else:
            assert witness.tobytes() == constant.data.tobytes()


@given(st.sampled_from([name for name in EVERY_TYPE if name != "real"]), st.data())
@settings(max_examples=examples(60))
def test_any_array_comes_back_bit_for_bit(name: str, data: st.DataObject) -> None:
    array = data.draw(arrays(name, (2, 0, 1) if data.draw(st.booleans()) else (2, 3)))
    kind = tensor_type(f"{name}[{','.join(map(str, array.shape))}]")
    graph = replace(GOOD, constants=(*GOOD.constants, Constant("c", kind, array)))
    assert form(again(graph).data["c"]) == form(np.asarray(array))


def test_the_byte_order_of_an_array_does_not_matter() -> None:
    array = big_endian(np.array([1.5, -2.0], np.float32))
    graph = replace(GOOD, constants=(*GOOD.constants, Constant("c", tensor_type("float[2]"), array)))
    assert again(graph).data["c"].tolist() == [1.5, -2.0]


def test_an_attribute_that_stood_twice_stands_twice() -> None:
    made = clip()
    made.attribute.extend([helper.make_attribute("a", 1), helper.make_attribute("a", 2)])
    graph = read(model([made]))
    assert form(again(graph)) == form(graph)
    assert len(to_proto(graph).graph.node[0].attribute) == 2


def test_a_default_of_a_function_that_stood_twice_stands_twice() -> None:
    made = with_function()
    made.functions[0].attribute_proto.append(helper.make_attribute("pads", [1, 1]))
    graph = read(made)
    assert graph.functions[0].repeated == ("pads",)
    assert form(again(graph)) == form(graph)


def test_what_has_no_type_is_written_without_one() -> None:
    graph = replace(GOOD, values=(Value("t", TensorType(None, None)),))
    assert not to_proto(graph).graph.value_info[0].HasField("type")


# What cannot be saved.

BAD_TEXT = "a\udc80"


@pytest.mark.parametrize(
    "graph",
    [
        replace(GOOD, name=BAD_TEXT),
        replace(GOOD, documentation=BAD_TEXT),
        replace(GOOD, metadata=((BAD_TEXT, ""),)),
        replace(GOOD, opsets=((BAD_TEXT, 1),)),
        replace(GOOD, inputs=(Value(BAD_TEXT, tensor_type("float[1]")),)),
        replace(GOOD, inputs=(Value("x", TensorType(None, (BAD_TEXT,))),)),
        replace(GOOD, constants=(Constant(BAD_TEXT, tensor_type("float[]"), np.array(1, np.float32)),)),
        replace(GOOD, constants=(Constant("s", tensor_type("string[]"), np.array(BAD_TEXT, object)),)),
        replace(GOOD, nodes=(Node(BAD_TEXT, (), ()),)),
        replace(GOOD, nodes=(Node("F", (BAD_TEXT,), ()),)),
        replace(GOOD, functions=(Function("F", BAD_TEXT, (), (), ()),)),
        with_attributes(**{BAD_TEXT: 1}),
        with_attributes(a=BAD_TEXT),
        with_attributes(a=("b", BAD_TEXT)),
        with_attributes(a=Reference(BAD_TEXT, "ints")),
    ],
)
def test_text_that_utf_8_cannot_hold_is_an_error_that_shows_it(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be saved") as caught:
        save(graph, tmp_path / "net.onnx")
    assert r"'a\udc80'" in str(caught.value)
    assert str(caught.value).isprintable()
    assert os.listdir(tmp_path) == []


CANNOT = {
    "no data": (
        replace(GOOD, constants=(Constant("c", tensor_type("float[1]"), problem="it is gone"),)),
        "the constant 'c' cannot be saved: it is gone",
    ),
    "reals": (
        replace(GOOD, constants=(Constant("c", tensor_type("real[1]"), np.array([1], object)),)),
        "an ONNX file holds no elements of type real",
    ),
    "another dtype": (
        replace(GOOD, constants=(Constant("c", tensor_type("float[1]"), np.zeros(1)),)),
        "it is float[1], but its array has dtype float64",
    ),
    "objects": (
        replace(GOOD, constants=(Constant("c", tensor_type("string[1]"), np.array([7], object)),)),
        "it is string[1], but its array has dtype object",
    ),
    "a sparse constant": (
        replace(GOOD, constants=(Constant("c", tensor_type("sparse float[3]")),)),
        "the elements of the sparse constant 'c' cannot be saved: the graph does not keep it",
    ),
    "a subgraph": (
        with_attributes(body=Opaque("graph")),
        "the attribute 'body' of kind graph cannot be saved",
    ),
    "a kind of nobody": (with_attributes(a=Reference("b", "nonsense")), "attributes of kind 'nonsense'"),
    "a large integer": (with_attributes(a=2**63), "'9223372036854775808'"),
    "an array": (with_attributes(a=np.zeros(2)), "the attribute 'a' cannot be saved"),
    "a mixture": (with_attributes(a=(1, "b")), "the attribute 'a' cannot be saved"),
    "a mapping": (with_attributes(a={"b": 1}), "the attribute 'a' cannot be saved"),
    "nothing": (with_attributes(a=None), "the attribute 'a' cannot be saved"),
    "a sequence": (
        replace(GOOD, inputs=(Value("z", TensorType(None, None, foreign="sequence")),)),
        "the type of the tensor 'z': a type of kind sequence cannot be saved",
    ),
    "a type of nobody": (
        replace(GOOD, inputs=(Value("z", TensorType(None, (1,), foreign="longdouble")),)),
        "the element type 'longdouble' cannot be saved",
    ),
    "reals as a type": (
        replace(GOOD, inputs=(Value("z", tensor_type("real[1]")),)),
        "the element type 'real' cannot be saved",
    ),
    "training": (
        replace(GOOD, extras=("training_info",)),
        "the part 'training_info' of the file cannot be saved",
    ),
    "a version beyond 64 bits": (replace(GOOD, opsets=(("", 2**64),)), ""),
    "a size beyond 64 bits": (
        replace(GOOD, inputs=(Value("z", tensor_type("float[]")),), ir_version=2**70),
        "",
    ),
}


@pytest.mark.parametrize("name", CANNOT)
def test_what_no_file_can_hold_is_an_error_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    graph, words = CANNOT[name]
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        save(graph, tmp_path / "net.onnx")
    assert words in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_more_than_protobuf_holds_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from sonnx.load import writer

    monkeypatch.setattr(writer, "_LARGEST_FILE", 7)
    with pytest.raises(ValueError, match="too large for one file"):
        to_bytes(GOOD)


@pytest.mark.parametrize("kind", ["graph", "graphs", "tensors", "sparse_tensor", "type_proto", "undefined"])
def test_with_stubs_what_was_not_kept_is_written_empty(kind: str) -> None:
    graph = with_attributes(a=Opaque(kind))
    assert form(from_bytes(to_bytes(graph, stubs=True), "", NOWHERE)) == form(graph)


STUBS = [
    replace(GOOD, constants=(*GOOD.constants, Constant("c", tensor_type("sparse float[3]")))),
    replace(GOOD, constants=(*GOOD.constants, Constant("c", TensorType(None, (3,), foreign="int4")))),
    replace(GOOD, constants=(*GOOD.constants, Constant("c", TensorType(None, (-3,))))),
    replace(GOOD, inputs=(*GOOD.inputs, Value("z", TensorType(None, None, foreign="map")))),
    replace(GOOD, extras=("training_info", "configuration", "quantization_annotation")),
]


@pytest.mark.parametrize("graph", STUBS)
def test_with_stubs_a_graph_comes_back_as_far_as_it_was_kept(graph: Graph) -> None:
    assert form(from_bytes(to_bytes(graph, stubs=True), "", NOWHERE)) == form(graph)


def test_a_constant_without_data_is_written_without_data() -> None:
    graph = replace(GOOD, constants=(*GOOD.constants, Constant("c", tensor_type("float[3]"), problem="lost")))
    (*_, held) = from_bytes(to_bytes(graph, stubs=True), "", NOWHERE).constants
    assert held.problem == "its type and shape need 3 elements, float_data has 0"


@for_each("rule", GRAPH_RULES, ids=lambda rule: rule.identifier)
def test_the_examples_of_every_rule_can_be_written_and_read(rule: Any) -> None:
    passing = again(rule.passing)
    assert rule.identifier not in found(passing)
    failing = from_bytes(to_bytes(rule.failing, stubs=True), "", NOWHERE)
    assert found(failing) == found(rule.failing)
    assert rule.identifier in found(failing)


# Files.


def test_a_saved_model_is_loaded_from_its_file(tmp_path: Path) -> None:
    save(GOOD, str(tmp_path / "net.onnx"))
    assert form(load(tmp_path / "net.onnx")) == form(GOOD)
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before" * 10_000)
    save(GOOD, path)
    assert path.read_bytes() == to_bytes(GOOD)


def test_a_new_file_has_the_rights_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save(GOOD, tmp_path / "net.onnx")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "net.onnx").stat().st_mode) == 0o640


class FullError(OSError):
    """A disk without room."""


def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before")

    def half() -> None:
        with whole_file(path) as file:
            file.write(b"half of")
            raise FullError

    with pytest.raises(FullError):
        half()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_a_failure_at_the_end_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before")

    def refuse(*_: object) -> None:
        raise FullError

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(FullError):
        save(GOOD, path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_an_error_in_the_graph_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before")
    with pytest.raises(ValueError, match="cannot be saved"):
        save(with_attributes(a=None), path)
    assert path.read_bytes() == b"before"


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").mkdir()
    with pytest.raises(IsADirectoryError):
        save(GOOD, tmp_path / "net.onnx")
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder: '.*none'$"):
        save(GOOD, tmp_path / "none" / "net.onnx")
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "net.onnx").symlink_to("deep/real.onnx")
    save(GOOD, tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").is_symlink()
    assert (tmp_path / "deep" / "real.onnx").read_bytes() == to_bytes(GOOD)
    assert os.listdir(tmp_path / "deep") == ["real.onnx"]


def test_bfloat16_keeps_its_signalling_bits() -> None:
    array = np.array([0x7F81, 0xFFC1], np.uint16).view(ml_dtypes.bfloat16)
    graph = replace(GOOD, constants=(*GOOD.constants, Constant("c", tensor_type("bfloat16[2]"), array)))
    assert to_proto(graph).graph.initializer[-1].raw_data == b"\x81\x7f\xc1\xff"


def test_a_reference_comes_back_with_its_kind() -> None:
    graph = with_attributes(a=Reference("b", "strings"))
    (written,) = to_proto(graph).graph.node[0].attribute
    assert (written.ref_attr_name, written.type) == ("b", AttributeProto.STRINGS)
    assert form(again(graph)) == form(graph)
