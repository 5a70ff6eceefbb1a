"""Predicates on how tensors and nodes hang together. Each is total: no graph makes it fail."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sonnx.model.graph import Function, Graph, Node, Opaque, Scope
from sonnx.model.location import Location
from sonnx.model.order import contributing, cycles, given_order, needs
from sonnx.operators.rules.wording import LONGEST_TEXT, written, written_elements
from sonnx.vocabulary.rule import Fault, Shown


def shown_name(name: str) -> str:
    """A tensor's or node's name as evidence shows it, cut where it is long."""
    return f"`{name}`" if len(name) <= LONGEST_TEXT else f"`{name[:LONGEST_TEXT]}...`"


def no_axes(shown: str) -> str:
    """What to do about an input that has not even a number of axes, so that no axis can be given."""
    said = f"the model does not say how many axes {shown} has: write its shape in the model"
    return f"{said}; `sonnx run --normalize` takes it from the array"


def function_location(graph: Graph, function: Function) -> Location:
    """Locate a function of the model."""
    return Location("function", function.name, operator=function.domain, file=graph.source)


def _definitions(scope: Scope) -> Iterator[tuple[str, Location, str]]:
    """Every place that defines a tensor: its name, where, and what it is there."""
    inputs = set(scope.inputs)
    for name in scope.inputs:
        yield name, scope.at("input", name), "input"
    # A constant that an input also names is the input's default, which has a rule of its own.
    for name in scope.constants:
        if name not in inputs:
            yield name, scope.at("initializer", name), "initializer"
    for index, node in enumerate(scope.nodes):
        for name in node.outputs:
            if name:
                yield name, scope.node_location(index), f"output of node {index}"


def defined_once(graph: Graph) -> Iterator[Fault]:
    """No tensor is defined a second time, and no output is listed a second time."""
    for scope in graph.scopes:
        first: dict[str, str] = {}
        for name, location, role in _definitions(scope):
            if name in first:
                values = (Shown(shown_name(name), role), Shown("defined before", first[name]))
                yield Fault(location, values, "rename one of the two, and its uses")
            first.setdefault(name, role)
        for name, times in Counter(scope.outputs).items():
            if times > 1:
                listed = (Shown(shown_name(name), "output", f"listed {times} times"),)
                yield Fault(scope.at("output", name), listed, "list every output once")
        yield from _repeated_defaults(scope)


def _repeated_defaults(scope: Scope) -> Iterator[Fault]:
    inputs = set(scope.inputs)
    for name, times in Counter(scope.constants).items():
        if times > 1 and name in inputs:
            values = (Shown(shown_name(name), "initializer", f"written {times} times"),)
            yield Fault(scope.at("initializer", name), values, "write every initializer once")


def acyclic(graph: Graph) -> Iterator[Fault]:
    """No node needs its own output, not even through others."""
    for scope in graph.scopes:
        for cycle in cycles(scope.nodes):
            pairs = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
            values = (
                Shown("nodes", written(cycle), "each needs the one before, the first the last"),
                Shown("tensors", written_elements([_between(scope, *pair) for pair in pairs])),
            )
            yield Fault(scope.node_location(min(cycle)), values, "take one of these inputs from elsewhere")


def _between(scope: Scope, maker: int, taker: int) -> str:
    """The tensor that one node of a cycle makes and the next one takes."""
    taken = set(scope.nodes[taker].inputs) - {""}
    return next(name for name in scope.nodes[maker].outputs if name in taken)


def inputs_defined(graph: Graph) -> Iterator[Fault]:
    """Whatever is taken is made somewhere, and the graph gives something."""
    for scope in graph.scopes:
        known = {name for name, _, _ in _definitions(scope)}
        for index, node in enumerate(scope.nodes):
            for name in dict.fromkeys(node.inputs):
                if name and name not in known:
                    values = (Shown(shown_name(name), "not defined"),)
                    advice = "correct the name, or add the tensor to the model"
                    yield Fault(scope.node_location(index), values, advice)
        for name in dict.fromkeys(scope.outputs):
            if name and name not in known:
                values = (Shown(shown_name(name), "not defined"),)
                yield Fault(scope.at("output", name), values, "name a tensor that the model makes")
        if not scope.outputs:
            advice = "name the tensors that the model is there to compute"
            yield Fault(scope.location, (Shown("outputs", "none"),), advice)


def nodes_used(graph: Graph) -> Iterator[Fault]:
    """Every node contributes to an output; a graph without outputs has a rule of its own."""
    for scope in graph.scopes:
        alive = contributing([*map(_with_captured, scope.nodes)], scope.outputs)
        for index, node in enumerate(scope.nodes if scope.outputs else ()):
            if index not in alive:
                made = written_elements(node.outputs) or "none"
                advice = "remove the node (`sonnx normalize` does), or use it"
                shown = (Shown("outputs", made, "nothing depends on it"),)
                yield Fault(scope.node_location(index), shown, advice)


def _with_captured(node: Node) -> Node:
    """A node that takes what the graphs inside of it take."""
    captured = {
        name for value in node.attributes.values() if isinstance(value, Opaque) for name in value.taken
    }
    return replace(node, inputs=(*node.inputs, *sorted(captured))) if captured else node


def nodes_sorted(graph: Graph) -> Iterator[Fault]:
    """Nodes stand after the nodes they need; on cycles the rule on cycles speaks."""
    for scope in graph.scopes:
        needed = needs(scope.nodes)
        executable = set(given_order(scope.nodes))
        for index in sorted(executable):
            later = sorted(other for other in needed[index] if other > index)
            if later:
                values = (Shown("needs nodes", written(later), "listed later"),)
                yield Fault(scope.node_location(index), values, "sort the nodes (`sonnx normalize` does)")


def node_names_unique(graph: Graph) -> Iterator[Fault]:
    """No two nodes have one name; a node may have none."""
    for scope in graph.scopes:
        first: dict[str, int] = {}
        for index, node in enumerate(scope.nodes):
            if node.name and node.name in first:
                values = (Shown("name", shown_name(node.name), f"also that of node {first[node.name]}"),)
                advice = "rename one of the nodes, or leave it unnamed"
                yield Fault(scope.node_location(index), values, advice)
            first.setdefault(node.name, index)


def names_printable(graph: Graph) -> Iterator[Fault]:
    """Names can be printed, and what is spoken of by name has one."""
    for name, location, role in _names(graph):
        if not name or not name.isprintable():
            note = "unprintable" if name else "empty"
            shown = (Shown(role, ascii(name[:LONGEST_TEXT]), note),)
            yield Fault(location, shown, "give it a name of printable characters")


def _names(graph: Graph) -> Iterator[tuple[str, Location, str]]:
    """Every name that must not be empty, and those of the others that are not."""
    for scope in graph.scopes:
        yield from _definitions(scope)
        yield from ((name, scope.at("output", name), "output") for name in scope.outputs if not name)
        for domain, _ in scope.opsets:
            yield domain or "ai.onnx", scope.location, "operator set"
        for index, node in enumerate(scope.nodes):
            location = scope.node_location(index)
            yield node.operator, location, "operator"
            for name, role in ((node.name, "node"), (node.domain, "domain"), (node.overload, "overload")):
                if name:
                    yield name, location, role
            yield from ((name, location, "attribute") for name in node.attributes)
    if graph.name:
        yield graph.name, graph.location, "graph"
    for function in graph.functions:
        location = function_location(graph, function)
        yield function.name, location, "function"
        yield from ((name, location, "attribute") for name in (*function.attributes, *function.defaults))
        yield from ((name, location, "domain") for name in (function.domain, function.overload) if name)
