"""Changes to how nodes and tensors hang together: functions, constants, order, what nobody uses."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sonnx.check.inference import closed
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.inline import Flat, flatten
from sonnx.model.location import Location
from sonnx.model.names import Names
from sonnx.model.order import contributing, given_order
from sonnx.model.tensor_type import TensorType
from sonnx.normalize.changes import Change, listed
from sonnx.normalize.types import less, without_symbols
from sonnx.operators import node_operator
from sonnx.operators.graph.structure import shown_name
from sonnx.operators.shared.constants import held_constant

Changed = tuple[Graph, list[Change]]

# The first version of ONNX's format in which an initializer need not be an input as well.
_FREE_INITIALIZERS = 4


# Names may be as long as a file, and a function may be called very many times.
_LONGEST_PART = 100


def inline_functions(graph: Graph) -> Changed:
    """Replace calls of functions by their bodies; every node is told where the file has it."""
    flat = flatten(graph)
    placed = [
        replace(node, origin=location)
        for node, location in zip(flat.graph.nodes, flat.locations, strict=True)
    ]
    if not graph.functions:
        return replace(graph, nodes=tuple(placed)), []
    names = Names({location.name for location in flat.locations if location.inside is None})
    nodes = tuple(
        node if location.inside is None else replace(node, name=names.fresh(_node_name(location)))
        for node, location in zip(placed, flat.locations, strict=True)
    )
    functions, scope = {function.key for function in graph.functions}, graph.scope
    changes = [
        Change(
            scope.node_location(index),
            f"replaced the call by the body of the function {shown_name(node.operator)}",
            "executing a function is executing its body",
            "D-GRAPH-3",
        )
        for index, node in enumerate(graph.nodes)
        if node.function in functions
    ]
    if not changes:
        what = f"removed {listed(function.name for function in graph.functions)}"
        changes.append(Change(graph.location, what, "no node calls these functions", "graph.D4"))
    called = {part.operator for location in flat.locations for part in location.path}
    opsets = _opsets(graph, nodes, called)
    raised = dict(opsets).get("", 0)
    if "" in dict(graph.opsets) and raised > dict(graph.opsets)[""]:
        what = f"imported operator set {raised} in place of {dict(graph.opsets)['']}"
        why = "a function that is called imports it; what operators mean has not changed in between"
        changes.append(Change(graph.location, what, why, "graph.D9"))
        nodes = tuple(replace(node, version=_version(node, raised)) for node in nodes)
    return replace(flat.graph, nodes=nodes, values=_written_values(graph, flat), opsets=opsets), changes


def _written_values(graph: Graph, flat: Flat) -> tuple[Value, ...]:
    """The types that the graph and its functions write; nothing that could contradict another is dropped."""
    inner = flat.graph.values[len(graph.values) :]
    claims = [without_symbols(Value(name, kind)) for name, kind, _ in flat.claims]
    types = flat.graph.types
    telling = [value for value in claims if not _told(value.type, types.get(value.name))]
    return (*graph.values, *map(without_symbols, inner), *telling)


def _told(said: TensorType, known: TensorType | None) -> bool:
    if known is None or not closed(known):
        return said == TensorType(None, None)
    return less(said, known) and said.denotation in (None, known.denotation)


def _opsets(graph: Graph, nodes: Sequence[Node], called: set[str]) -> tuple[tuple[str, int], ...]:
    """The operator sets without those of the functions, and with those that functions alone import.

    ONNX demands that an operator of a function means the same in the version that the model imports; it need
    not be there yet, nor have all its types, so of several versions the newest is imported.
    """
    used = {node.domain for node in nodes}
    own = {function.domain for function in graph.functions} - used
    kept = {domain: version for domain, version in graph.opsets if domain not in own}
    added: dict[str, int] = {}
    for domain, version in (entry for f in graph.functions if f.name in called for entry in f.opsets):
        if domain in used and version > kept.get(domain, 0):
            added[domain] = max(version, added.get(domain, version))
    return tuple((kept | added).items())


def _version(node: Node, opset: int) -> int | None:
    """The version of a node's operator in an operator set, as far as the profile covers it."""
    op = node_operator(node, "onnx")
    covered = [version for version in op.contract.versions if version <= opset] if op else []
    return covered[-1] if covered else node.version


def _node_name(location: Location) -> str:
    return "/".join(part.name[:_LONGEST_PART] or f"{part.operator}{part.index}" for part in location.path)


def constants_to_initializers(graph: Graph) -> Changed:
    """Make every Constant node whose value is a plain tensor an initializer."""
    nodes, constants, changes, scope = [], list(graph.constants), [], graph.scope
    for index, node in enumerate(graph.nodes):
        constant = held_constant(node)
        if constant is None:
            nodes.append(node)
            continue
        constants.append(constant)
        changes.append(
            Change(
                scope.node_location(index),
                f"made its output {shown_name(constant.name)} an initializer",
                "a constant is data of the model, not a computation",
                "graph.D6",
            )
        )
    return replace(graph, nodes=tuple(nodes), constants=tuple(constants)), changes


def sort_nodes(graph: Graph) -> Changed:
    """List nodes after those they need; a graph with a cycle is left as it is."""
    order = given_order(graph.nodes)
    if len(order) < len(graph.nodes) or order == list(range(len(order))):
        return graph, []
    moved = sum(index != place for place, index in enumerate(order))
    change = Change(
        graph.location,
        f"sorted the nodes; {moved} of {len(order)} moved",
        "every order in which nodes come after what they need gives the same result",
        "graph.D5",
    )
    return replace(graph, nodes=tuple(graph.nodes[index] for index in order)), [change]


def remove_unused(graph: Graph) -> Changed:
    """Remove nodes that no output depends on, then initializers that no node takes."""
    alive, scope = contributing(graph.nodes, [value.name for value in graph.outputs]), graph.scope
    changes = [
        Change(scope.node_location(index), "removed the node", "no output depends on it", "graph.D4")
        for index in range(len(graph.nodes))
        if index not in alive
    ]
    nodes = tuple(node for index, node in enumerate(graph.nodes) if index in alive)
    taken = {name for node in nodes for name in node.inputs}
    taken |= {value.name for value in (*graph.inputs, *graph.outputs)}
    idle = [constant.name for constant in graph.constants if constant.name not in taken]
    if idle:
        what = f"removed the initializers {listed(idle)}"
        changes.append(Change(graph.location, what, "no node takes them", "D-GRAPH-1"))
    made = {name for node in nodes for name in node.outputs}
    gone = {name for node in graph.nodes for name in node.outputs}.union(idle) - made - {""}
    return (
        replace(
            graph,
            nodes=nodes,
            constants=tuple(constant for constant in graph.constants if constant.name in taken),
            values=tuple(value for value in graph.values if value.name not in gone),
        ),
        changes,
    )


def without_formal_inputs(graph: Graph) -> Graph:
    """The model without those inputs that initializers give a value: nobody need give them one."""
    constants = {constant.name for constant in graph.constants}
    inputs = tuple(value for value in graph.inputs if value.name not in constants)
    # An initializer's own type has no place for the names of axes.
    denoted = (
        value for value in graph.inputs if value.name in constants and value.type.denotation is not None
    )
    return replace(graph, inputs=inputs, values=(*graph.values, *denoted))


def drop_formal_inputs(graph: Graph) -> Changed:
    """Take initializers out of the inputs, in files so old that their format demanded to list them there.

    In newer files such an input has a default value on purpose, and taking it away would change the model.
    """
    constants = {constant.name for constant in graph.constants}
    formal = [value for value in graph.inputs if value.name in constants]
    if graph.ir_version >= _FREE_INITIALIZERS or not formal:
        return graph, []
    change = Change(
        graph.location,
        f"took the initializers {listed(value.name for value in formal)} out of the inputs",
        f"version {graph.ir_version} of ONNX's format demanded to list them there",
        "graph.D10",
    )
    return without_formal_inputs(graph), [change]


def free_initializers(graph: Graph) -> Changed:
    """Write the first version of the format that has initializers that are no inputs, if there are any."""
    inputs = {value.name for value in graph.inputs}
    free = any(constant.name not in inputs for constant in graph.constants)
    if graph.ir_version >= _FREE_INITIALIZERS or not free:
        return graph, []
    change = Change(
        graph.location,
        f"wrote version {_FREE_INITIALIZERS} of ONNX's format in place of {graph.ir_version}",
        "the first one in which initializers need not be inputs",
        "graph.D9",
    )
    return replace(graph, ir_version=_FREE_INITIALIZERS), [change]


def write_types_once(graph: Graph) -> Changed:
    """Drop what repeats the written type of a tensor between nodes, word for word."""
    values = tuple(dict.fromkeys(graph.values))
    if len(values) == len(graph.values):
        return graph, []
    names = [value.name for value, times in Counter(graph.values).items() if times > 1]
    what = f"wrote the types of {listed(names)} once"
    change = Change(graph.location, what, "they were written several times, alike", "graph.D11")
    return replace(graph, values=values), [change]
