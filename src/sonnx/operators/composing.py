"""Graphs as engines take them: functions and compositions replaced by their bodies (D-GRAPH-3, D-ALL-14)."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.graph import Constant, Function, Graph, Node, Value
from sonnx.model.inline import Flat, composed, flatten
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.numeric.rounding import rounded_array
from sonnx.operators.catalogue import node_operator
from sonnx.terms.term import DefinitionError
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyConstant, BodyNode, operand_names

# Where a graph keeps what engines take of it.
_EXECUTABLE = "executable"


def executable(graph: Graph) -> Flat:
    """A graph that has been found to conform as nodes that are no calls and no compositions.

    Each node keeps the place of the model's node that it stands for. It is made once: the graph keeps it.
    """
    kept: dict[str, Any] = vars(graph)
    if _EXECUTABLE not in kept:
        found = composed(flatten(graph), lambda node, types: _body(node, types, graph.dialect))
        if found.graph is graph:  # nothing to keep: the answer would hold the graph that holds it
            return found
        kept[_EXECUTABLE] = found
    flat: Flat = kept[_EXECUTABLE]
    return flat


def _body(node: Node, types: Mapping[str, TensorType], dialect: Dialect) -> Function | None:
    operator = node_operator(node, dialect)
    if operator is None or operator.body is None:
        return None
    contract = operator.contract
    operands = operand_names(contract.inputs, len(node.inputs))
    given = {operand: types[name] for operand, name in zip(operands, node.inputs, strict=False) if name}
    parts = operator.body(Call(operator.name, given, operator.contract.whole(node.attributes)))
    known = dict(given)
    values: list[Value] = []
    held = [part for part in parts if isinstance(part, BodyConstant)]
    known |= {each.name: each.type for each in held}
    elements = {each.name: each.elements for each in held}
    nodes = [part for part in parts if isinstance(part, BodyNode)]
    for part in nodes:
        made = _made(part, known, elements)
        known |= dict(zip(part.outputs, made, strict=True))
        values += [Value(name, kind) for name, kind in zip(part.outputs, made, strict=True)]
    outputs = {operand.name for operand in contract.outputs}
    return Function(
        contract.name,
        node.domain,
        tuple(operands),
        tuple(operand.name for operand in contract.outputs),
        tuple(
            Node(
                part.operator.contract.name,
                part.inputs,
                part.outputs,
                part.attributes,
                f"{node.name or contract.name}/{part.operator.contract.name}",
                node.domain,
                origin=node.origin,
            )
            for part in nodes
        ),
        values=tuple(value for value in values if value.name not in outputs),
        constants=tuple(
            Constant(each.name, each.type, rounded_array(each.elements, each.type)) for each in held
        ),
    )


def _made(
    part: BodyNode, known: Mapping[str, TensorType], elements: Mapping[str, tuple[Any, ...]]
) -> list[TensorType]:
    """The types of what a part makes, by those of what it takes, and the elements that decide a shape."""
    contract = part.operator.contract
    given = dict(zip(operand_names(contract.inputs, len(part.inputs)), part.inputs, strict=True))
    constants = {operand: elements[given[operand]] for operand in contract.settled}
    types = {operand: known[name] for operand, name in given.items()}
    made = contract.output_types(Call(part.operator.name, types, part.attributes, constants=constants))
    for name, kind in made.items():
        if kind.dtype is None or kind.sizes is None:
            raise DefinitionError(f"what type `{name}` of {part.operator.name} has in a body does not follow")
    return list(made.values())
