"""Example calls of an operator, made from its operands and attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.operators.rules.values import as_float
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand, operand_names

# What examples hold where an operator allows it, and what they hold to be refused: what ONNX allows, if any.
_USUAL = (DType.FLOAT, DType.BOOL)
_REFUSED = (DType.BFLOAT16, DType.INT32, DType.UINT8, *ALL)
_SHAPE = (2, 3)
_NUMBERS: Mapping[str, Any] = {"float": 0.5, "integer": 1, "element type": 1}


def good_call(
    name: str, inputs: Sequence[Operand], attributes: Sequence[Attribute], domain: str = ""
) -> Call:
    """A call that breaks no rule made from data: tensors of shape [2, 3], two where any number may stand."""
    dialect: Dialect = "xla" if domain == "xla" else "onnx"
    count = sum(2 if operand.variadic else 1 for operand in inputs)
    by_name = {given: _operand(inputs, given) for given in operand_names(inputs, count)}
    types = {given: _type(operand, dialect) for given, operand in by_name.items()}
    held = next((each.dtype for each in types.values()), None)
    values = {attribute.name: _value(attribute, held) for attribute in attributes}
    return Call(f"{domain}.{name}" if domain else name, types, values)


def with_inputs(call: Call, **changes: TensorType) -> Call:
    """The call with other operands."""
    return replace(call, inputs={**call.inputs, **changes})


def of_type(call: Call, name: str, dtype: DType) -> TensorType:
    """The type that an operand of a call would have with other elements."""
    return replace(call.inputs[name], dtype=dtype)


def other_type(types: Sequence[DType], than: DType | None = None) -> DType:
    """A type among those allowed which is another one; one that is refused where none is left."""
    others = [t for t in (DType.DOUBLE, *types) if t in types and t is not than]
    return others[0] if others else refused_type(types)


def refused_type(types: Sequence[DType]) -> DType:
    """A type that is not among those allowed."""
    return next(t for t in _REFUSED if t not in types)


def _operand(inputs: Sequence[Operand], given: str) -> Operand:
    """The operand of a name; those of a variadic one have its name and a number."""
    exact = (operand for operand in inputs if operand.name == given)
    return next(exact, inputs[-1])


def _type(operand: Operand, dialect: Dialect) -> TensorType:
    dtype = next((usual for usual in _USUAL if usual in operand.types), operand.types[0])
    return TensorType(dtype, () if operand.form == "scalar" else _SHAPE, dialect=dialect)


def _value(attribute: Attribute, held: DType | None) -> Any:
    """What an example has there, with elements of a type."""
    if attribute.default is not None:
        return attribute.default
    value = attribute.default_in_onnx
    of_type = attribute.holds.of(held) if isinstance(attribute.holds, OneOf) else ()
    if value is None or callable(value) or (of_type and value not in of_type):
        if of_type:
            return of_type[0]
        return _NUMBERS.get(attribute.kind)
    return as_float(value) if attribute.kind == "float" else value
