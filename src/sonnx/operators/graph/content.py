"""Predicates on what a model holds: operators, versions, functions, data. Each is total."""

from collections import Counter
from collections.abc import Iterator
from math import prod

from sonnx.model.graph import Function, Graph, Node, Opaque, Scope
from sonnx.model.inline import DEEPEST_CALL, MOST_NODES, inlined_size, recursive
from sonnx.model.location import Location
from sonnx.model.rule import Fault, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.catalogue import NODE_OPERATORS
from sonnx.operators.shared.predicates import MOST_AXES, MOST_ELEMENTS, written_elements

OLDEST_OPSET = 13
_OLDEST_IR = 3
RANDOM = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
_TRAINING = "ai.onnx.preview.training"


def _has_subgraph(node: Node) -> bool:
    return any(isinstance(value, Opaque) and value.kind in ("graph", "graphs") for value in node.attributes.values())


def _is_random(node: Node) -> bool:
    return (node.domain == "" and node.operator in RANDOM) or node.domain == _TRAINING


def _nodes(graph: Graph) -> Iterator[tuple[Scope, Location, Node]]:
    """Every node that calls no function of the model."""
    functions = {function.key for function in graph.functions}
    for scope in graph.scopes():
        for index, node in enumerate(scope.nodes):
            if node.function not in functions:
                yield scope, scope.node_location(index), node


def operators_known(graph: Graph) -> Iterator[Fault]:
    """Every node is an operator of the profile or a function of the model."""
    for _, location, node in _nodes(graph):
        if _is_random(node) or _has_subgraph(node):
            continue  # these have rules of their own
        if node.domain == "" and node.operator in NODE_OPERATORS:
            continue
        name = f"{node.domain}.{node.operator}" if node.domain else node.operator
        known = ", ".join(NODE_OPERATORS)
        if name == "Constant":
            advice = "make it an initializer; `sonnx normalize` does"
        else:
            advice = f"express it with the operators of the profile: {known}"
        yield Fault(location, (Shown("operator", name),), advice)


def deterministic(graph: Graph) -> Iterator[Fault]:
    """No node draws random numbers or keeps a state."""
    for _, location, node in _nodes(graph):
        if _is_random(node):
            values = (Shown("operator", node.operator, "random, or with a state"),)
            yield Fault(location, values, "remove it, for example by exporting the model for inference")


def no_subgraphs(graph: Graph) -> Iterator[Fault]:
    """No attribute of a node is a graph."""
    for _, location, node in _nodes(graph):
        if _has_subgraph(node) and not _is_random(node):
            held = [name for name, value in node.attributes.items() if isinstance(value, Opaque)]
            values = (Shown("attributes", written_elements(held), "graphs"),)
            yield Fault(location, values, "write its branches or repetitions out as nodes of the graph")


def attributes_once(graph: Graph) -> Iterator[Fault]:
    """No attribute is written twice at a node."""
    for scope in graph.scopes():
        for index, node in enumerate(scope.nodes):
            for name in node.repeated:
                values = (Shown(name, "written more than once"),)
                yield Fault(scope.node_location(index), values, "keep the one that is meant")


def versions_known(graph: Graph) -> Iterator[Fault]:
    """Each operator's version follows from the model and is one that the profile covers."""
    if graph.ir_version < _OLDEST_IR:
        shown = (Shown("ir_version", str(graph.ir_version)),)
        yield Fault(graph.location, shown, f"write the version of ONNX's format, {_OLDEST_IR} or later")
    functions = {function.key for function in graph.functions}
    for scope in graph.scopes():
        imported = Counter(domain for domain, _ in scope.opsets)
        used = {node.domain for node in scope.nodes if node.function not in functions}
        for domain in sorted(used | {domain for domain, times in imported.items() if times > 1}):
            if imported[domain] != 1:
                label = domain or "ai.onnx"
                advice = "import every operator set once, in one version"
                yield Fault(scope.location, (Shown(label, f"imported {imported[domain]} times"),), advice)
        if imported[""] == 1:
            yield from _covered(scope)


def _covered(scope: Scope) -> Iterator[Fault]:
    opset = dict(scope.opsets)[""]
    if opset < OLDEST_OPSET:
        shown = (Shown("ai.onnx", f"version {opset}"),)
        advice = f"convert the model to operator set {OLDEST_OPSET} or later (onnx.version_converter)"
        yield Fault(scope.location, shown, advice)
        return
    for index, node in enumerate(scope.nodes):
        op = NODE_OPERATORS.get(node.operator) if node.domain == "" else None
        if op is not None and node.version not in op.contract.versions:
            known = " and ".join(map(str, op.contract.versions))
            version = "unknown" if node.version is None else str(node.version)
            values = (Shown("version", version, f"of {op.name} in operator set {opset}"),)
            yield Fault(
                scope.node_location(index), values, f"use an operator set with version {known} of {op.name}"
            )


def no_defaults(graph: Graph) -> Iterator[Fault]:
    """No input of the graph has a value when nobody gives one, nor has an attribute of a function."""
    constants = {constant.name for constant in graph.constants}
    for value in graph.inputs:
        if value.name in constants:
            shown = (Shown(f"`{value.name}`", "input", "and initializer"),)
            advice = "take it out of the inputs where it is a constant, else out of the initializers"
            yield Fault(Location("input", value.name, file=graph.source), shown, advice)
    for function in graph.functions:
        if function.defaults:
            shown = (Shown("attributes", written_elements(list(function.defaults)), "with a default"),)
            advice = "let every call give the attribute; `sonnx normalize` inlines functions"
            yield Fault(Location("function", function.name, file=graph.source), shown, advice)


def types_agree(graph: Graph) -> Iterator[Fault]:
    """What is written of one tensor in several places is the same."""
    first: dict[str, tuple[TensorType, Location]] = {}
    for name, written, location in graph.declarations():
        if name not in first:
            first[name] = written, location
        elif not _agree(first[name][0], written):
            before, place = first[name]
            values = (Shown(place.kind, str(before)), Shown(location.kind, str(written)))
            yield Fault(location, values, "write the tensor's type once, or alike")


def _agree(one: TensorType, other: TensorType) -> bool:
    pairs = (
        (one.dtype, other.dtype),
        (one.foreign, other.foreign),
        (one.shape, other.shape),
        (one.denotation, other.denotation),
    )
    return one.sparse == other.sparse and all(a is None or b is None or a == b for a, b in pairs)


def no_recursion(graph: Graph) -> Iterator[Fault]:
    """No function calls itself, not even through others."""
    circle = recursive(graph)
    if circle:
        names = " → ".join(function.name for function in (*circle, circle[0]))
        location = Location("function", circle[0].name, file=graph.source)
        yield Fault(location, (Shown("calls", names[:200]),), "write the repetition out")


def functions_well_formed(graph: Graph) -> Iterator[Fault]:
    """Functions have names of their own, make their outputs, and are called as they are written."""
    seen: dict[tuple[str, str, str], Function] = {}
    for function in graph.functions:
        here = Location("function", function.name, operator=function.domain, file=graph.source)
        if function.key in seen:
            yield Fault(here, (Shown("function", function.name, "defined before"),), "define it once")
        if function.domain == "":
            shown = (Shown("domain", "ai.onnx", "ONNX's own"),)
            yield Fault(here, shown, "give the function a domain of your own")
        made = {name for node in function.nodes for name in node.outputs if name}
        for name in function.outputs:
            if name in function.inputs or name not in made:
                shown = (Shown(f"`{name}`", "output", "made by no node of the function"),)
                yield Fault(here, shown, "let a node of the function make it")
        seen.setdefault(function.key, function)
    for scope in graph.scopes():
        for index, node in enumerate(scope.nodes):
            if node.function in seen:
                yield from _call_fits(scope.node_location(index), node, seen[node.function])


def _call_fits(location: Location, node: Node, function: Function) -> Iterator[Fault]:
    for what, given, taken in (
        ("inputs", node.inputs, function.inputs),
        ("outputs", node.outputs, function.outputs),
    ):
        if len(given) > len(taken):
            shown = (Shown(what, str(len(given)), f"{function.name} has {len(taken)}"),)
            yield Fault(location, shown, f"give no more {what} than the function has")
    known = {*function.attributes, *function.defaults}
    wrong = [f"{name} unknown" for name in node.attributes if name not in known]
    wrong += [f"{name} missing" for name in function.attributes if name not in node.attributes]
    if wrong:
        shown = (Shown("attributes", ", ".join(wrong)[:200]),)
        yield Fault(location, shown, "give exactly the attributes that the function has")


def size_bounded(graph: Graph) -> Iterator[Fault]:
    """Inlined, the graph stays of a size that can be judged."""
    if recursive(graph):
        return
    size, depth = inlined_size(graph)
    if size > MOST_NODES or depth > DEEPEST_CALL:
        shown = (
            Shown("nodes", str(size) if size <= MOST_NODES else "more", f"at most {MOST_NODES}"),
            Shown("calls in calls", str(depth), f"at most {DEEPEST_CALL}"),
        )
        yield Fault(graph.location, shown, "use fewer, or flatter, functions")


def data_readable(graph: Graph) -> Iterator[Fault]:
    """The elements of every initializer are there, as many as its shape says."""
    for constant in graph.constants:
        if constant.problem:
            location = Location("initializer", constant.name, file=graph.source)
            shown = (Shown(f"`{constant.name}`", str(constant.type)), Shown("problem", constant.problem))
            yield Fault(location, shown, "write the elements anew, in the model or in a file beside it")


def tensors_small(graph: Graph) -> Iterator[Fault]:
    """What the model takes and holds can be addressed; what operators make has rules at the operators."""
    held = [(value.name, value.type, "input") for value in graph.inputs]
    held += [(constant.name, constant.type, "initializer") for constant in graph.constants if not constant.problem]
    for name, kind, role in held:
        sizes = kind.sizes
        # A size 0 does not excuse the others: arrays multiply them whether or not there are elements.
        if sizes is not None and (len(sizes) > MOST_AXES or prod(size or 1 for size in sizes) > MOST_ELEMENTS):
            location = Location("input" if role == "input" else "initializer", name, file=graph.source)
            shown = (Shown(f"`{name}`", str(kind)[:200]),)
            yield Fault(location, shown, f"stay below 2^31 elements and at most {MOST_AXES} axes")


def nothing_else(graph: Graph) -> Iterator[Fault]:
    """The file holds no parts that the profile does not have."""
    for part in graph.extras:
        yield Fault(graph.location, (Shown("part", part),), "export the model for inference, without it")
