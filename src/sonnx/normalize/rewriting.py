"""Nodes written otherwise: by operators of the profile, or in the form of the operator set of today."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.graph import Graph, Node
from sonnx.model.location import Location
from sonnx.normalize.changes import Change
from sonnx.normalize.work import Work, label_of, operands_of, with_input
from sonnx.numeric.convert import convert
from sonnx.operators import NODE_OPERATORS, rewriting
from sonnx.operators.graph.older import is_to_be_raised, newer_version, raised
from sonnx.operators.rules.operands import known
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.operator import OLDEST_OPSET, ExpandOperand, Operator

_VERSIONS, _OPERATORS = "graph.D9", "graph.D6"


def substituted(work: Work, node: Node, location: Location) -> tuple[Node, Sequence[ExpandOperand]]:
    """The node of the profile that means the same, and which operands are to be expanded; else the node."""
    found = rewriting(node, work.graph.dialect)
    if found is None or node.attributes or node.repeated or not all(node.inputs):
        return node, ()
    other = found.substitute([work.known(name) for name in node.inputs])
    if other is None:
        return node, ()
    operator = NODE_OPERATORS[other.operator]
    opset = dict(work.graph.opsets).get("", 0)
    version = max((each for each in operator.contract.versions if each <= opset), default=None)
    taken = tuple(node.inputs[place] for place in other.inputs)
    new = replace(node, operator=operator.name, inputs=taken, version=version)
    operands = operands_of(operator, new)
    work.say(location, f"wrote {operator.name} in place of {node.operator}", found.why, _OPERATORS)
    if other.shape is None:
        return new, ()
    why = f"what {node.operator} makes has this shape"
    return new, [ExpandOperand(name, other.shape, why, _OPERATORS) for name in operands]


def raise_opset(graph: Graph) -> tuple[Graph, list[Change]]:
    """Write the first operator set that the profile covers, where all operators mean the same there.

    Nodes keep their versions until `in_newer_form` has seen in which form they are written.
    """
    if not is_to_be_raised(graph):
        return graph, []
    what = f"imported operator set {OLDEST_OPSET} in place of {dict(graph.opsets)['']}"
    why = "what the operators of the model mean has not changed in between"
    return raised(graph), [Change(graph.location, what, why, _VERSIONS)]


def in_newer_form(work: Work, operator: Operator, node: Node, location: Location) -> Node:
    """A node of an old operator set as it is written today: attributes that have become operands."""
    contract = operator.contract
    opset = dict(work.graph.opsets).get("")
    if node.version is None or node.version in contract.versions or opset != OLDEST_OPSET:
        return node
    moved = contract.formerly.get(node.version, {})
    told = f"version {node.version} of {contract.name} has it as an attribute, newer ones as an operand"
    new = replace(node, version=newer_version(node))
    for name, default in moved.items():
        constant = _operand(work, operator, node, name, node.attributes.get(name, default))
        if constant is not None:
            left = {key: value for key, value in new.attributes.items() if key != name}
            tensor = work.add_constant(f"{label_of(node)}_{name}", constant)
            new = with_input(operator, replace(new, attributes=left), name, tensor)
            what = f"gave `{name}` the constant {written(constant[()])}"
            absent = "" if name in node.attributes else f"; absent, it is {written(default)}"
            work.say(location, what, told + absent, _VERSIONS)
    return new


def _operand(work: Work, operator: Operator, node: Node, name: str, value: Any) -> Any:
    """A number as the scalar of the type that the other operands have; None where that is not to be had."""
    call = work.call(operator, node)
    if name in call.inputs or not isinstance(value, float):
        return None
    others = (known(call, each.name) for each in operator.contract.inputs if each.name in call.inputs)
    dtype: DType | None = next((kind.dtype for kind in others if kind is not None), None)
    return convert(np.array(value), DType.DOUBLE, dtype) if dtype in (*IEEE, *INTEGERS) else None
