"""Changes to how nodes and tensors hang together: functions, constants, order, what nobody uses."""

from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Graph, Node
from sonnx.model.inline import flatten
from sonnx.model.location import Location
from sonnx.model.order import contributing, given_order
from sonnx.model.tensor_type import TensorType
from sonnx.normalize.changes import Change, fresh, listed
from sonnx.numeric.arrays import numpy_dtype

Changed = tuple[Graph, list[Change]]

# The first version of ONNX's format in which an initializer need not be an input as well.
_FREE_INITIALIZERS = 4


def inline_functions(graph: Graph) -> Changed:
    """Replace calls of functions by their bodies."""
    if not graph.functions:
        return graph, []
    flat = flatten(graph)
    taken = {location.name for location in flat.locations if location.inside is None}
    nodes = [
        node
        if location.inside is None
        else replace(node, name=fresh(_node_name(location), taken), origin=location)
        for node, location in zip(flat.graph.nodes, flat.locations, strict=True)
    ]
    used = {node.domain for node in nodes} | {""}
    functions = {function.key for function in graph.functions}
    changes = [
        Change(
            graph.scope.node_location(index),
            f"replaced the call by the body of the function `{node.operator}`",
            "executing a function is executing its body",
            "D-GRAPH-3",
        )
        for index, node in enumerate(graph.nodes)
        if node.function in functions
    ]
    if not changes:
        what = f"removed {listed(function.name for function in graph.functions)}"
        changes.append(Change(graph.location, what, "no node calls these functions", "graph.D4"))
    opsets = tuple(entry for entry in graph.opsets if entry[0] in used)
    return replace(flat.graph, nodes=tuple(nodes), opsets=opsets), changes


def _node_name(location: Location) -> str:
    return "/".join(part.name or f"{part.operator}{part.index}" for part in location.path)


def constants_to_initializers(graph: Graph) -> Changed:
    """Make every Constant node whose value is a plain tensor an initializer."""
    nodes, constants, changes = [], list(graph.constants), []
    for index, node in enumerate(graph.nodes):
        constant = _constant(node)
        if constant is None:
            nodes.append(node)
            continue
        constants.append(constant)
        changes.append(
            Change(
                graph.scope.node_location(index),
                f"made its output `{constant.name}` an initializer",
                "a constant is data of the model, not a computation",
                "graph.D6",
            )
        )
    return replace(graph, nodes=tuple(nodes), constants=tuple(constants)), changes


# How each attribute of Constant holds elements; the last is the rank.
_CONSTANTS = {
    "value_float": (DType.FLOAT, 0),
    "value_floats": (DType.FLOAT, 1),
    "value_int": (DType.INT64, 0),
    "value_ints": (DType.INT64, 1),
    "value_string": (DType.STRING, 0),
    "value_strings": (DType.STRING, 1),
}


def _constant(node: Node) -> Constant | None:
    if node.operator != "Constant" or node.domain or node.repeated or len(node.outputs) != 1:
        return None
    if len(node.attributes) != 1 or node.inputs or not node.outputs[0]:
        return None
    ((name, value),) = node.attributes.items()
    if isinstance(value, Constant):
        return replace(value, name=node.outputs[0]) if name == "value" and value.data is not None else None
    return _listed_constant(node.outputs[0], name, value)


def _listed_constant(output: str, name: str, value: Any) -> Constant | None:
    dtype, rank = _CONSTANTS.get(name, (None, 0))
    kinds: dict[DType, type] = {DType.FLOAT: float, DType.INT64: int, DType.STRING: str}
    elements = value if isinstance(value, tuple) else (value,)
    if dtype is None or isinstance(value, tuple) != (rank == 1):
        return None
    if not all(isinstance(element, kinds[dtype]) for element in elements):
        return None
    data = np.empty(len(elements), numpy_dtype(dtype))
    data[:] = elements
    shaped = data if rank else data.reshape(())
    return Constant(output, TensorType(dtype, shaped.shape), shaped)


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
    alive = contributing(graph.nodes, [value.name for value in graph.outputs])
    changes = [
        Change(graph.scope.node_location(index), "removed the node", "no output depends on it", "graph.D4")
        for index in range(len(graph.nodes))
        if index not in alive
    ]
    nodes = tuple(node for index, node in enumerate(graph.nodes) if index in alive)
    taken = {name for node in nodes for name in node.inputs}
    taken |= {value.name for value in (*graph.inputs, *graph.outputs)}
    idle = [constant.name for constant in graph.constants if constant.name not in taken]
    if idle:
        what = f"removed the initializers {listed(idle)}"
        changes.append(Change(graph.location, what, "no node takes them", "graph.D4"))
    kept = taken | {name for node in nodes for name in node.outputs}
    return (
        replace(
            graph,
            nodes=nodes,
            constants=tuple(constant for constant in graph.constants if constant.name in taken),
            values=tuple(value for value in graph.values if value.name in kept),
        ),
        changes,
    )


def drop_formal_inputs(graph: Graph) -> Changed:
    """Take initializers out of the inputs, in files so old that their format demanded to list them there.

    In newer files such an input has a default value on purpose, and taking it away would change the model.
    """
    if graph.ir_version >= _FREE_INITIALIZERS:
        return graph, []
    constants = {constant.name for constant in graph.constants}
    formal = [value.name for value in graph.inputs if value.name in constants]
    if not formal:
        return graph, []
    change = Change(
        graph.location,
        f"took the initializers {listed(formal)} out of the inputs",
        f"version {graph.ir_version} of ONNX's format demanded to list them there",
        "graph.D10",
    )
    inputs = tuple(value for value in graph.inputs if value.name not in constants)
    return replace(graph, inputs=inputs, ir_version=_FREE_INITIALIZERS), [change]
