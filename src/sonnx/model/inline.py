"""Functions replaced by their bodies: executing a function is executing its body (D-GRAPH-3)."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any

from sonnx.model.graph import Constant, Function, Graph, Node, Reference, Value
from sonnx.model.location import Location
from sonnx.model.names import Names
from sonnx.model.order import a_cycle, given_order
from sonnx.model.tensor_type import TensorType

# Functions that call one another twice each, or in a long chain, would otherwise fill the memory.
MOST_NODES = 100_000
DEEPEST_CALL = 64
# Names are copied with every call too, so there may be only so many of them and only so long ones.
_NAMES_A_NODE = 20
_LONGEST_NAME = 100
# Where a graph keeps what it is without calls, beside what it has found out of itself.
_FLAT = "flat"

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Flat:
    """A graph without function calls, and where each of its nodes and inner tensors comes from.

    `claims` holds the types that functions write for tensors whose types are written elsewhere too: those
    that a caller names, or that a function writes twice.
    """

    graph: Graph
    locations: tuple[Location, ...]
    tensors: Mapping[str, Location]
    claims: tuple[tuple[str, TensorType, Location], ...] = ()


def _defined(graph: Graph) -> dict[Key, Function]:
    """The functions by what calls name them by; where several have one name, the first counts."""
    functions: dict[Key, Function] = {}
    for function in graph.functions:
        functions.setdefault(function.key, function)
    return functions


def _as_nodes(functions: Mapping[Key, Function]) -> list[Node]:
    """Each function as a node that takes what it calls, so that orders and cycles are those of nodes."""
    return [
        Node(
            function.name,
            tuple(str(node.function) for node in function.nodes if node.function in functions),
            (str(function.key),),
        )
        for function in functions.values()
    ]


def recursive(graph: Graph) -> list[Function]:
    """Functions that call one another in a circle; empty where there are none."""
    functions = _defined(graph)
    listed = list(functions.values())
    return [listed[index] for index in a_cycle(_as_nodes(functions))]


def inlined_size(graph: Graph) -> tuple[int, int]:
    """The number of nodes after inlining and how deep calls lie in calls; there must be no recursion.

    A call counts as one node at least, and every twenty names that a node or function has as one more:
    so much work is inlining.
    """
    functions = _defined(graph)
    listed = list(functions.values())
    sizes: dict[Key, tuple[int, int]] = {}
    for index in given_order(_as_nodes(functions)):
        function = listed[index]
        size, depth = _size(function.nodes, sizes)
        names = _many(
            function.inputs, function.outputs, function.values, function.defaults, function.constants
        )
        sizes[function.key] = max(1, size + names), depth
    return _size(graph.nodes, sizes)


def _size(nodes: Sequence[Node], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    total, deepest = 0, -1
    for node in nodes:
        size, depth = sizes.get(node.function, (1, -1))
        # More than anybody allows need not be counted exactly; the numbers would grow without end.
        total = min(total + size + _many(node.inputs, node.outputs, node.attributes), 10 * MOST_NODES)
        deepest = max(deepest, depth)
    return total, deepest + 1


def _many(*names: Sized) -> int:
    return sum(map(len, names)) // _NAMES_A_NODE


@dataclass
class _Flattening:
    """What is gathered while bodies take the place of calls."""

    functions: Mapping[Key, Function]
    names: Names
    nodes: list[Node] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    tensors: dict[str, Location] = field(default_factory=dict)
    claims: list[tuple[str, TensorType, Location]] = field(default_factory=list)

    def add(self, node: Node, location: Location, prefix: str) -> None:
        """Take over a node, or the body of the function that it calls."""
        function = self.functions.get(node.function)
        if function is None:
            self.nodes.append(node)
            self.locations.append(location)
            return
        prefix = f"{prefix}{node.name or function.name}"[:_LONGEST_NAME] + "/"
        names = self._names(function, node, location, prefix)
        given = {**function.defaults, **node.attributes}
        for index, inner in enumerate(function.nodes):
            here = Location("node", inner.name, index, inner.operator, location.file, location)
            self.add(_renamed(inner, names, given), here, prefix)

    def replace(self, node: Node, location: Location, function: Function) -> None:
        """Take over the body of a function in place of a node."""
        self.functions = {node.function: function}
        self.add(node, location, "")
        self.functions = {}

    def _names(self, function: Function, node: Node, location: Location, prefix: str) -> dict[str, str]:
        """What the body's names become: the caller's for inputs and outputs, fresh ones for the rest."""
        names = dict.fromkeys(function.inputs, "") | dict(zip(function.inputs, node.inputs, strict=False))
        for inner, outer in zip(function.outputs, node.outputs, strict=False):
            if outer and inner not in names:
                names[inner] = outer
        for constant in function.constants:
            names[constant.name] = self.names.fresh(f"{prefix}{constant.name[:_LONGEST_NAME]}")
            self.constants.append(replace(constant, name=names[constant.name]))
        untyped = set()
        for body in function.nodes:
            for name in body.outputs:
                if name and name not in names:
                    names[name] = self.names.fresh(f"{prefix}{name[:_LONGEST_NAME]}")
                    self.tensors[names[name]] = Location("tensor", name, file=location.file, inside=location)
                    untyped.add(name)
        # The empty name is that of an absent operand, whoever else bears it.
        names.pop("", None)
        for value in function.values:
            self._written(names.get(value.name, ""), value, location, untyped)
        return names

    def _written(self, name: str, value: Value, location: Location, untyped: set[str]) -> None:
        """Take over the type that a function writes for a tensor that is now called `name`."""
        if value.name in untyped:
            untyped.remove(value.name)
            self.values.append(Value(name, value.type))
        elif name:
            place = Location("tensor", value.name, file=location.file, inside=location)
            self.claims.append((name, value.type, place))


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


# A node and the types of all tensors → the function whose body stands for it, if there is one.
BodyOf = Callable[[Node, Mapping[str, TensorType]], Function | None]


def composed(flat: Flat, body_of: BodyOf) -> Flat:
    """Replace the nodes of a graph without functions that have a body, bodies in bodies included."""
    graph = flat.graph
    if not any(body_of(node, graph.types) for node in graph.nodes):
        return flat
    taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
    taken |= {name for name, _, _ in graph.declarations()}
    state = _Flattening({}, Names(taken))
    for node, location in zip(graph.nodes, flat.locations, strict=True):
        function = body_of(node, graph.types)
        if function is None:
            state.add(node, location, "")
        else:
            state.replace(node, location, function)
    made = replace(
        graph,
        nodes=tuple(state.nodes),
        values=(*graph.values, *state.values),
        constants=(*graph.constants, *state.constants),
    )
    return composed(
        Flat(made, tuple(state.locations), {**flat.tensors, **state.tensors}, flat.claims), body_of
    )


def flatten(graph: Graph) -> Flat:
    """Replace every call of a function by its body, functions in functions included.

    The graph must have no recursion, and `inlined_size` nodes must be acceptable. It is done once: the
    answer is kept with the graph, for the check, the engines and all that follows.
    """
    if not graph.functions:  # nothing to keep: the answer would hold the graph that holds it
        scope = graph.scope
        places = tuple(scope.node_location(index) for index in range(len(graph.nodes)))
        return Flat(graph, places, {})
    kept: dict[str, Any] = vars(graph)
    if _FLAT not in kept:
        kept[_FLAT] = _flattened(graph)
    flat: Flat = kept[_FLAT]
    return flat


def _flattened(graph: Graph) -> Flat:
    scope = graph.scope
    taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
    taken |= {name for name, _, _ in graph.declarations()}
    state = _Flattening(_defined(graph), Names(taken))
    for index, node in enumerate(graph.nodes):
        state.add(node, scope.node_location(index), "")
    flat = replace(
        graph,
        nodes=tuple(state.nodes),
        values=(*graph.values, *state.values),
        constants=(*graph.constants, *state.constants),
        functions=(),
    )
    return Flat(flat, tuple(state.locations), state.tensors, tuple(state.claims))
