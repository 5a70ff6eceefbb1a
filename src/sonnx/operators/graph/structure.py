"""Predicates on how tensors and nodes hang together. Each is total: no graph makes it fail."""

from collections import Counter
from collections.abc import Iterator

from sonnx.model.graph import Graph, Scope
from sonnx.model.location import Location
from sonnx.model.order import a_cycle, contributing, given_order, needs
from sonnx.model.rule import Fault, Shown
from sonnx.operators.shared.predicates import written, written_elements


def _shown_name(name: str) -> str:
    return f"`{name}`"


def _definitions(scope: Scope) -> Iterator[tuple[str, Location, str]]:
    """Every place that defines a tensor: its name, where, and what it is there."""
    for name in scope.inputs:
        yield name, scope.at("input", name), "input"
    # A constant that an input also names is the input's default, which has a rule of its own.
    for name in scope.constants:
        if name not in scope.inputs:
            yield name, scope.at("initializer", name), "initializer"
    for index, node in enumerate(scope.nodes):
        for name in node.outputs:
            if name:
                yield name, scope.node_location(index), f"output of node {index}"


def defined_once(graph: Graph) -> Iterator[Fault]:
    """No tensor is defined a second time, and no output is listed a second time."""
    for scope in graph.scopes():
        first: dict[str, str] = {}
        for name, location, role in _definitions(scope):
            if name in first:
                values = (Shown(_shown_name(name), role), Shown("defined before", first[name]))
                yield Fault(location, values, "rename one of the two, and its uses")
            first.setdefault(name, role)
        for name, times in Counter(scope.outputs).items():
            if times > 1:
                listed = (Shown(_shown_name(name), "output", f"listed {times} times"),)
                yield Fault(scope.at("output", name), listed, "list every output once")
        yield from _repeated_constants(scope)


def _repeated_constants(scope: Scope) -> Iterator[Fault]:
    for name, times in Counter(scope.constants).items():
        if times > 1 and name in scope.inputs:
            values = (Shown(_shown_name(name), "initializer", f"written {times} times"),)
            yield Fault(scope.at("initializer", name), values, "write every initializer once")


def acyclic(graph: Graph) -> Iterator[Fault]:
    """No node needs its own output, not even through others."""
    for scope in graph.scopes():
        cycle = a_cycle(scope.nodes)
        if cycle:
            made = [next(name for name in scope.nodes[index].outputs if name) for index in cycle]
            values = (
                Shown("nodes", written(cycle), "each needs the one before, the first the last"),
                Shown("tensors", written_elements(made)),
            )
            yield Fault(scope.node_location(min(cycle)), values, "take one of these inputs from elsewhere")


def inputs_defined(graph: Graph) -> Iterator[Fault]:
    """Whatever is taken is made somewhere, and the graph gives something."""
    for scope in graph.scopes():
        known = {name for name, _, _ in _definitions(scope)} | set(scope.inputs)
        for index, node in enumerate(scope.nodes):
            for name in dict.fromkeys(node.inputs):
                if name and name not in known:
                    values = (Shown(_shown_name(name), "not defined"),)
                    yield Fault(
                        scope.node_location(index), values, "correct the name, or add the tensor to the model"
                    )
        for name in dict.fromkeys(scope.outputs):
            if name not in known:
                values = (Shown(_shown_name(name), "not defined"),)
                yield Fault(scope.at("output", name), values, "name a tensor that the model makes")
        if not scope.outputs:
            advice = "name the tensors that the model is there to compute"
            yield Fault(scope.location, (Shown("outputs", "none"),), advice)


def nodes_used(graph: Graph) -> Iterator[Fault]:
    """Every node contributes to an output."""
    for scope in graph.scopes():
        if not scope.outputs:
            continue
        alive = contributing(scope.nodes, scope.outputs)
        for index, node in enumerate(scope.nodes):
            if index not in alive:
                values = (Shown("outputs", written_elements(node.outputs) or "none", "nothing depends on it"),)
                yield Fault(
                    scope.node_location(index), values, "remove the node (`sonnx normalize` does), or use it"
                )


def nodes_sorted(graph: Graph) -> Iterator[Fault]:
    """Nodes stand after the nodes they need; on cycles the rule on cycles speaks."""
    for scope in graph.scopes():
        needed = needs(scope.nodes)
        executable = set(given_order(scope.nodes))
        for index in sorted(executable):
            later = sorted(other for other in needed[index] if other > index)
            if later:
                values = (Shown("needs nodes", written(later), "listed later"),)
                yield Fault(
                    scope.node_location(index), values, "sort the nodes (`sonnx normalize` does)"
                )


def node_names_unique(graph: Graph) -> Iterator[Fault]:
    """No two nodes have one name; a node may have none."""
    for scope in graph.scopes():
        first: dict[str, int] = {}
        for index, node in enumerate(scope.nodes):
            if node.name and node.name in first:
                values = (Shown("name", _shown_name(node.name), f"also that of node {first[node.name]}"),)
                yield Fault(scope.node_location(index), values, "rename one of the nodes, or leave it unnamed")
            first.setdefault(node.name, index)


def names_printable(graph: Graph) -> Iterator[Fault]:
    """Names can be printed, and a tensor has one."""
    for scope in graph.scopes():
        for name, location, role in _definitions(scope):
            if not name or not name.isprintable():
                yield _bad_name(location, name, role)
        for index, node in enumerate(scope.nodes):
            for name, role in ((node.name, "node"), (node.operator, "operator"), (node.domain, "domain")):
                if not name.isprintable() or (role == "operator" and not name):
                    yield _bad_name(scope.node_location(index), name, role)
            for name in node.attributes:
                if not name or not name.isprintable():
                    yield _bad_name(scope.node_location(index), name, "attribute")
        for name in scope.outputs:
            if not name:
                yield _bad_name(scope.at("output"), name, "output")
    for function in graph.functions:
        if not function.name or not (function.name + function.domain).isprintable():
            yield _bad_name(Location("function", function.name, file=graph.source), function.name, "function")


def _bad_name(location: Location, name: str, role: str) -> Fault:
    note = "unprintable" if name else "empty"
    return Fault(location, (Shown(role, ascii(name)[:80], note),), "give it a name of printable characters")
