"""Graph → ONNX file."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, helper

from sonnx.load.tensors import write_tensor
from sonnx.load.types import TO_ONNX, write_type
from sonnx.load.whole_file import whole_file
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Function, Graph, Node, Reference, Value

# Protobuf's own limit on a message.
_LARGEST_FILE = 2**31 - 1


def save(graph: Graph, path: str | Path) -> None:
    """Write a graph to a file: all of it, or nothing. Raises ValueError for what no ONNX file can hold."""
    content = to_bytes(graph)
    with whole_file(path) as file:
        file.write(content)


def to_bytes(graph: Graph) -> bytes:
    """The bytes of the ONNX file; the same graph gives the same bytes."""
    if sum(getattr(data, "nbytes", 0) for data in graph.data.values()) > _LARGEST_FILE:
        raise ValueError("the constants of the model are too large for one file")
    return to_proto(graph).SerializeToString(deterministic=True)


def to_proto(graph: Graph) -> ModelProto:
    """The model as protobuf."""
    model = ModelProto(ir_version=graph.ir_version, producer_name="sonnx")
    for domain, version in graph.opsets:
        model.opset_import.add(domain=domain, version=version)
    for key, value in graph.metadata:
        model.metadata_props.add(key=key, value=value)
    model.graph.name = graph.name
    model.graph.doc_string = graph.documentation
    for values, protos in (
        (graph.inputs, model.graph.input),
        (graph.outputs, model.graph.output),
        (graph.values, model.graph.value_info),
    ):
        _values(values, protos)
    for constant in graph.constants:
        _constant(constant, model)
    model.graph.node.extend(map(_node, graph.nodes))
    model.functions.extend(map(_function, graph.functions))
    return model


def _values(values: Iterable[Value], protos: Any) -> None:
    for value in values:
        proto = protos.add(name=value.name)
        write_type(proto.type, value.type)


def _constant(constant: Constant, model: ModelProto) -> None:
    if constant.type.sparse:
        _sparse(constant, model)
    else:
        write_tensor(model.graph.initializer.add(), constant)


def _sparse(constant: Constant, model: ModelProto) -> None:
    """A sparse tensor without elements: enough to be refused for being sparse."""
    proto = model.graph.sparse_initializer.add()
    proto.values.name = constant.name
    proto.values.data_type = TO_ONNX[constant.type.dtype or DType.FLOAT]
    proto.values.dims.append(0)
    proto.dims.extend(constant.type.sizes or ())


def _node(node: Node) -> NodeProto:
    proto = NodeProto(
        op_type=node.operator, input=node.inputs, output=node.outputs, name=node.name, domain=node.domain
    )
    if node.overload:
        proto.overload = node.overload
    proto.attribute.extend(_attributes(node.attributes))
    proto.attribute.extend(_attributes({name: node.attributes[name] for name in node.repeated}))
    return proto


def _attributes(attributes: Mapping[str, Any]) -> Iterable[AttributeProto]:
    for name, value in attributes.items():
        if isinstance(value, Reference):
            kind = AttributeProto.AttributeType.Value(value.kind.upper())
            yield AttributeProto(name=name, ref_attr_name=value.attribute, type=kind)
        elif isinstance(value, Constant):
            proto = AttributeProto(name=name, type=AttributeProto.TENSOR)
            write_tensor(proto.t, value)
            yield proto
        else:
            yield _plain(name, value)


def _plain(name: str, value: Any) -> AttributeProto:
    try:
        if isinstance(value, tuple) and not value:
            return AttributeProto(name=name, type=AttributeProto.INTS)
        return helper.make_attribute(name, list(value) if isinstance(value, tuple) else value)
    except (TypeError, ValueError):
        raise ValueError(f"the attribute {name!r} with {value!r} cannot be saved") from None


def _function(function: Function) -> FunctionProto:
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
    proto.attribute_proto.extend(_attributes(function.defaults))
    proto.node.extend(map(_node, function.nodes))
    _values(function.values, proto.value_info)
    return proto
