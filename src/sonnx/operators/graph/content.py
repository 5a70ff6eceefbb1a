"""Predicates on what a model holds: operators, versions, functions, data. Each is total."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Reference, Scope
from sonnx.model.inline import DEEPEST_CALL, MOST_NODES, flatten, inlined_size, recursive
from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType
from sonnx.operators.catalogue import node_operator, rewriting
from sonnx.operators.graph.older import OLDEST_WRITTEN_ANEW, kept_old
from sonnx.operators.graph.structure import function_location, shown_name
from sonnx.operators.rules.limits import MOST_AXES, MOST_ELEMENTS
from sonnx.operators.rules.wording import LONGEST_TEXT, written_elements
from sonnx.vocabulary.operator import OLDEST_OPSET
from sonnx.vocabulary.rule import Fault, Shown

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
# What says the same with operators of the profile, where something does.
_IN_ITS_PLACE = {
    "BatchNormalization": "fold it into the weights and bias of the Conv before it, as exporters can",
    "Constant": "make it an initializer; `sonnx normalize` does",
    "Dropout": "take what it passes on from where it comes: for inference it changes nothing",
    "Gemm": "where its operands are the features of one image, write it as a Conv with a 1 by 1 kernel",
    "MatMul": "where its operands are the features of one image, write it as a Conv with a 1 by 1 kernel",
}
_NOTHING = "the profile has nothing in its place: while the model needs it, it cannot conform"
_UNKNOWN_RULE, _RANDOM_RULE, _SUBGRAPH_RULE = "graph.D6", "graph.D7", "graph.D8"
_TRAINING = "ai.onnx.preview.training"
# The version of Dropout from which on it has no `is_test`, and the place of its input `training_mode`.
_NO_IS_TEST, _TRAINING_MODE = 7, 2
_LONGEST_TYPE = 200
# What the kinds of attributes are called in a file of ONNX.
_KINDS_IN_FILES = {
    "float": "float",
    "integer": "int",
    "element type": "int",
    "integers": "ints",
    "text": "string",
}


def _subgraphs(node: Node) -> list[str]:
    held = node.attributes.items()
    return [name for name, value in held if isinstance(value, Opaque) and value.kind in ("graph", "graphs")]


def _is_random(node: Node, constants: Mapping[str, Any]) -> bool:
    if node.domain == _TRAINING:
        return True
    return node.domain == "" and node.operator in RANDOM and not _passes_on(node, constants)


def _passes_on(node: Node, constants: Mapping[str, Any]) -> bool:
    """Tell whether a node is a Dropout for inference, which hands on what it is given.

    Before version 7 the attribute `is_test` says so, from version 12 on a third input that is absent or
    false; in between no Dropout drops anything.
    """
    if node.operator != "Dropout":
        return False
    if node.version is not None and node.version < _NO_IS_TEST:
        return node.attributes.get("is_test") == 1
    training = (*node.inputs, "", "", "")[_TRAINING_MODE]
    known = constants.get(training)
    return training == "" or (known is not None and known.size == 1 and not known.item())


def _constants(graph: Graph, scope: Scope) -> dict[str, Any]:
    """The elements of a scope's constants that nobody can replace, where a node's meaning hangs on them."""
    if not any(node.operator == "Dropout" and len(node.inputs) > _TRAINING_MODE for node in scope.nodes):
        return {}
    found = dict(graph.data) if scope.location.kind == "model" else {}
    for node in scope.nodes:
        value = node.attributes.get("value")
        if node.operator == "Constant" and isinstance(value, Constant) and value.data is not None:
            found.update(dict.fromkeys(node.outputs, value.data))
    return {name: data for name, data in found.items() if name not in scope.inputs}


def _nodes(graph: Graph) -> Iterator[tuple[Location, Node]]:
    """Every node of the graph and its functions."""
    for scope in graph.scopes:
        for index, node in enumerate(scope.nodes):
            yield scope.node_location(index), node


def outside(graph: Graph) -> Iterator[tuple[Location, Node, str]]:
    """Every node that is neither an operator of the profile nor a call, and the rule that refuses it."""
    functions = {function.key for function in graph.functions}
    for scope in graph.scopes:
        constants = _constants(graph, scope)
        for index, node in enumerate(scope.nodes):
            if node.function in functions:
                continue
            if _is_random(node, constants):
                yield scope.node_location(index), node, _RANDOM_RULE
            elif _subgraphs(node):
                yield scope.node_location(index), node, _SUBGRAPH_RULE
            elif node.overload or node_operator(node, graph.dialect) is None:
                yield scope.node_location(index), node, _UNKNOWN_RULE


def operators_known(graph: Graph) -> Iterator[Fault]:
    """Every node is an operator of the profile or a function of the model."""
    for location, node, rule in outside(graph):
        if rule == _UNKNOWN_RULE:  # the others have rules of their own
            name = ".".join(filter(None, (node.domain, node.operator, node.overload)))
            other = rewriting(node, graph.dialect)
            advice = _IN_ITS_PLACE.get(name, _NOTHING) if other is None else other.advice
            yield Fault(location, (Shown("operator", name[:LONGEST_TEXT]),), advice)


def deterministic(graph: Graph) -> Iterator[Fault]:
    """No node draws random numbers or keeps a state."""
    for location, node, rule in outside(graph):
        if rule == _RANDOM_RULE:
            values = (Shown("operator", node.operator[:LONGEST_TEXT], "random, or with a state"),)
            yield Fault(location, values, "remove it, for example by exporting the model for inference")


def no_subgraphs(graph: Graph) -> Iterator[Fault]:
    """No attribute of a node is a graph."""
    for location, node in _nodes(graph):
        held = _subgraphs(node)
        if held:
            values = (Shown("attributes", written_elements(held), "graphs"),)
            yield Fault(location, values, "write its branches or repetitions out as nodes of the graph")


def attributes_once(graph: Graph) -> Iterator[Fault]:
    """No attribute is written twice at a node."""
    for location, node in _nodes(graph):
        for name in node.repeated:
            values = (Shown(shown_name(name), "written more than once, or beside its kind"),)
            yield Fault(location, values, "keep the one that is meant")
    for function in graph.functions:
        for name in function.repeated:
            values = (Shown(shown_name(name), "with more than one default"),)
            yield Fault(function_location(graph, function), values, "keep the one that is meant")


def versions_known(graph: Graph) -> Iterator[Fault]:
    """Each operator's version follows from the model and is one that the profile covers."""
    if graph.ir_version < _OLDEST_IR:
        shown = (Shown("ir_version", str(graph.ir_version)),)
        yield Fault(graph.location, shown, f"write the version of ONNX's format, {_OLDEST_IR} or later")
    for scope in graph.scopes:
        imported = Counter(domain for domain, _ in scope.opsets)
        for domain in sorted({node.domain for node in scope.nodes} | set(imported)):
            if imported[domain] != 1:
                shown = (Shown(shown_name(domain or "ai.onnx"), f"imported {imported[domain]} times"),)
                yield Fault(scope.location, shown, "import every operator set once, in one version")
        if imported[""] == 1:
            yield from _covered(scope, alone=not graph.functions)


def _covered(scope: Scope, *, alone: bool) -> Iterator[Fault]:
    opset = dict(scope.opsets)[""]
    if opset < OLDEST_OPSET:
        shown = (Shown("ai.onnx", f"version {opset}"),)
        yield Fault(scope.location, shown, _newer(scope, opset, alone=alone))
        return
    for index, node in enumerate(scope.nodes):
        op = node_operator(node, "onnx")
        if op is not None and node.version not in op.contract.versions:
            known = " or ".join(map(str, op.contract.versions))
            version = "unknown" if node.version is None else str(node.version)
            values = (Shown("version", version, f"of {op.name} in operator set {opset}"),)
            yield Fault(
                scope.node_location(index), values, f"use an operator set with version {known} of {op.name}"
            )


def _newer(scope: Scope, opset: int, *, alone: bool) -> str:
    """How a model of an old operator set becomes one of a set that the profile covers."""
    convert = f"convert the model to operator set {OLDEST_OPSET} or later (onnx.version_converter)"
    if opset < OLDEST_WRITTEN_ANEW:
        return f"{convert}; sets before {OLDEST_WRITTEN_ANEW} write broadcasting as attributes of operators"
    if not alone:
        return convert
    kept = kept_old(scope.nodes, opset)
    if not kept:
        return f"`sonnx normalize` writes the model with operator set {OLDEST_OPSET}"
    return (
        f"{convert}; `sonnx normalize` does not know what version {opset} means by {written_elements(kept)}"
    )


def no_defaults(graph: Graph) -> Iterator[Fault]:
    """No input of the graph has a value when nobody gives one, nor has an attribute of a function."""
    constants = {constant.name for constant in graph.constants}
    for value in graph.inputs:
        if value.name in constants:
            shown = (Shown(shown_name(value.name), "input", "and initializer"),)
            advice = "take it out of the inputs where it is a constant, else out of the initializers"
            yield Fault(Location("input", value.name, file=graph.source), shown, advice)
    for function in graph.functions:
        if function.defaults:
            shown = (Shown("attributes", written_elements(list(function.defaults)), "with a default"),)
            advice = "let every call give the attribute; `sonnx normalize` inlines functions"
            yield Fault(function_location(graph, function), shown, advice)


def types_agree(graph: Graph) -> Iterator[Fault]:
    """What is written of one tensor in several places is the same."""
    known: dict[str, tuple[TensorType, Location]] = {}
    for name, written, location in _statements(graph):
        before, place = known.setdefault(name, (written, location))
        if not _agree(before, written):
            values = (Shown(place.kind, shown_type(before)), Shown(location.kind, shown_type(written)))
            yield Fault(location, values, "write the tensor's type once, or alike")
        elif before != written:
            known[name] = _together(before, written), place


def _together(one: TensorType, other: TensorType) -> TensorType:
    """All that two statements, which agree, say of a tensor."""
    shape = one.shape if other.shape is None else other.shape
    if one.shape is not None and other.shape is not None:
        pairs = zip(one.shape, other.shape, strict=True)
        shape = tuple(size if isinstance(size, int) or found is None else found for size, found in pairs)
    return TensorType(
        one.dtype or other.dtype,
        shape,
        one.sparse,
        one.denotation or other.denotation,
        one.foreign or other.foreign,
    )


def _statements(graph: Graph) -> Iterator[tuple[str, TensorType, Location]]:
    """Every type that is written for a tensor; what functions write counts where they are called."""
    # Replacing calls by bodies takes long; most functions write types of their own tensors, once.
    if not any(map(_has_claims, graph.functions)) or recursive(graph) or _too_large(*inlined_size(graph)):
        yield from graph.declarations()
        return
    flat = flatten(graph)
    for name, written, location in flat.graph.declarations():
        yield name, written, flat.tensors.get(name, location)
    yield from flat.claims


def _has_claims(function: Function) -> bool:
    """Tell whether a function writes types for what its callers name, or two types for one tensor."""
    names = [value.name for value in function.values]
    return len(set(names)) < len(names) or not {*function.inputs, *function.outputs}.isdisjoint(names)


def _agree(one: TensorType, other: TensorType) -> bool:
    pairs: list[tuple[object, object]] = [
        (one.dtype or one.foreign, other.dtype or other.foreign),
        (one.denotation, other.denotation),
    ]
    if one.shape is not None and other.shape is not None:
        pairs.append((len(one.shape), len(other.shape)))
        pairs.extend(zip(one.shape, other.shape, strict=False))
    # What is left open contradicts nothing; whether it may be open is asked elsewhere.
    return one.sparse == other.sparse and all(a is None or b is None or a == b for a, b in pairs)


def shown_type(written: TensorType) -> str:
    """A type as evidence shows it, cut where it is long: sizes may have names."""
    text = str(written)
    return text if len(text) <= _LONGEST_TYPE else f"{text[:_LONGEST_TYPE]}..."


def no_recursion(graph: Graph) -> Iterator[Fault]:
    """No function calls itself, not even through others."""
    circle = recursive(graph)
    if circle:
        names = written_elements([function.name for function in circle])
        values = (Shown("functions", names, "each is called by the next, the last by the first"),)
        yield Fault(function_location(graph, circle[0]), values, "write the repetition out")


def functions_well_formed(graph: Graph) -> Iterator[Fault]:
    """Functions have names of their own, make their outputs, and are called as they are written."""
    seen: dict[tuple[str, str, str], _Signature] = {}
    for function in graph.functions:
        here = function_location(graph, function)
        if function.key in seen:
            shown = (Shown("function", shown_name(function.name), "defined before"),)
            yield Fault(here, shown, "define it once")
        if function.domain == "":
            shown = (Shown("domain", "ai.onnx", "ONNX's own"),)
            yield Fault(here, shown, "give the function a domain of your own")
        made = {name for node in function.nodes for name in node.outputs} - set(function.inputs)
        for name in dict.fromkeys(function.outputs):
            if name and name not in made:
                shown = (Shown(shown_name(name), "output", "made by no node of the function"),)
                yield Fault(here, shown, "let a node of the function make it")
        known = frozenset((*function.attributes, *function.defaults))
        seen.setdefault(function.key, _Signature(function, known))
    attributes = (frozenset[str](), *(frozenset((*f.attributes, *f.defaults)) for f in graph.functions))
    for scope, names in zip(graph.scopes, attributes, strict=True):
        yield from _references_known(scope, names)
    for location, node in _nodes(graph):
        if node.function in seen:
            yield from _call_fits(location, node, seen[node.function])


def _references_known(scope: Scope, known: frozenset[str]) -> Iterator[Fault]:
    """An attribute may refer to one of its function; outside of functions there is nothing to refer to."""
    for index, node in enumerate(scope.nodes):
        for name, value in node.attributes.items():
            if isinstance(value, Reference) and value.attribute not in known:
                shown = (Shown(shown_name(name), shown_name(value.attribute), "which nobody can give"),)
                yield Fault(scope.node_location(index), shown, "refer to an attribute that the function has")
            elif isinstance(value, Reference) and value.kind != _demanded_kind(node, name, value.kind):
                wanted = _demanded_kind(node, name, value.kind)
                shown = (Shown(shown_name(name), f"a reference of kind {value.kind}", f"needs {wanted}"),)
                yield Fault(scope.node_location(index), shown, f"write the kind {wanted} at the reference")


def _demanded_kind(node: Node, name: str, otherwise: str) -> str:
    """How a file of ONNX calls the kind of an operator's attribute."""
    op = node_operator(node, "onnx")
    kinds = {attribute.name: attribute.kind for attribute in op.contract.attributes} if op else {}
    return _KINDS_IN_FILES.get(kinds.get(name, ""), otherwise)


@dataclass(frozen=True)
class _Signature:
    """A function and the attributes that it knows."""

    function: Function
    known: frozenset[str]


def _call_fits(location: Location, node: Node, signature: _Signature) -> Iterator[Fault]:
    function = signature.function
    for what, given, taken in (
        ("inputs", node.inputs, function.inputs),
        ("outputs", node.outputs, function.outputs),
    ):
        if len(given) > len(taken):
            note = f"{shown_name(function.name)} has {len(taken)}"
            advice = f"give no more {what} than the function has"
            yield Fault(location, (Shown(what, str(len(given)), note),), advice)
    # One that is left out is absent in the body, as in ONNX; rules on the body's operators speak of that.
    unknown = (shown_name(name) for name in node.attributes if name not in signature.known)
    # A few show what is wrong; a call may have very many attributes.
    named = list(islice(unknown, 5))
    if named:
        shown = (Shown("attributes", ", ".join(named), "unknown"),)
        yield Fault(location, shown, "give only attributes that the function has")


def _too_large(size: int, depth: int) -> bool:
    return size > MOST_NODES or depth > DEEPEST_CALL


def size_bounded(graph: Graph) -> Iterator[Fault]:
    """Inlined, the graph stays of a size that can be judged."""
    size, depth = (0, 0) if recursive(graph) else inlined_size(graph)
    if _too_large(size, depth):
        shown = (
            Shown("nodes", str(size) if size <= MOST_NODES else "more", f"at most {MOST_NODES}"),
            Shown("calls in calls", str(depth), f"at most {DEEPEST_CALL}"),
        )
        yield Fault(graph.location, shown, "use fewer, or flatter, functions")


def data_readable(graph: Graph) -> Iterator[Fault]:
    """The elements of every initializer are there, as many as its shape says."""
    for constant in graph.constants:
        problem = constant.problem or _missing(constant)
        # Of one that is too large the rule on that speaks.
        if problem and not _unaddressable(constant.type):
            location = Location("initializer", constant.name, file=graph.source)
            shown = (
                Shown(shown_name(constant.name), shown_type(constant.type)),
                Shown("problem", problem),
            )
            yield Fault(location, shown, "write the elements anew, in the model or in a file beside it")


def _missing(constant: Constant) -> str:
    kind = constant.type
    judged = kind.dtype is None or kind.sizes is None or kind.sparse  # another rule refuses such a type
    return "" if judged or constant.data is not None else "there are no elements"


def tensors_small(graph: Graph) -> Iterator[Fault]:
    """What the model takes and holds can be addressed; what operators make has rules at the operators."""
    held = [(value.type, Location("input", value.name, file=graph.source)) for value in graph.inputs]
    held += [
        (constant.type, Location("initializer", constant.name, file=graph.source))
        for constant in graph.constants
    ]
    for kind, location in held:
        if _unaddressable(kind):
            shown = (Shown(shown_name(location.name), shown_type(kind)),)
            yield Fault(location, shown, f"stay below 2^31 elements and at most {MOST_AXES} axes")


def _unaddressable(kind: TensorType) -> bool:
    # A size 0 does not excuse the others: arrays multiply them whether or not there are elements.
    sizes = [size or 1 for size in kind.sizes or ()]
    return len(sizes) > MOST_AXES or prod(sizes) > MOST_ELEMENTS


def nothing_else(graph: Graph) -> Iterator[Fault]:
    """The file holds no parts that the profile does not have."""
    for part in graph.extras:
        yield Fault(graph.location, (Shown("part", part),), "export the model for inference, without it")
