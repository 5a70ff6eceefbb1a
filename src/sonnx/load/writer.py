"""Graph → ONNX file."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import EncodeError
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TensorProto, helper

from sonnx.load.strings import quoted, write_notes
from sonnx.load.tensors import write_tensor
from sonnx.load.types import number_of, write_type
from sonnx.load.whole_file import whole_file
from sonnx.model.graph import Constant, Function, Graph, Node, Notes, Opaque, Reference, Value

# Protobuf's own limit on a message.
_LARGEST_FILE = 2**31 - 1
_TOO_LARGE = "the model cannot be saved: its constants are too large for one file"
_MODEL_PARTS = ("training_info", "configuration")


def save(graph: Graph, path: str | Path, *, stubs: bool = False) -> None:
    """Write a graph to a file: all of it, or nothing.

    Raises ValueError for what no ONNX file can hold, and for what the graph names but has not kept, such as
    the elements of a sparse tensor; with `stubs` that is written empty, which is enough to be refused for it.
    """
    content = to_bytes(graph, stubs=stubs)
    with whole_file(path) as file:
        file.write(content)


def to_bytes(graph: Graph, *, stubs: bool = False) -> bytes:
    """The bytes of the ONNX file; the same graph gives the same bytes."""
    if sum(getattr(data, "nbytes", 0) for data in graph.data.values()) > _LARGEST_FILE:
        raise ValueError(_TOO_LARGE)
    model = to_proto(graph, stubs=stubs)
    try:
        content: bytes = model.SerializeToString(deterministic=True)
    except (EncodeError, ValueError):
        raise ValueError(_TOO_LARGE) from None
    return content


def to_proto(graph: Graph, *, stubs: bool = False) -> ModelProto:
    """The model as protobuf."""
    try:
        return _Writer(stubs).model(graph)
    except UnicodeEncodeError as error:
        text = quoted(error.object)
        raise ValueError(f"the text {text} cannot be saved: it is not Unicode that UTF-8 can hold") from None


class _Writer:
    """Writes the parts of a graph; `stubs` allows to write empty what the graph has not kept."""

    def __init__(self, stubs: bool) -> None:
        self._stubs = stubs

    def model(self, graph: Graph) -> ModelProto:
        origin = graph.provenance
        model = ModelProto(ir_version=graph.ir_version)
        for name in ("producer_name", "producer_version", "domain", "model_version"):
            if getattr(origin, name):
                setattr(model, name, getattr(origin, name))
        write_notes(model, Notes(origin.documentation, graph.metadata))
        for domain, version in graph.opsets:
            model.opset_import.add(domain=domain, version=version)
        model.graph.name = graph.name
        write_notes(model.graph, Notes(graph.documentation, graph.graph_metadata))
        self._values(graph.inputs, model.graph.input)
        self._values(graph.outputs, model.graph.output)
        self._values(graph.values, model.graph.value_info)
        for constant in graph.constants:
            self._constant(constant, model)
        model.graph.node.extend(map(self._node, graph.nodes))
        model.functions.extend(map(self._function, graph.functions))
        for part in graph.extras:
            self._extra(part, model)
        return model

    def _lost(self, what: str) -> None:
        """Refuse to leave out what was in the file, unless stubs are wanted."""
        if not self._stubs:
            raise ValueError(f"{what} cannot be saved: the graph does not keep it")

    def _extra(self, part: str, model: ModelProto) -> None:
        self._lost(f"the part {quoted(part)} of the file")
        if part in _MODEL_PARTS:
            getattr(model, part).add()
        elif part == "quantization_annotation":
            model.graph.quantization_annotation.add()

    def _values(self, values: Iterable[Value], protos: Any) -> None:
        for value in values:
            proto = protos.add(name=value.name)
            try:
                write_type(proto.type, value.type, self._stubs)
            except ValueError as error:
                raise _named(f"the type of the tensor {quoted(value.name)}", error) from None
            if value.denotation:
                proto.type.denotation = value.denotation
            write_notes(proto, value.notes)

    def _constant(self, constant: Constant, model: ModelProto) -> None:
        if constant.type.sparse:
            self._lost(f"the elements of the sparse constant {quoted(constant.name)}")
            proto = model.graph.sparse_initializer.add()
            self._without_elements(proto.values, constant)
            proto.values.dims.append(0)
            proto.dims.extend(_sizes(constant))
        else:
            self._tensor(model.graph.initializer.add(), constant)

    def _tensor(self, proto: TensorProto, constant: Constant) -> None:
        if constant.data is None and self._stubs:
            self._without_elements(proto, constant)
            proto.dims.extend(_sizes(constant))
        else:
            write_tensor(proto, constant)

    def _without_elements(self, proto: TensorProto, constant: Constant) -> None:
        proto.name = constant.name
        proto.data_type = number_of(constant.type)

    def _node(self, node: Node) -> NodeProto:
        proto = NodeProto(op_type=node.operator, input=node.inputs, output=node.outputs)
        for field in ("name", "domain", "overload"):
            if getattr(node, field):
                setattr(proto, field, getattr(node, field))
        proto.attribute.extend(self._attributes(node.attributes, node.repeated))
        write_notes(proto, node.notes)
        return proto

    def _attributes(
        self, attributes: Mapping[str, Any], repeated: tuple[str, ...]
    ) -> Iterator[AttributeProto]:
        # Of an attribute that stood there twice the graph keeps one value, which is written twice.
        twice = [(name, attributes[name]) for name in repeated if name in attributes]
        for name, value in (*attributes.items(), *twice):
            proto = AttributeProto(name=name)
            if isinstance(value, Reference):
                proto.ref_attr_name = value.attribute
                proto.type = _kind(value.kind)
            elif isinstance(value, Constant):
                proto.type = AttributeProto.TENSOR
                self._tensor(proto.t, value)
            elif isinstance(value, Opaque):
                self._lost(f"the attribute {quoted(name)} of kind {value.kind}")
                proto.type = _kind(value.kind)
            else:
                proto = _plain(name, value)
            yield proto

    def _function(self, function: Function) -> FunctionProto:
        proto = FunctionProto(
            name=function.name,
            domain=function.domain,
            input=function.inputs,
            output=function.outputs,
            attribute=function.attributes,
        )
        if function.overload:
            proto.overload = function.overload
        for domain, version in function.opsets:
            proto.opset_import.add(domain=domain, version=version)
        proto.attribute_proto.extend(self._attributes(function.defaults, function.repeated))
        proto.node.extend(map(self._node, function.nodes))
        self._values(function.values, proto.value_info)
        write_notes(proto, function.notes)
        return proto


def _sizes(constant: Constant) -> list[int]:
    return [size for size in constant.type.shape or () if isinstance(size, int)]


def _kind(name: str) -> Any:
    kinds = dict(AttributeProto.AttributeType.items())
    if name.upper() not in kinds:
        raise ValueError(f"attributes of kind {quoted(name)} cannot be saved: ONNX has no such kind")
    return kinds[name.upper()]


def _plain(name: str, value: Any) -> AttributeProto:
    if isinstance(value, (tuple, list)) and not value:
        return AttributeProto(name=name, type=AttributeProto.INTS)
    try:
        if not isinstance(value, (int, float, str, tuple, list)):
            raise TypeError
        return helper.make_attribute(name, value)
    except UnicodeEncodeError:
        raise
    except (TypeError, ValueError):
        problem = f"ONNX has none that is {quoted(repr(value))}"
        raise ValueError(f"the attribute {quoted(name)} cannot be saved: {problem}") from None


def _named(what: str, error: ValueError) -> ValueError:
    return error if isinstance(error, UnicodeEncodeError) else ValueError(f"{what}: {error}")
