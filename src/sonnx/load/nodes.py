"""Nodes, attributes and functions out of protobuf."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, defs

from sonnx.load.limits import Budget
from sonnx.load.strings import notes_of, text_of
from sonnx.load.tensors import constant_of
from sonnx.load.types import value_of
from sonnx.model.graph import Function, Node, Opaque, Reference

Opsets = tuple[tuple[str, int], ...]
# No attribute of the profile has as many elements; each takes much more memory than in the file.
_LONGEST_LIST = 1_000_000
# The field in which each kind of attribute holds its value.
_FIELDS = {
    AttributeProto.FLOAT: "f",
    AttributeProto.INT: "i",
    AttributeProto.STRING: "s",
    AttributeProto.TENSOR: "t",
    AttributeProto.GRAPH: "g",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.TYPE_PROTO: "tp",
    AttributeProto.FLOATS: "floats",
    AttributeProto.INTS: "ints",
    AttributeProto.STRINGS: "strings",
    AttributeProto.TENSORS: "tensors",
    AttributeProto.GRAPHS: "graphs",
    AttributeProto.SPARSE_TENSORS: "sparse_tensors",
    AttributeProto.TYPE_PROTOS: "type_protos",
}
_ABOUT = {"name", "type", "doc_string", "ref_attr_name"}
_KINDS = {number: name.lower() for name, number in AttributeProto.AttributeType.items()}


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> Opsets:
    """The operator sets that a model or function speaks of, in the order written."""
    return tuple((domain_of(entry.domain), int(entry.version)) for entry in imports)


def domain_of(name: str | bytes) -> str:
    """A domain; ONNX's own has two spellings."""
    text = text_of(name)
    return "" if text == "ai.onnx" else text


class NodeReader:
    """Reads the nodes of one model; it remembers operator versions, which are slow to ask for."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        """Keep where external data may lie and what may be spent on it."""
        self._folder = folder
        self._budget = budget
        self._versions: dict[tuple[str, str, int], int | None] = {}

    def nodes(self, protos: Iterable[NodeProto], opsets: Opsets) -> tuple[Node, ...]:
        """Read a list of nodes that stand under the given operator sets."""
        imported = dict(opsets)
        return tuple(self._node(proto, imported) for proto in protos)

    def _node(self, proto: NodeProto, imported: Mapping[str, int]) -> Node:
        operator, domain = text_of(proto.op_type), domain_of(proto.domain)
        attributes, repeated = self.attributes(proto.attribute)
        return Node(
            operator,
            tuple(map(text_of, proto.input)),
            tuple(map(text_of, proto.output)),
            attributes,
            text_of(proto.name),
            domain,
            text_of(proto.overload),
            self._version(operator, domain, imported.get(domain)),
            repeated,
            notes_of(proto),
        )

    def attributes(self, protos: Iterable[AttributeProto]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Attributes by name, and the names that are written more than once."""
        protos = list(protos)
        names = Counter(text_of(proto.name) for proto in protos)
        values = {text_of(proto.name): self._attribute(proto) for proto in protos}
        twice = {name for name, times in names.items() if times > 1}
        twice |= {text_of(proto.name) for proto in protos if _says_more(proto)}
        return values, tuple(name for name in names if name in twice)

    def _attribute(self, proto: AttributeProto) -> Any:
        if proto.ref_attr_name:
            return Reference(text_of(proto.ref_attr_name), _KINDS.get(proto.type, "undefined"))
        match proto.type:
            case AttributeProto.INT:
                return int(proto.i)
            case AttributeProto.FLOAT:
                return float(proto.f)
            case AttributeProto.STRING:
                return text_of(proto.s)
            case AttributeProto.INTS if len(proto.ints) <= _LONGEST_LIST:
                return tuple(proto.ints)
            case AttributeProto.FLOATS if len(proto.floats) <= _LONGEST_LIST:
                return tuple(proto.floats)
            case AttributeProto.STRINGS:
                return tuple(map(text_of, proto.strings))
            case AttributeProto.TENSOR:
                return constant_of(proto.t, self._folder, self._budget)
        taken = frozenset(name for held in (proto.g, *proto.graphs) for name in _taken(held))
        return Opaque(_KINDS.get(proto.type, f"{proto.type}"), taken)

    def _version(self, operator: str, domain: str, opset: int | None) -> int | None:
        """The operator set that last changed the operator before the model's own; None where unknown."""
        if opset is None:
            return None
        key = operator, domain, opset
        if key not in self._versions:
            self._versions[key] = _since(operator, domain, opset)
        return self._versions[key]

    def function(self, proto: FunctionProto) -> Function:
        """Read a function of the model."""
        opsets = opsets_of(proto.opset_import)
        defaults, repeated = self.attributes(proto.attribute_proto)
        return Function(
            text_of(proto.name),
            domain_of(proto.domain),
            tuple(map(text_of, proto.input)),
            tuple(map(text_of, proto.output)),
            self.nodes(proto.node, opsets),
            tuple(map(text_of, proto.attribute)),
            defaults,
            tuple(map(value_of, proto.value_info)),
            opsets,
            text_of(proto.overload),
            notes_of(proto),
            repeated,
        )


def _taken(graph: GraphProto) -> Iterator[str]:
    """Every name that a graph inside of a node takes, or gives as it is."""
    yield from (text_of(value.name) for value in graph.output)
    for node in graph.node:
        yield from map(text_of, node.input)
        for attribute in node.attribute:
            for held in (attribute.g, *attribute.graphs):
                yield from _taken(held)


def _says_more(proto: AttributeProto) -> bool:
    """Tell whether an attribute holds a value beside the one of its kind: nobody knows which is meant."""
    held = {field.name for field, _ in proto.ListFields()} - _ABOUT
    return not held <= {_FIELDS.get(proto.type, "")}


def _since(operator: str, domain: str, opset: int) -> int | None:
    # onnx would take a newer operator set than it knows for the newest one that it knows.
    newest = {"": defs.onnx_opset_version(), "ai.onnx.ml": defs.onnx_ml_opset_version()}
    if not 1 <= opset <= newest.get(domain, 0):
        return None
    try:
        return int(defs.get_schema(operator, opset, domain).since_version)
    except (defs.SchemaError, TypeError):  # no such operator, or a name that is no UTF-8
        return None
