"""Types that a model leaves open, as far as they follow: so that rules can be asked all the same."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sonnx.model.graph import Constant, Graph, Node
from sonnx.model.order import given_order
from sonnx.model.tensor_type import TensorType
from sonnx.operators import node_operator
from sonnx.operators.rules.amending import amendments
from sonnx.operators.rules.limits import MOST_AXES
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import FillOperand, Operand, Operator, WriteAttribute, operand_names

UNTYPED = TensorType(None, None)


def closed(kind: TensorType | None) -> bool:
    """Tell whether nothing of a type is left open."""
    return kind is not None and (kind.dtype or kind.foreign) is not None and kind.sizes is not None


def node_call(
    operator: Operator, node: Node, types: Mapping[str, TensorType], constant: Mapping[str, Any]
) -> Call:
    """A node as the call that rules look at: types by operand name, and constants that decide shapes."""
    contract = operator.contract
    inputs = _by_operand(contract.inputs, node.inputs, types, "input")
    outputs = _by_operand(contract.outputs, node.outputs, types, "output")
    constants = {}
    for operand, name in zip(contract.inputs, node.inputs, strict=False):
        data = constant.get(name) if operand.constant else None
        # No more elements than rules need to see.
        if data is not None and data.ndim == 1:
            constants[operand.name] = tuple(data[: MOST_AXES + 1].tolist())
    return Call(operator.name, inputs, node.attributes, outputs, constants, version=node.version)


def constants_outside(
    operator: Operator, node: Node, types: Mapping[str, TensorType], constant: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    """The first elements of constants for which a node's operator is not defined, by name (D-ALL-11)."""
    if operator.definition is None or operator.definition.domain is None:
        return ()
    kinds = {name: types.get(name, UNTYPED) for name in node.inputs}
    if any(0 in (kind.sizes or ()) for kind in kinds.values()):
        return ()  # of no elements none is outside
    # What executes definitions is loaded by what needs it: few models do.
    from sonnx.derive.constants import met_in_constants  # noqa: PLC0415  see above

    named = dict(zip(operand_names(operator.contract.inputs, len(node.inputs)), node.inputs, strict=False))
    arrays = {label: constant[name] for label, name in named.items() if name in constant}
    ranks = {label: len(shape) for label in arrays if (shape := kinds[named[label]].shape) is not None}
    return met_in_constants(operator, arrays, ranks)


def _by_operand(
    operands: tuple[Operand, ...], names: tuple[str, ...], types: Mapping[str, TensorType], kind: str
) -> dict[str, TensorType]:
    """Types by operand name; what the operator does not have goes under its position."""
    labels = operand_names(operands, len(names))
    surplus = [f"{kind} {index}" for index in range(len(labels), len(names))]
    present = {label: types.get(name, UNTYPED) for label, name in zip(labels, names, strict=False) if name}
    # A surplus one is surplus even where it is empty.
    return present | {label: types.get(names[len(labels) + n], UNTYPED) for n, label in enumerate(surplus)}


def amended(operator: Operator, call: Call) -> Call:
    """The call with what ONNX lets a model leave out; the call itself where nothing is left out."""
    inputs, attributes = dict(call.inputs), dict(call.attributes)
    found = amendments(operator, call)
    for amendment in found:
        name = amendment.name
        if isinstance(amendment, WriteAttribute):
            attributes[name] = amendment.value
        elif isinstance(amendment, FillOperand):
            inputs[name] = amendment.type
        else:
            inputs[name] = replace(inputs[name], shape=amendment.shape)
    return replace(call, inputs=inputs, attributes=attributes) if found else call


def inferred_types(graph: Graph) -> Mapping[str, TensorType]:
    """The types that the model writes, and those that follow from them for tensors without one."""
    types = dict(graph.types)
    for index in given_order(graph.nodes):
        node = graph.nodes[index]
        operator = node_operator(node, graph.dialect)
        if node.operator == "Constant" and node.domain == "" and len(node.outputs) == 1:
            value = node.attributes.get("value")
            if isinstance(value, Constant):
                types.setdefault(node.outputs[0], value.type)
        elif operator is not None and _open(node.outputs, types):
            call = amended(operator, node_call(operator, node, types, graph.data))
            if operator.contract.needed <= call.inputs.keys():
                found = operator.contract.output_types(call)
                labels = operand_names(operator.contract.outputs, len(node.outputs))
                for label, name in zip(labels, node.outputs, strict=False):
                    if name and name not in graph.types and label in found:
                        types[name] = found[label]
    return types


def _open(names: Iterable[str], types: Mapping[str, TensorType]) -> bool:
    return any(name and name not in types for name in names)
