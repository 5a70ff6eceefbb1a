"""Node by node, in order: what ONNX leaves to defaults is written, and types are inferred."""

from collections import ChainMap
from dataclasses import replace

import numpy as np

from sonnx.check.inference import closed
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.location import Location, PlaceKind
from sonnx.model.tensor_type import TensorType
from sonnx.normalize.changes import Change
from sonnx.normalize.rewriting import in_newer_form, substituted
from sonnx.normalize.types import Symbols
from sonnx.normalize.work import LONGEST_PART, Work, label_of, operands_of, with_input
from sonnx.operators import node_operator
from sonnx.operators import operator as operator_named
from sonnx.operators.graph.content import shown_type
from sonnx.operators.graph.structure import shown_name
from sonnx.operators.rules.amending import amendments
from sonnx.operators.rules.wording import written
from sonnx.operators.shared.expanding import REPEATING, behind
from sonnx.vocabulary.operator import (
    Amendment,
    ExpandOperand,
    FillOperand,
    Operator,
    WriteAttribute,
    operand_names,
)

_OPEN = TensorType(None, None)


def amend_and_infer(graph: Graph) -> tuple[Graph, list[Change]]:
    """Write what operators leave to defaults, put Expand where operators broadcast, infer and write types."""
    symbols = Symbols.of(graph)
    done = _gone_through(graph, symbols)
    if symbols.contradicted:
        # Such a name is not to be written as a number anywhere, else the contradiction would be lost.
        done = _gone_through(graph, Symbols(symbols.undecided | symbols.contradicted))
    return done


def _gone_through(graph: Graph, symbols: Symbols) -> tuple[Graph, list[Change]]:
    work, scope = Work.of(graph, symbols), graph.scope
    for index, given in enumerate(graph.nodes):
        location = scope.node_location(index)
        node, wanted = substituted(work, given, location)
        operator = node_operator(node, graph.dialect)
        if operator is None:
            work.nodes.append(node)
            continue
        node = in_newer_form(work, operator, node, location)
        for amendment in (*wanted, *amendments(operator, work.call(operator, node))):
            node = _amended(work, operator, node, amendment, location)
        work.nodes.append(node)
        _infer(work, operator, node, location)
        work.repeated |= behind(node, ChainMap(work.data, work.repeated))
    return _finished(work), work.changes


def _finished(work: Work) -> Graph:
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


def _typed(work: Work, value: Value, kind: PlaceKind) -> Value:
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


def _amended(work: Work, operator: Operator, node: Node, amendment: Amendment, location: Location) -> Node:
    match amendment:
        case WriteAttribute():
            return _write(work, node, amendment, location)
        case FillOperand():
            return _fill(work, operator, node, amendment, location)
        case _:
            return _expand(work, operator, node, amendment, location)


def _write(work: Work, node: Node, amendment: WriteAttribute, location: Location) -> Node:
    name, value = amendment.name, amendment.value
    what = f"wrote {name} = {written(value)}"
    if name in node.attributes:
        what += f" in place of {written(node.attributes[name])}"
    work.say(location, what, amendment.why, amendment.rule)
    return replace(node, attributes={**node.attributes, name: value})


def _fill(work: Work, operator: Operator, node: Node, amendment: FillOperand, location: Location) -> Node:
    constant = work.add_constant(f"{label_of(node)}_{amendment.name}", amendment.value)
    shown = written(amendment.value[()])  # as an element of its type, not as a double
    work.say(location, f"gave `{amendment.name}` the constant {shown}", amendment.why, amendment.rule)
    return with_input(operator, node, amendment.name, constant)


def _expand(work: Work, operator: Operator, node: Node, amendment: ExpandOperand, location: Location) -> Node:
    source = node.inputs[operands_of(operator, node).index(amendment.name)]
    shape = work.add_constant(f"{source[:LONGEST_PART]}_shape", np.array(amendment.shape, np.int64))
    target = work.names.fresh(f"{source[:LONGEST_PART]}_expanded")
    label = work.node_names.fresh(f"{label_of(node)}/expand_{amendment.name}")
    work.nodes.append(
        Node(
            REPEATING,
            (source, shape),
            (target,),
            name=label,
            version=operator_named(REPEATING).contract.versions[-1],
        )
    )
    work.types[target] = replace(work.types[source], shape=amendment.shape, denotation=None)
    what = f"put an Expand of `{amendment.name}` to {written(amendment.shape)} before it"
    work.say(location, what, amendment.why, amendment.rule)
    return with_input(operator, node, amendment.name, target)


def _infer(work: Work, operator: Operator, node: Node, location: Location) -> None:
    """Find the types of the outputs where the model leaves them open; a static type is never changed.

    Other rules that the node breaks do not matter here: the check of the result names them.
    """
    call = replace(work.call(operator, node), outputs={})
    if not operator.contract.needed <= call.inputs.keys() or not all(map(closed, call.inputs.values())):
        return
    inferred = operator.contract.output_types(call)
    labels = operand_names(operator.contract.outputs, len(node.outputs))
    for label, name in zip(labels, node.outputs, strict=False):
        said, found = work.types.get(name), inferred.get(label, _OPEN)
        if not name or closed(said) or found.dtype is None or found.sizes is None or found.sparse:
            continue
        refined = work.symbols.refined(said or _OPEN, found)
        if refined is not None:
            work.types[name] = refined
            work.inferred.add(name)
            what = f"wrote the type of {shown_name(name)}: {_in_place(refined, said)}"
            work.say(location, what, "inferred", "general.R2")
