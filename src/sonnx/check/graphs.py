"""Check a whole model: the rules on graphs, on each tensor, and on each node."""

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, islice
from typing import Any

from sonnx.check.calls import check_node_call
from sonnx.model.call import Call
from sonnx.model.graph import Graph, Node
from sonnx.model.inline import Flat, flatten
from sonnx.model.location import Location
from sonnx.model.operator import Operand, Operator
from sonnx.model.rule import Finding, Rule
from sonnx.model.tensor_type import TensorType
from sonnx.operators import GENERAL_RULES, GRAPH_RULES, NODE_OPERATORS
from sonnx.operators.shared.predicates import MOST_AXES

_UNTYPED = TensorType(None, None)
# Where these are broken, functions cannot be replaced by their bodies.
_NOT_TO_BE_INLINED = {"graph.D12", "graph.D14"}
# The general rules that speak of tensors, and what to do about a tensor of a model.
_TENSOR_HELP = {
    "general.R2": "write the type; `sonnx normalize` infers it",
    "general.R3": "convert it in the model that exports it",
    "general.R4": "make the tensor dense",
}
_OPEN_INPUT = "write the sizes; `sonnx normalize --dim NAME=SIZE` fixes open ones"
_TENSOR_RULES = tuple(rule for rule in GENERAL_RULES if rule.identifier in _TENSOR_HELP)


# Nobody reads more, and a small hostile file could ask for more than the memory holds.
MOST_FINDINGS = 10_000


def check_graph(graph: Graph) -> tuple[Finding, ...]:
    """List every rule that a model breaks, at every place where it does; the first 10,000 of them."""
    findings = list(islice(_graph_findings(graph), MOST_FINDINGS))
    if not broken_graph_rules(graph, _NOT_TO_BE_INLINED):
        flat = flatten(graph)
        rest = chain(_tensor_findings(flat), _node_findings(flat))
        findings += islice(rest, MOST_FINDINGS - len(findings))
    return tuple(findings)


def broken_graph_rules(graph: Graph, among: Set[str]) -> set[str]:
    """Those of the given rules on graphs that a model breaks, however many findings there are."""
    asked = (rule for rule in GRAPH_RULES if rule.identifier in among)
    return {rule.identifier for rule in asked if any(True for _ in rule.predicate(graph))}


def _graph_findings(graph: Graph) -> Iterator[Finding]:
    for rule in GRAPH_RULES:
        for fault in rule.predicate(graph):
            operator = fault.location.operator if fault.location.kind == "node" else ""
            yield Finding(
                rule.identifier, rule.statement, operator, fault.values, fault.help, rule.page, fault.location
            )


def _tensor_findings(flat: Flat) -> Iterator[Finding]:
    """Each tensor once, however many nodes use it."""
    graph = flat.graph
    users = _users(graph.nodes)
    for name, location in _tensors(flat):
        kind = graph.types.get(name, _UNTYPED)
        # Where alone has a rule of its own on sparse tensors; the general one leaves it to that.
        operators = users.get(name, set())
        call = Call("Where" if operators == {"Where"} else "", {name: kind})
        for rule in _TENSOR_RULES:
            yield from _tensor_finding(rule, call, location)


def _tensor_finding(rule: Rule, call: Call, location: Location) -> Iterator[Finding]:
    broken = rule.predicate(call)
    if broken is not None:
        of_input = location.kind == "input" and rule.identifier == "general.R2"
        advice = _OPEN_INPUT if of_input else _TENSOR_HELP[rule.identifier]
        yield Finding(rule.identifier, rule.statement, "", broken.values, advice, rule.page, location)


def _users(nodes: Iterable[Node]) -> Mapping[str, set[str]]:
    users: dict[str, set[str]] = {}
    for node in nodes:
        for name in (*node.inputs, *node.outputs):
            users.setdefault(name, set()).add(node.operator)
    return users


def _tensors(flat: Flat) -> Iterator[tuple[str, Location]]:
    """Every tensor that is defined, once."""
    graph = flat.graph
    found: dict[str, Location] = {}
    for value in graph.inputs:
        found.setdefault(value.name, Location("input", value.name, file=graph.source))
    for constant in graph.constants:
        found.setdefault(constant.name, Location("initializer", constant.name, file=graph.source))
    for node in graph.nodes:
        for name in node.outputs:
            if name:
                place = flat.tensors.get(name, Location("tensor", name, file=graph.source))
                found.setdefault(name, place)
    yield from found.items()


def _node_findings(flat: Flat) -> Iterator[Finding]:
    for node, location in zip(flat.graph.nodes, flat.locations, strict=True):
        operator = NODE_OPERATORS.get(node.operator) if node.domain == "" else None
        if operator is not None:
            call = node_call(operator, node, flat.graph.types, flat.graph.data)
            yield from check_node_call(operator, call, location)


def node_call(
    operator: Operator, node: Node, types: Mapping[str, TensorType], constant: Mapping[str, Any]
) -> Call:
    """A node as the call that rules look at: types by operand name, and constants that decide shapes."""
    contract = operator.contract
    inputs = _by_operand(contract.inputs, node.inputs, types)
    outputs = _by_operand(contract.outputs, node.outputs, types)
    constants = {}
    for operand, name in zip(contract.inputs, node.inputs, strict=False):
        data = constant.get(name) if operand.constant else None
        # No more elements than rules need to see.
        if data is not None and data.ndim == 1:
            constants[operand.name] = tuple(data[: MOST_AXES + 1].tolist())
    return Call(operator.name, inputs, node.attributes, outputs, constants)


def _by_operand(
    operands: tuple[Operand, ...], names: tuple[str, ...], types: Mapping[str, TensorType]
) -> dict[str, TensorType]:
    """Types by operand name; what the operator does not have goes under its position."""
    labels = [operand.name for operand in operands]
    labels += [f"operand {index}" for index in range(len(labels), len(names))]
    return {label: types.get(name, _UNTYPED) for label, name in zip(labels, names, strict=False) if name}
