"""A call as ONNX allows it made explicit, as the contract's data say; the operator adds what they cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators.rules.operands import known, sizes
from sonnx.operators.rules.shapes import broadcast_to, element_names
from sonnx.operators.rules.values import as_float
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import (
    Amendment,
    Contract,
    ExpandOperand,
    FillOperand,
    Operand,
    Operator,
    WriteAttribute,
)


def amendments(operator: Operator, call: Call) -> Sequence[Amendment]:
    """What to change in a call so that it conforms and means the same; nothing where that cannot be told."""
    contract = operator.contract
    return (
        *_defaults(contract, call),
        *_absent_operands(contract, call),
        *_broadcasting(contract, call),
        *operator.amend(call),
    )


def in_newer_form(contract: Contract, call: Call) -> Call:
    """A call of an old version as newer ones write it: attributes that have become operands are operands."""
    names = contract.formerly.get(call.version or 0, {}).keys()
    if names.isdisjoint(call.inputs) and names:
        moved = [operand for operand in contract.inputs if operand.name in names]
        scalars = {each.name: TensorType(_shared_type(contract, call, each), ()) for each in moved}
        left = {name: value for name, value in call.attributes.items() if name not in names}
        return replace(call, inputs={**call.inputs, **scalars}, attributes=left)
    return call


def _defaults(contract: Contract, call: Call) -> Iterator[Amendment]:
    """Attributes that ONNX lets a model leave out."""
    for attribute in contract.attributes:
        default = attribute.default_in_onnx
        given = call.attributes.get(attribute.name, ABSENT)
        if default is None or given is not ABSENT or not attribute.is_in(call.version):
            continue
        value = default(call) if callable(default) else default
        if value is not None:
            why = attribute.default_because or f"ONNX's default for an absent `{attribute.name}`"
            value = as_float(value) if attribute.kind == "float" else value
            yield WriteAttribute(attribute.name, value, why, "general.R1")


def _absent_operands(contract: Contract, call: Call) -> Iterator[Amendment]:
    """Operands that ONNX lets a model leave out, where a constant stands for them."""
    for operand in contract.inputs:
        if operand.default_in_onnx is None or operand.name in call.inputs:
            continue
        dtype = _shared_type(contract, call, operand)
        if dtype is not None:
            default = operand.default_in_onnx
            value = _constant(default, dtype)
            which = f"the {default} finite {dtype}" if isinstance(default, str) else str(default)
            rule = _rule(contract, f"{operand.name} given")
            yield FillOperand(operand.name, TensorType(dtype, ()), value, f"absent, it is {which}", rule)


def _shared_type(contract: Contract, call: Call, operand: Operand) -> DType | None:
    """The type that an operand has because another one has it, where numbers of it can be written."""
    others = (each for each in contract.inputs if each.variable == operand.variable)
    kinds = (known(call, each.name) for each in others if each.variable)
    found = next((kind.dtype for kind in kinds if kind is not None), None)
    return found if found in (*IEEE, *INTEGERS) else None


def _constant(default: str | float, dtype: DType) -> Array:
    stored = numpy_dtype(dtype)
    # Two classes of NumPy with the same two attributes.
    ends: Any = np.finfo(stored) if dtype in IEEE else np.iinfo(stored)
    value = {"lowest": ends.min, "highest": ends.max}.get(str(default), default)
    return np.array(value, stored)


def _broadcasting(contract: Contract, call: Call) -> Iterator[Amendment]:
    """Operands that have not yet the shape to which all that are combined broadcast."""
    names = element_names(contract.inputs)(call)
    shapes = {name: shape for name in names if (shape := sizes(call, name)) is not None}
    common = broadcast_to(contract.inputs, shapes) if len(shapes) == len(names) else None
    for name, shape in shapes.items():
        if common is not None and shape != common:
            why = f"broadcasting inside {contract.name} made visible"
            yield ExpandOperand(name, common, why, _rule(contract, "no broadcasting"))


def _rule(contract: Contract, made_from: str) -> str:
    """The rule that was made from the same data."""
    return next(rule.identifier for rule in contract.rules if rule.made_from == made_from)
