"""Valid models for mutation to start from: small, and together with something of everything ONNX has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

OPSET = 22


@dataclass(frozen=True)
class Sample:
    """A model and the files beside it."""

    model: ModelProto
    beside: Mapping[str, bytes] = field(default_factory=dict)


def _value(name: str, shape: Sequence[int | str | None], dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def _tensor(name: str, array: Any) -> TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def _floats(name: str, *shape: int) -> TensorProto:
    count = int(np.prod(shape, dtype=np.int64))
    return _tensor(name, (np.arange(count, dtype=np.float32) / 8 - 1).reshape(shape))


def _model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    initializers: Sequence[TensorProto] = (),
    **more: Any,
) -> ModelProto:
    values = more.pop("values", [])
    sparse = more.pop("sparse", [])
    graph = helper.make_graph(
        nodes, "net", inputs, outputs, initializers, value_info=values, sparse_initializer=sparse
    )
    imports = more.pop("imports", [helper.make_opsetid("", OPSET)])
    return helper.make_model(graph, opset_imports=imports, ir_version=10, **more)


def defaults() -> Sample:
    """A convolutional net as an exporter writes it: attributes left out, padding asked for, open batch."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "first", auto_pad="SAME_UPPER", strides=[2, 2]),
        helper.make_node("Clip", ["a", "zero"], ["b"], "limit"),
        helper.make_node("Conv", ["b", "depth"], ["c"], "depthwise", group=4, pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c", "", "six"], ["y"]),
    ]
    weights = [_floats("w", 4, 3, 3, 3), _floats("depth", 4, 1, 3, 3)]
    bounds = [_tensor("zero", np.float32(0)), _tensor("six", np.float32(6))]
    ends = [_value("x", ["batch", 3, 8, 8])], [_value("y", ["batch", 4, 4, 4])]
    return Sample(_model(nodes, *ends, [*weights, *bounds]))


def explicit() -> Sample:
    """The profile's own form: nothing left open, every tensor typed, axes denoted."""
    conv = helper.make_node(
        "Conv",
        ["x", "w", "b"],
        ["a"],
        "conv",
        auto_pad="NOTSET",
        dilations=[1, 1],
        group=1,
        kernel_shape=[3, 3],
        pads=[1, 1, 1, 1],
        strides=[1, 1],
    )
    clip = helper.make_node("Clip", ["a", "lo", "hi"], ["y"], "clip")
    image = helper.make_tensor_value_info(
        "x",
        TensorProto.FLOAT,
        [1, 2, 5, 5],
        "",
        ["DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE"],
    )
    constants = [
        _floats("w", 3, 2, 3, 3),
        _floats("b", 3),
        _tensor("lo", np.float32(0)),
        _tensor("hi", np.float32(6)),
    ]
    made = _model(
        [conv, clip], [image], [_value("y", [1, 3, 5, 5])], constants, values=[_value("a", [1, 3, 5, 5])]
    )
    made.metadata_props.add(key="author", value="nobody")
    return Sample(made)


def functions() -> Sample:
    """Functions that call functions, with attributes handed on, defaults and an overload."""
    own = [helper.make_opsetid("", OPSET), helper.make_opsetid("own", 1)]
    conv = helper.make_node("Conv", ["a", "k"], ["t"], group=1)
    conv.attribute.append(AttributeProto(name="strides", ref_attr_name="steps", type=AttributeProto.INTS))
    inner = helper.make_function(
        "own", "Inner", ["a", "k"], ["t"], [conv], own[:1], ["steps"], [helper.make_attribute("scale", 1.0)]
    )
    calls = [
        helper.make_node("Inner", ["p", "q"], ["m"], "once", domain="own", steps=[1, 1]),
        helper.make_node("Inner", ["m", "q"], ["r"], "again", domain="own", steps=[1, 1]),
    ]
    outer = helper.make_function("own", "Outer", ["p", "q"], ["r"], calls, own)
    outer.overload = "second"
    outer.value_info.append(_value("m", [1, 1, 4, 4]))
    nodes = [
        helper.make_node("Outer", ["x", "w"], ["s"], "call", domain="own", overload="second"),
        helper.make_node("Clip", ["s", "lo", "lo"], ["y"]),
    ]
    constants = [_floats("w", 1, 1, 1, 1), _tensor("lo", np.float32(0))]
    ends = [_value("x", [1, 1, 4, 4])], [_value("y", [1, 1, 4, 4])]
    return Sample(_model(nodes, *ends, constants, imports=own, functions=[inner, outer]))


def _external(name: str, shape: Sequence[int], **entries: str) -> TensorProto:
    made = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, text in entries.items():
        made.external_data.add(key=key, value=text)
    return made


def external() -> Sample:
    """Weights in a file beside the model."""
    constants = [
        _external("w", [1, 1, 2, 2], location="w.bin", offset="0", length="16"),
        _external("b", [1], location="w.bin", offset="16", length="4"),
    ]
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"])
    ends = [_value("x", [1, 1, 3, 3])], [_value("y", [1, 1, 2, 2])]
    return Sample(_model([node], *ends, constants), {"w.bin": bytes(range(64))})


def strings() -> Sample:
    """Texts and truths."""
    texts = TensorProto(
        name="t",
        data_type=TensorProto.STRING,
        dims=[2, 2],
        string_data=[b"a", b"", b"\xc3\xa4", b"long " * 9],
    )
    node = helper.make_node("Where", ["c", "t", "u"], ["y"], "choose")
    inputs = [_value("c", [2, 2], TensorProto.BOOL), _value("u", [2, 2], TensorProto.STRING)]
    return Sample(_model([node], inputs, [_value("y", [2, 2], TensorProto.STRING)], [texts]))


def sparse() -> Sample:
    """A sparse initializer, and types that are no tensors."""
    values, indices = _tensor("s", np.array([1, 2], np.float32)), _tensor("i", np.array([0, 3]))
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    inputs = [
        _value("x", [5]),
        helper.make_value_info("list", helper.make_sequence_type_proto(kind)),
        helper.make_value_info("maybe", helper.make_optional_type_proto(kind)),
        helper.make_value_info("table", helper.make_map_type_proto(TensorProto.INT64, kind)),
        helper.make_value_info("thin", helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [5])),
    ]
    node = helper.make_node("Clip", ["x", "s"], ["y"])
    made = _model(
        [node], inputs, [_value("y", [5])], sparse=[helper.make_sparse_tensor(values, indices, [5])]
    )
    return Sample(made)


def shapes() -> Sample:
    """Broadcasting, said and unsaid."""
    nodes = [
        helper.make_node("Expand", ["x", "shape"], ["e"], "widen"),
        helper.make_node("Where", ["c", "e", "small"], ["y"], "choose"),
    ]
    constants = [
        _tensor("shape", np.array([2, 3, 4])),
        _tensor("small", np.array([[-1], [0], [1]], np.float32)),
    ]
    inputs = [_value("x", [3, 1]), _value("c", ["n", 3, 4], TensorProto.BOOL)]
    return Sample(_model(nodes, inputs, [_value("y", [2, 3, 4])], constants))


def subgraphs() -> Sample:
    """Graphs in attributes."""
    one = helper.make_graph([helper.make_node("Clip", ["x"], ["p"])], "one", [], [_value("p", [2])])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["q"])], "other", [], [_value("q", [2])])
    nodes = [helper.make_node("If", ["c"], ["y"], "branch", then_branch=one, else_branch=other)]
    inputs = [_value("c", [], TensorProto.BOOL), _value("x", [2])]
    return Sample(_model(nodes, inputs, [_value("y", [2])]))


def constants() -> Sample:
    """Constant nodes of every kind."""
    given: dict[str, Any] = {
        "value": _floats("", 2),
        "value_float": 0.5,
        "value_floats": [0.5, 1.5],
        "value_int": 3,
        "value_ints": [2],
        "value_string": "a",
        "value_strings": ["a", "b"],
    }
    nodes = [
        helper.make_node("Constant", [], [f"k_{name}"], f"make {name}", **{name: held})
        for name, held in given.items()
    ]
    nodes += [
        helper.make_node("Clip", ["k_value", "k_value_float"], ["l"]),
        helper.make_node("Expand", ["l", "k_value_ints"], ["m"]),
        helper.make_node("RandomNormalLike", ["m"], ["n"]),
        helper.make_node("Where", ["c", "m", "k_value_floats"], ["y"]),
    ]
    return Sample(_model(nodes, [_value("c", [2], TensorProto.BOOL)], [_value("y", [2])]))


def every_type() -> Sample:
    """Initializers of all sixteen types, in the fields that ONNX has for them."""
    integers = "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL"
    floats = "FLOAT16 BFLOAT16 FLOAT DOUBLE COMPLEX64 COMPLEX128"
    held = [
        helper.make_tensor(f"c_{name}", getattr(TensorProto, name), [2], [0, 1])
        for name in (*integers.split(), *floats.split())
    ]
    held.append(TensorProto(name="c_text", data_type=TensorProto.STRING, dims=[1], string_data=[b"x"]))
    node = helper.make_node("Where", ["c_BOOL", "c_FLOAT", "x"], ["y"])
    return Sample(_model([node], [_value("x", [2])], [_value("y", [2])], held))


def extras() -> Sample:
    """Training, devices and annotations beside a small graph."""
    node = helper.make_node("Clip", ["x", "lo", "hi"], ["y"])
    bounds = [_tensor("lo", np.float32(0)), _tensor("hi", np.float32(6))]
    made = _model([node], [_value("x", [2, 3])], [_value("y", [2, 3])], bounds)
    made.training_info.add().algorithm.name = "step"
    made.graph.quantization_annotation.add(tensor_name="x")
    made.configuration.add(name="device", num_devices=2)
    made.graph.node[0].device_configurations.add(configuration_id="device")
    return Sample(made)


def chain() -> Sample:
    """Twenty nodes in a row, and an idle one."""
    nodes = [helper.make_node("Clip", [f"t{i}", "lo", "hi"], [f"t{i + 1}"], f"clip{i}") for i in range(20)]
    nodes.append(helper.make_node("Clip", ["t0", "lo"], ["idle"]))
    bounds = [_tensor("lo", np.float32(0)), _tensor("hi", np.float32(6))]
    values = [_value(f"t{i}", [4]) for i in range(1, 20)]
    return Sample(_model(nodes, [_value("t0", [4])], [_value("t20", [4])], bounds, values=values))


MAKERS = (
    defaults,
    explicit,
    functions,
    external,
    strings,
    sparse,
    shapes,
    subgraphs,
    constants,
    every_type,
    extras,
    chain,
)


@cache
def samples() -> tuple[Sample, ...]:
    """All models, made once."""
    return tuple(make() for make in MAKERS)
