"""A graph while its nodes are gone through, and what is known of its tensors by then."""

from dataclasses import dataclass, field, replace
from typing import Any

from sonnx.check.inference import UNTYPED, node_call
from sonnx.model.graph import Constant, Graph, Node
from sonnx.model.location import Location
from sonnx.model.names import Names
from sonnx.model.tensor_type import TensorType
from sonnx.normalize.changes import Change
from sonnx.normalize.types import Symbols
from sonnx.numeric.arrays import held_type
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator, operand_names
from sonnx.vocabulary.rewriting import Known

# Names may be as long as a file, and new ones are made of them.
LONGEST_PART = 100


@dataclass
class Work:
    """A graph while its nodes are gone through."""

    graph: Graph
    types: dict[str, TensorType]
    data: dict[str, Any]
    names: Names
    node_names: Names
    symbols: Symbols
    nodes: list[Node] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    # The tensors whose types were found here.
    inferred: set[str] = field(default_factory=set)
    # Constants' elements, by the name of the tensor that an Expand makes of them.
    repeated: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, symbols: Symbols) -> "Work":
        """Start with what the model writes; an input's default is no constant of the model."""
        inputs = {value.name for value in graph.inputs}
        data = {name: data for name, data in graph.data.items() if name not in inputs}
        taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
        taken |= {name for name, _, _ in graph.declarations()}
        node_names = Names({node.name for node in graph.nodes})
        return cls(graph, dict(graph.types), data, Names(taken), node_names, symbols)

    def call(self, operator: Operator, node: Node) -> Call:
        """The node as a call, with what is known by now."""
        return node_call(operator, node, self.types, self.data)

    def add_constant(self, wanted: str, value: Any) -> str:
        """Add an initializer; answers its name."""
        name = self.names.fresh(wanted)
        kind = TensorType(held_type(value), value.shape)
        self.constants.append(Constant(name, kind, value))
        self.types[name], self.data[name] = kind, value
        return name

    def say(self, location: Location, what: str, why: str, rule: str) -> None:
        """Record a change."""
        self.changes.append(Change(location, what, why, rule))

    def known(self, name: str) -> Known:
        """What is known of a tensor by now."""
        return Known(self.types.get(name, UNTYPED), self.data.get(name, self.repeated.get(name)))


def label_of(node: Node) -> str:
    """What new names that belong to a node begin with."""
    label = node.name or next((name for name in node.outputs if name), node.operator)
    return label[:LONGEST_PART]


def operands_of(operator: Operator, node: Node) -> list[str]:
    """The names of a node's operands, by position."""
    return operand_names(operator.contract.inputs, len(node.inputs))


def with_input(operator: Operator, node: Node, name: str, tensor: str) -> Node:
    """The node with a tensor for one of its operands."""
    place = operands_of(operator, node).index(name)
    inputs = [*node.inputs, *[""] * (place + 1 - len(node.inputs))]
    inputs[place] = tensor
    return replace(node, inputs=tuple(inputs))
