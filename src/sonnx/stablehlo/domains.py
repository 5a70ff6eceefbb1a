"""XLA stops at no element: what nodes with a domain are given is handed out, and looked at (D-ALL-11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sonnx.derive.domains import domain_of
from sonnx.derive.evaluate import require_defined
from sonnx.model.graph import Graph, Value
from sonnx.model.location import Location
from sonnx.model.order import given_order
from sonnx.numeric.arrays import Array
from sonnx.operators import node_operator
from sonnx.operators.composing import executable
from sonnx.report.outside import domain_error
from sonnx.vocabulary.operator import Operator, operand_names
from sonnx.vocabulary.outside import OutsideError


@dataclass(frozen=True)
class Look:
    """A node that may have no result: its operator, its tensors by operand, and where it is."""

    operator: Operator
    inputs: Mapping[str, str]
    attributes: Mapping[str, Any]
    location: Location


def looks(graph: Graph) -> tuple[Look, ...]:
    """The nodes of a conforming graph to be looked at, in the order in which definitions are executed."""
    flat = executable(graph)
    found = []
    for number in given_order(flat.graph.nodes):
        node = flat.graph.nodes[number]
        operator = node_operator(node, graph.dialect)
        assert operator is not None  # the graph conforms
        if domain_of(operator) is not None:
            names = operand_names(operator.contract.inputs, len(node.inputs))
            inputs = dict(zip(names, node.inputs, strict=False))
            found.append(Look(operator, inputs, node.attributes, flat.locations[number]))
    return tuple(found)


def handing_out(graph: Graph, asked: tuple[Look, ...]) -> Graph:
    """The graph with more outputs: what these nodes are given, as far as nodes make it."""
    if not asked:
        return graph
    flat = executable(graph).graph
    made = {name for node in flat.nodes for name in node.outputs}
    wanted = dict.fromkeys(name for look in asked for name in look.inputs.values() if name in made)
    there = {value.name for value in flat.outputs}
    more = tuple(Value(name, flat.types[name]) for name in wanted if name not in there)
    return replace(flat, outputs=(*flat.outputs, *more))


def require_all_defined(asked: tuple[Look, ...], tensors: Mapping[str, Array]) -> None:
    """Raise DomainError at the first node that was given an element for which its operator is not defined."""
    for look in asked:
        arrays = {operand: tensors[name] for operand, name in look.inputs.items()}
        try:
            require_defined(look.operator, arrays, look.attributes)
        except OutsideError as error:
            raise domain_error(error.outside, look.location) from None
