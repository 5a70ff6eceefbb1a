"""Node by node, in order: what ONNX leaves to defaults is written, and types are inferred."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sonnx.check.inference import closed, node_call
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.location import Location, PlaceKind
from sonnx.model.names import Names
from sonnx.model.tensor_type import TensorType
from sonnx.normalize.changes import Change
from sonnx.normalize.types import Symbols
from sonnx.numeric.arrays import held_type
from sonnx.operators import node_operator
from sonnx.operators import operator as operator_named
from sonnx.operators.graph.content import shown_type
from sonnx.operators.graph.structure import shown_name
from sonnx.operators.rules.amending import amendments
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import ExpandOperand, FillOperand, Operator, WriteAttribute, operand_names

_OPEN = TensorType(None, None)
# The operator that does in a graph what broadcasting does inside others (D-ALL-5).
_EXPAND = "Expand"


# Names may be as long as a file, and new ones are made of them.
_LONGEST_PART = 100


@dataclass
class _Work:
    """A graph while its nodes are gone through."""

    graph: Graph
    types: dict[str, TensorType]
    data: dict[str, Any]
    names: Names
    node_names: Names
    symbols: Symbols
    nodes: list[Node] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    # The tensors whose types were found here.
    inferred: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, graph: Graph, symbols: Symbols) -> "_Work":
        """Start with what the model writes; an input's default is no constant of the model."""
        inputs = {value.name for value in graph.inputs}
        data = {name: data for name, data in graph.data.items() if name not in inputs}
        taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
        taken |= {name for name, _, _ in graph.declarations()}
        node_names = Names({node.name for node in graph.nodes})
        return cls(graph, dict(graph.types), data, Names(taken), node_names, symbols)

    def call(self, operator: Operator, node: Node) -> Call:
        """The node as a call, with what is known by now."""
        return node_call(operator, node, self.types, self.data)

    def add_constant(self, wanted: str, value: Any) -> str:
        """Add an initializer; answers its name."""
        name = self.names.fresh(wanted)
        kind = TensorType(held_type(value), value.shape)
        self.constants.append(Constant(name, kind, value))
        self.types[name], self.data[name] = kind, value
        return name

    def say(self, location: Location, what: str, why: str, rule: str) -> None:
        """Record a change."""
        self.changes.append(Change(location, what, why, rule))


def amend_and_infer(graph: Graph) -> tuple[Graph, list[Change]]:
    """Write what operators leave to defaults, put Expand where operators broadcast, infer and write types."""
    symbols = Symbols.of(graph)
    done = _gone_through(graph, symbols)
    if symbols.contradicted:
        # Such a name is not to be written as a number anywhere, else the contradiction would be lost.
        done = _gone_through(graph, Symbols(symbols.undecided | symbols.contradicted))
    return done


def _gone_through(graph: Graph, symbols: Symbols) -> tuple[Graph, list[Change]]:
    work, scope = _Work.of(graph, symbols), graph.scope
    for index, node in enumerate(graph.nodes):
        location = scope.node_location(index)
        operator = node_operator(node, graph.dialect)
        if operator is None:
            work.nodes.append(node)
        else:
            amended = _amend(work, operator, node, location)
            work.nodes.append(amended)
            _infer(work, operator, amended, location)
    return _finished(work), work.changes


def _finished(work: _Work) -> Graph:
    graph = work.graph
    written = {name for name, _, _ in graph.declarations()} | {constant.name for constant in work.constants}
    made = [name for node in work.nodes for name in node.outputs if name and name not in written]
    new = [Value(name, work.types[name]) for name in dict.fromkeys(made) if name in work.types]
    return replace(
        graph,
        nodes=tuple(work.nodes),
        constants=(*graph.constants, *work.constants),
        values=(*(_typed(work, value, "tensor") for value in graph.values), *new),
        outputs=tuple(_typed(work, value, "output") for value in graph.outputs),
    )


def _typed(work: _Work, value: Value, kind: PlaceKind) -> Value:
    """What is written stays, right or wrong, unless it only leaves something open."""
    known = work.types.get(value.name)
    if closed(value.type) or known is None or not closed(known):
        return value
    refined = work.symbols.refined(value.type, known)
    if refined is None:
        return value
    if value.name not in work.inferred:
        place = Location(kind, value.name, file=work.graph.source)
        what = f"wrote the type of {shown_name(value.name)}: {_in_place(refined, value.type)}"
        work.say(place, what, "written elsewhere in the model", "general.R2")
    return replace(value, type=refined)


def _in_place(refined: TensorType, said: TensorType | None) -> str:
    return shown_type(refined) + (f" in place of {shown_type(said)}" if said is not None else "")


def _amend(work: _Work, operator: Operator, node: Node, location: Location) -> Node:
    for amendment in amendments(operator, work.call(operator, node)):
        match amendment:
            case WriteAttribute():
                node = _write(work, node, amendment, location)
            case FillOperand():
                node = _fill(work, operator, node, amendment, location)
            case _:
                node = _expand(work, operator, node, amendment, location)
    return node


def _write(work: _Work, node: Node, amendment: WriteAttribute, location: Location) -> Node:
    name, value = amendment.name, amendment.value
    what = f"wrote {name} = {written(value)}"
    if name in node.attributes:
        what += f" in place of {written(node.attributes[name])}"
    work.say(location, what, amendment.why, amendment.rule)
    return replace(node, attributes={**node.attributes, name: value})


def _fill(work: _Work, operator: Operator, node: Node, amendment: FillOperand, location: Location) -> Node:
    constant = work.add_constant(f"{_label(node)}_{amendment.name}", amendment.value)
    shown = written(amendment.value[()])  # as an element of its type, not as a double
    work.say(location, f"gave `{amendment.name}` the constant {shown}", amendment.why, amendment.rule)
    return _with_input(operator, node, amendment.name, constant)


def _expand(
    work: _Work, operator: Operator, node: Node, amendment: ExpandOperand, location: Location
) -> Node:
    source = node.inputs[_names(operator, node).index(amendment.name)]
    shape = work.add_constant(f"{source[:_LONGEST_PART]}_shape", np.array(amendment.shape, np.int64))
    target = work.names.fresh(f"{source[:_LONGEST_PART]}_expanded")
    label = work.node_names.fresh(f"{_label(node)}/expand_{amendment.name}")
    work.nodes.append(
        Node(
            _EXPAND,
            (source, shape),
            (target,),
            name=label,
            version=operator_named(_EXPAND).contract.versions[-1],
        )
    )
    work.types[target] = replace(work.types[source], shape=amendment.shape, denotation=None)
    what = f"put an Expand of `{amendment.name}` to {written(amendment.shape)} before it"
    work.say(location, what, amendment.why, amendment.rule)
    return _with_input(operator, node, amendment.name, target)


def _label(node: Node) -> str:
    label = node.name or next((name for name in node.outputs if name), node.operator)
    return label[:_LONGEST_PART]


def _names(operator: Operator, node: Node) -> list[str]:
    return operand_names(operator.contract.inputs, len(node.inputs))


def _with_input(operator: Operator, node: Node, name: str, tensor: str) -> Node:
    place = _names(operator, node).index(name)
    inputs = [*node.inputs, *[""] * (place + 1 - len(node.inputs))]
    inputs[place] = tensor
    return replace(node, inputs=tuple(inputs))


def _infer(work: _Work, operator: Operator, node: Node, location: Location) -> None:
    """Find the types of the outputs where the model leaves them open; a static type is never changed.

    Other rules that the node breaks do not matter here: the check of the result names them.
    """
    call = replace(work.call(operator, node), outputs={})
    if not operator.contract.needed <= call.inputs.keys() or not all(map(closed, call.inputs.values())):
        return
    inferred = operator.contract.output_types(call)
    for operand, name in zip(operator.contract.outputs, node.outputs, strict=False):
        said, found = work.types.get(name), inferred[operand.name]
        if not name or closed(said) or found.dtype is None or found.sizes is None or found.sparse:
            continue
        refined = work.symbols.refined(said or _OPEN, found)
        if refined is not None:
            work.types[name] = refined
            work.inferred.add(name)
            what = f"wrote the type of {shown_name(name)}: {_in_place(refined, said)}"
            work.say(location, what, "inferred", "general.R2")
