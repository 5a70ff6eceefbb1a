"""Check a whole model: the rules on graphs, on each tensor, and on each node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice

from sonnx.check.calls import check_node_call
from sonnx.check.causes import Cause, open_input, open_types
from sonnx.check.inference import UNTYPED, amended, constants_outside, inferred_types, node_call
from sonnx.model.graph import Graph
from sonnx.model.inline import Flat, flatten
from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType
from sonnx.operators import GENERAL_RULES, GRAPH_RULES, OPERATORS, node_operator
from sonnx.operators.rules.amending import in_newer_form
from sonnx.operators.shared.expanding import behind
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Finding, Rule

# Where these are broken, functions cannot be replaced by their bodies.
_NOT_TO_BE_INLINED = {"graph.D12", "graph.D14"}
# The general rules that speak of tensors, and what to do about a tensor of a model.
_TENSOR_HELP = {
    "general.R2": "write the type, and elements of it",
    "general.R3": "convert it in the model that exports it",
    "general.R4": "make the tensor dense",
}
_TENSOR_RULES = tuple(rule for rule in GENERAL_RULES if rule.identifier in _TENSOR_HELP)


# Nobody reads more, and a small hostile file could ask for more than the memory holds.
MOST_FINDINGS = 10_000


@dataclass(frozen=True)
class Checked:
    """The first 10,000 findings of a model, and every rule on graphs that it breaks, beyond those too."""

    findings: tuple[Finding, ...]
    broken: frozenset[str]


def check_graph(graph: Graph) -> tuple[Finding, ...]:
    """List every rule that a model breaks, at every place where it does; the first 10,000 of them."""
    return checked(graph).findings


def checked(graph: Graph) -> Checked:
    """The same, with what others ask of it: each rule on graphs is asked once, which may take long."""
    findings, broken = _graph_findings(graph)
    if broken.isdisjoint(_NOT_TO_BE_INLINED):
        flat = flatten(graph)
        rest = chain(_tensor_findings(flat), _node_findings(flat))
        findings += islice(rest, MOST_FINDINGS - len(findings))
    return Checked(tuple(findings), broken)


def _graph_findings(graph: Graph) -> tuple[list[Finding], frozenset[str]]:
    findings: list[Finding] = []
    broken = set()
    for rule in GRAPH_RULES:
        room = MOST_FINDINGS - len(findings)
        # Where there is no room for findings, one fault tells that the rule is broken.
        faults = list(islice(rule.predicate(graph), max(room, 1)))
        broken |= {rule.identifier} if faults else set()
        for fault in faults[:room]:
            operator = fault.location.operator if fault.location.kind == "node" else ""
            findings.append(
                Finding(
                    *(rule.identifier, rule.statement, operator, fault.values, fault.help, rule.page),
                    location=fault.location,
                )
            )
    return findings, frozenset(broken)


def _tensor_findings(flat: Flat) -> Iterator[Finding]:
    """Each tensor once, however many nodes use it."""
    graph = flat.graph
    users = _users(graph)
    causes = open_types(flat)
    for name, location in _tensors(flat):
        kind = graph.types.get(name, UNTYPED)
        call, using = Call("", {name: kind}), users.get(name, set())
        for rule in _TENSOR_RULES:
            broken = rule.predicate(call)
            if broken is not None and not _said_by_all(rule, using):
                cause = _cause(rule, location, kind, causes.get(name))
                yield Finding(
                    rule.identifier,
                    rule.statement,
                    "",
                    broken.values,
                    cause.help,
                    rule.page,
                    location,
                    cause.rule,
                )


def _cause(rule: Rule, location: Location, kind: TensorType, found: Cause | None) -> Cause:
    """What to do about a tensor of a model, and from which rule the finding follows."""
    if rule.identifier == "general.R2" and location.kind == "input":
        return open_input(location.name, kind)
    if rule.identifier == "general.R2" and found is not None:
        return found
    return Cause("", _TENSOR_HELP[rule.identifier])


def _users(graph: Graph) -> Mapping[str, set[str]]:
    """The operators that use each tensor, by name; "" stands for what is none of the profile's."""
    users: dict[str, set[str]] = {}
    for node in graph.nodes:
        operator = node_operator(node, graph.dialect)
        for name in (*node.inputs, *node.outputs):
            users.setdefault(name, set()).add("" if operator is None else operator.name)
    return users


def _said_by_all(rule: Rule, operators: set[str]) -> bool:
    """Tell whether all operators that use a tensor have a rule of their own in place of a general one."""
    instead = {
        op.name for op in OPERATORS if any(own.instead_of == rule.identifier for own in op.contract.rules)
    }
    return bool(operators) and operators <= instead


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
    graph = flat.graph
    types = inferred_types(graph)
    held = dict(graph.data)
    for node, location in zip(graph.nodes, flat.locations, strict=True):
        operator = node_operator(node, graph.dialect)
        if operator is not None:
            call = in_newer_form(operator.contract, node_call(operator, node, types, graph.data))
            met = constants_outside(operator, node, types, held)
            held |= behind(node, held)
            call = replace(call, met=met) if met else call
            found = check_node_call(operator, call, location)
            yield from found
            # What is left out is a finding of its own; the other rules are asked as if it were written.
            explicit = amended(operator, call)
            if explicit is not call:
                said = {finding.rule for finding in found}
                more = check_node_call(operator, explicit, location)
                yield from (finding for finding in more if finding.rule not in said)
