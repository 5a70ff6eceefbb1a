"""Functions replaced by their bodies: executing a function is executing its body (D-GRAPH-3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sonnx.model.graph import Function, Graph, Node, Reference, Value
from sonnx.model.location import Location
from sonnx.model.order import a_cycle, given_order

# Functions that call one another twice each, or in a long chain, would otherwise fill the memory.
MOST_NODES = 100_000
DEEPEST_CALL = 64

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Flat:
    """A graph without function calls, and where each of its nodes and inner tensors comes from."""

    graph: Graph
    locations: tuple[Location, ...]
    tensors: Mapping[str, Location]


def _as_nodes(graph: Graph) -> list[Node]:
    """Each function as a node that takes what it calls, so that orders and cycles are those of nodes."""
    functions = {function.key for function in graph.functions}
    return [
        Node(
            function.name,
            tuple(str(node.function) for node in function.nodes if node.function in functions),
            (str(function.key),),
        )
        for function in graph.functions
    ]


def recursive(graph: Graph) -> list[Function]:
    """Functions that call one another in a circle; empty where there are none."""
    return [graph.functions[index] for index in a_cycle(_as_nodes(graph))]


def inlined_size(graph: Graph) -> tuple[int, int]:
    """The number of nodes after inlining and how deep calls lie in calls; there must be no recursion."""
    sizes: dict[Key, tuple[int, int]] = {}
    for index in given_order(_as_nodes(graph)):
        function = graph.functions[index]
        sizes[function.key] = _size(function.nodes, sizes)
    return _size(graph.nodes, sizes)


def _size(nodes: Sequence[Node], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    inner = [sizes.get(node.function, (1, -1)) for node in nodes]
    # More than anybody allows need not be counted exactly; the numbers would grow without end.
    return min(sum(size for size, _ in inner), 10 * MOST_NODES), 1 + max(
        (depth for _, depth in inner), default=-1
    )


@dataclass
class _Flattening:
    """What is gathered while bodies take the place of calls."""

    functions: Mapping[Key, Function]
    taken: set[str]
    nodes: list[Node] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    tensors: dict[str, Location] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """A name that no tensor has yet, made from a wanted one."""
        chosen, number = name, 1
        while chosen in self.taken:
            number += 1
            chosen = f"{name}_{number}"
        self.taken.add(chosen)
        return chosen

    def add(self, node: Node, location: Location, prefix: str) -> None:
        """Take over a node, or the body of the function that it calls."""
        function = self.functions.get(node.function)
        if function is None:
            self.nodes.append(node)
            self.locations.append(location)
            return
        prefix = f"{prefix}{node.name or function.name}/"
        names = self._names(function, node, location, prefix)
        given = {**function.defaults, **node.attributes}
        for index, inner in enumerate(function.nodes):
            here = Location("node", inner.name, index, inner.operator, location.file, location)
            self.add(_renamed(inner, names, given), here, prefix)

    def _names(self, function: Function, node: Node, location: Location, prefix: str) -> dict[str, str]:
        """What the body's names become: the caller's for inputs and outputs, fresh ones for the rest."""
        names = dict.fromkeys(function.inputs, "") | dict(zip(function.inputs, node.inputs, strict=False))
        for inner, outer in zip(function.outputs, node.outputs, strict=False):
            if outer and inner not in names:
                names[inner] = outer
        written = {value.name: value.type for value in function.values}
        for body in function.nodes:
            for name in body.outputs:
                if name and name not in names:
                    names[name] = self.fresh(f"{prefix}{name}")
                    self.tensors[names[name]] = Location("tensor", name, file=location.file, inside=location)
                    if name in written:
                        self.values.append(Value(names[name], written[name]))
        return names


def _renamed(node: Node, names: Mapping[str, str], given: Mapping[str, Any]) -> Node:
    # A name that nobody defines stays as it is, and the check finds it.
    attributes = {}
    for key, value in node.attributes.items():
        resolved = given.get(value.attribute) if isinstance(value, Reference) else value
        # An attribute that refers to one the caller has not given is itself not given.
        if resolved is not None:
            attributes[key] = resolved
    return replace(
        node,
        inputs=tuple(names.get(name, name) for name in node.inputs),
        outputs=tuple(names.get(name, name) for name in node.outputs),
        attributes=attributes,
    )


def flatten(graph: Graph) -> Flat:
    """Replace every call of a function by its body, functions in functions included.

    The graph must have no recursion, and `inlined_size` nodes must be acceptable.
    """
    scope = graph.scope
    if not graph.functions:
        places = tuple(scope.node_location(index) for index in range(len(graph.nodes)))
        return Flat(graph, places, {})
    taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
    taken |= {name for name, _, _ in graph.declarations()}
    state = _Flattening({function.key: function for function in graph.functions}, taken)
    for index, node in enumerate(graph.nodes):
        state.add(node, scope.node_location(index), "")
    flat = replace(graph, nodes=tuple(state.nodes), values=(*graph.values, *state.values), functions=())
    return Flat(flat, tuple(state.locations), state.tensors)
