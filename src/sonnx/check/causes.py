"""Why the type of a tensor is open: what normalizing could not infer, and from which finding that follows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from sonnx.check.calls import check_node_call
from sonnx.check.inference import UNTYPED, amended, closed, node_call
from sonnx.model.graph import Graph, Node
from sonnx.model.inline import Flat
from sonnx.model.location import Location
from sonnx.model.order import given_order
from sonnx.model.tensor_type import TensorType
from sonnx.operators import node_operator
from sonnx.operators.graph.content import outside
from sonnx.operators.graph.structure import no_axes, shown_name
from sonnx.operators.rules.operands import alike
from sonnx.operators.shared.constants import held_constant
from sonnx.vocabulary.operator import Operator, operand_names

_OPEN, _UNWRITTEN = "general.R2", "general.R1"
_INFERRED = "write the type; `sonnx normalize` infers it"
_OUTSIDE = "write the type; of what an operator outside the profile makes nobody can infer it"
_BROKEN = "mend what the node breaks that makes it; the type follows from that"
_CYCLE = "mend the cycle first (graph.D2): no type follows from what is never made"


# Names that a shell takes as they are, in quotes; others are spoken of in general.
_PLAIN = re.compile(r"[\w.:/-]{1,60}", re.ASCII)


@dataclass(frozen=True)
class Cause:
    """The rule that another finding breaks, nothing where there is none, and what to do about the type."""

    rule: str
    help: str


# What is open here and follows from nothing else: it is a Clip, say, of typed tensors.
INFERRED = Cause("", _INFERRED)


def size_option(name: str, kind: TensorType) -> str:
    """What `--dim` takes for a size that an input leaves open: its name, or its axis where it has none."""
    unnamed = next((axis for axis, size in enumerate(kind.shape or ()) if size is None), None)
    if unnamed is None:
        return "NAME=SIZE"
    return f"'{name}[{unnamed}]=SIZE'" if _PLAIN.fullmatch(name) else "'INPUT[AXIS]=SIZE'"


def open_input(name: str, kind: TensorType) -> Cause:
    """What to do about an input whose sizes are open."""
    if kind.shape is None:
        return Cause("", no_axes(shown_name(name)))
    option = size_option(name, kind)
    return Cause("", f"write the sizes; `sonnx normalize --dim {option}` fixes open ones")


@dataclass
class _Walk:
    """A graph while its nodes are gone through, as normalizing does."""

    graph: Graph
    types: dict[str, TensorType]
    # Names of sizes that an input leaves open, or that stand for two numbers: they are never replaced.
    undecided: frozenset[str]
    numbers: dict[str, int] = field(default_factory=dict)
    contradicted: set[str] = field(default_factory=set)
    causes: dict[str, Cause] = field(default_factory=dict)


def open_types(flat: Flat) -> Mapping[str, Cause]:
    """The tensors that nodes make whose types are open, and why; `INFERRED` where nothing is amiss."""
    types, inputs = flat.graph.types, flat.graph.inputs
    if all(closed(types.get(name)) for node in flat.graph.nodes for name in node.outputs if name):
        return {}
    names = frozenset(size for value in inputs for size in value.type.shape or () if isinstance(size, str))
    walk = _walked(flat, names)
    if walk.contradicted:
        walk = _walked(flat, names | walk.contradicted)
    return walk.causes


def _walked(flat: Flat, undecided: frozenset[str]) -> _Walk:
    graph = flat.graph
    walk = _Walk(graph, dict(graph.types), undecided)
    refused = {id(node): rule for _, node, rule in outside(graph)}
    order = given_order(graph.nodes)
    for index in order:
        node = graph.nodes[index]
        made = [name for name in node.outputs if name and not closed(walk.types.get(name))]
        operator = node_operator(node, graph.dialect)
        if made and (operator is None or id(node) in refused):
            _refused(walk, node, made, refused[id(node)])
        elif made and operator is not None:
            _follow(walk, operator, node, flat.locations[index])
    for index in set(range(len(graph.nodes))).difference(order):
        walk.causes.update(dict.fromkeys(graph.nodes[index].outputs, Cause("graph.D2", _CYCLE)))
    return walk


def _refused(walk: _Walk, node: Node, made: list[str], rule: str) -> None:
    constant = held_constant(node)
    if constant is not None and closed(constant.type):
        walk.types[constant.name] = constant.type
        walk.causes[constant.name] = Cause(rule, _INFERRED)
    else:
        walk.causes.update(dict.fromkeys(made, Cause(rule, _OUTSIDE)))


def _follow(walk: _Walk, operator: Operator, node: Node, location: Location) -> None:
    """Infer what a node of the profile makes, or say what that fails of."""
    first = next((name for name in node.inputs if name and not closed(walk.types.get(name))), None)
    call = amended(operator, node_call(operator, node, walk.types, walk.graph.data))
    found: Mapping[str, TensorType] = {}
    if first is None and operator.contract.needed <= call.inputs.keys():
        found = operator.contract.output_types(replace(call, outputs={}))
    labels = operand_names(operator.contract.outputs, len(node.outputs))
    for label, name in zip_longest(labels, node.outputs, fillvalue=""):
        if name and not closed(walk.types.get(name)):
            kind = found.get(label, UNTYPED)
            if first is not None:
                walk.causes[name] = _inherited(walk, first)
            elif kind.dtype is None or kind.sizes is None or kind.sparse:
                broken = [finding.rule for finding in check_node_call(operator, call, location)]
                # Attributes that are not written keep no type from following.
                telling = [rule for rule in broken if rule != _UNWRITTEN] or broken
                walk.causes[name] = Cause(telling[0] if telling else _strange(call.inputs), _BROKEN)
            else:
                walk.causes[name] = _written(walk, name, kind)


def _strange(inputs: Mapping[str, TensorType]) -> str:
    """The general rule on an operand from which no type follows, if there is one."""
    if any(kind.sparse for kind in inputs.values()):
        return "general.R4"
    return "general.R3" if any(kind.foreign is not None for kind in inputs.values()) else ""


def _inherited(walk: _Walk, name: str) -> Cause:
    """Why a tensor is open that is made of one that is open itself."""
    shown = shown_name(name)
    before = walk.causes.get(name)
    if before is not None:
        # What is said of the second tensor of a chain holds for all that follow.
        told = {
            _OUTSIDE: f"write the type; it depends on {shown}, whose type nobody can infer",
            _BROKEN: f"mend what the node breaks that makes {shown}; the type follows from that",
        }
        return replace(before, help=told.get(before.help, before.help))
    if any(value.name == name for value in walk.graph.inputs):
        kind = walk.types[name]
        option = f"`sonnx normalize --dim {size_option(name, kind)}`"
        fix = no_axes(shown) if kind.shape is None else f"fix the sizes of {shown} ({option})"
        return Cause(_OPEN, f"{fix}; the type follows from {'that' if kind.shape is None else 'them'}")
    if name in walk.types:
        return Cause(_OPEN, f"write the type of {shown} first; this one follows from it")
    return Cause("graph.D3", f"define {shown} first; the type follows from it")


def _written(walk: _Walk, name: str, found: TensorType) -> Cause:
    """Take what was found for a tensor's type, unless something else is written for it."""
    said = walk.types.get(name, UNTYPED)
    same = not said.sparse and said.foreign is None and said.dtype in (None, found.dtype)
    if not same or (said.extents is not None and not alike(said.extents, found.sizes or ())):
        return Cause("", "write the type that follows from the node; this one contradicts it")
    names = [
        (size, number)
        for size, number in zip(said.shape or (), found.sizes or (), strict=False)
        if isinstance(size, str)
    ]
    kept = next((size for size, _ in names if size in walk.undecided), None)
    if kept is not None:
        return Cause(_OPEN, f"give the size that the model calls {shown_name(kept)} one number")
    walk.contradicted |= {size for size, number in names if walk.numbers.setdefault(size, number) != number}
    walk.types[name] = found
    return INFERRED
