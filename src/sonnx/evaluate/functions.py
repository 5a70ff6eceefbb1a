"""The operators as functions on arrays: what a person calls."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from sonnx.evaluate.apply import apply, prepare, require
from sonnx.model.call import ABSENT, Absent, Call
from sonnx.model.dtype import DType
from sonnx.model.operator import Operator, operand_names
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import Array
from sonnx.operators import BROADCAST, CLIP, CONV, EXPAND, WHERE, operator
from sonnx.operators.shared.predicates import elements, is_integer
from sonnx.report.text import printable

Integers = Sequence[int] | Absent


def clip(input: Any, min: Any, max: Any) -> Array:
    """Limit every element of `input` to the interval from `min` to `max` (operator Clip)."""
    return apply(CLIP, {"input": input, "min": min, "max": max}, {})["output"]


def conv(
    X: Any,
    W: Any,
    B: Any = None,
    *,
    strides: Integers = ABSENT,
    pads: Integers = ABSENT,
    dilations: Integers = ABSENT,
    group: int | Absent = ABSENT,
    kernel_shape: Integers = ABSENT,
    auto_pad: str = "NOTSET",
    accumulate: Literal["separate", "fused"] = "separate",
) -> Array:
    """Convolve the image `X` with the kernel `W`, starting from the bias `B` (operator Conv).

    Every attribute must be written; one that is not is a finding of general.R1. Two may be left out of
    a call: `auto_pad`, which has one value only, and `accumulate`, which is no attribute of a model.
    """
    attributes = {
        "strides": strides,
        "pads": pads,
        "dilations": dilations,
        "group": group,
        "kernel_shape": kernel_shape,
        "auto_pad": auto_pad,
        "accumulate": accumulate,
    }
    return apply(CONV, {"X": X, "W": W, "B": B}, attributes)["Y"]


def where(condition: Any, X: Any, Y: Any) -> Array:
    """Take each element from `X` where `condition` is true, else from `Y` (operator Where)."""
    return apply(WHERE, {"condition": condition, "X": X, "Y": Y}, {})["output"]


def broadcast(*tensors: Any) -> tuple[Array, ...]:
    """Give all tensors one shape (functionality Broadcast).

    The results are read-only and share the memory of tensors that are in the machine's own form.
    """
    named = {f"X{m}": tensor for m, tensor in enumerate(tensors)}
    return tuple(apply(BROADCAST, named, {}).values())


def expand(input: Any, shape: Any) -> Array:
    """Broadcast `input` with `shape`, a list of sizes or an int64 vector (operator Expand).

    The result is read-only and shares the memory of `input` where that is in the machine's own form.
    """
    return apply(EXPAND, {"input": input, "shape": _vector(shape)}, {})["output"]


def error_bound(name: str, *operands: Any, order: str = "specified", **attributes: Any) -> Any:
    """Bound the distance of an operator's IEEE result from the exact real one, element by element.

    Takes the operator's name and then its arguments as the operator's own function does; Concatenate takes
    its operands by position, and Call its computation as `computation`. `order` is "specified"; or "any",
    for a bound that holds for every order of summation; or "flushing", for one that also holds where
    subnormal numbers become zeros in convolutions, as on XLA (operands must not be subnormal then). The bound
    is an array of doubles, a tuple of them for Broadcast: 0 where values are only moved, +inf where the
    result may be no finite number. Conv's `accumulate` defaults to "separate" and `auto_pad` to "NOTSET", as
    in `conv`.
    """
    if not isinstance(order, str) or order not in ("specified", "any", "flushing"):
        raise ValueError('error_bound: write order="specified", order="any" or order="flushing"')
    found = operator(name)
    named = _named(found, operands, attributes)
    extra = {key: attributes[key] for key in attributes if key not in named}
    ready = prepare(found, named, _defaults(found) | extra)
    bounds = tuple(found.error_bound(ready.arrays, ready.attributes, order).values())
    return bounds if found is BROADCAST else bounds[0]


def _named(found: Operator, operands: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Operands by name, given by position or, where there is a fixed number, by keyword."""
    names = operand_names(found.contract.inputs, len(operands))
    # What has been given by position cannot be given by keyword too.
    attributes = [attribute.name for attribute in found.contract.attributes]
    surplus = sorted(set(keywords) - {*names[len(operands) :], *attributes})
    if surplus or len(operands) > len(names):
        operands_named = ["its tensors by position"] if _is_variadic(found) else names
        takes = ", ".join([*operands_named, *attributes])
        given = ", ".join(surplus) or f"{len(operands)} operands"
        raise TypeError(f"error_bound: {found.name} takes {takes}, not {printable(given)}")
    named = dict.fromkeys(names) | dict(zip(names, operands, strict=False))
    named |= {key: value for key, value in keywords.items() if key in names}
    constants = {operand.name for operand in found.contract.inputs if operand.constant}
    return {key: _vector(value) if key in constants else value for key, value in named.items()}


def output_types(name: str, /, **arguments: Any) -> Mapping[str, TensorType]:
    """Find the types of an operator's outputs from types and attributes alone; no data is needed.

    Operands are given by name (X0, X1, ... for Broadcast), as TensorType or as text such as
    "float[1,3,8,8]" or "f32[3]"; Expand's `shape` is a list of sizes. Raises RuleError where a rule is
    broken.
    """
    found = operator(name)
    constant = {operand.name for operand in found.contract.inputs if operand.constant}
    inputs: dict[str, TensorType] = {}
    constants: dict[str, tuple[Any, ...]] = {}
    attributes: dict[str, Any] = dict(_defaults(found))
    texts = {attribute.name for attribute in found.contract.attributes}
    for key, value in arguments.items():
        listed = elements(value)
        if key in constant and listed is not None:
            inputs[key], constants[key] = TensorType(DType.INT64, (len(value),)), tuple(listed)
        elif isinstance(value, TensorType):
            inputs[key] = value
        elif value is None:
            continue  # an operand that is not there
        elif isinstance(value, str) and key not in texts:
            inputs[key] = tensor_type(value)
        else:
            attributes[key] = value
    call = Call(found.name, inputs, attributes, constants=constants)
    require(found, call)
    return found.contract.output_types(call)


def _defaults(found: Operator) -> dict[str, str]:
    """What the functions here let a caller leave out."""
    return {a.name: a.default for a in found.contract.attributes if a.default is not None}


def _is_variadic(found: Operator) -> bool:
    return any(operand.variadic for operand in found.contract.inputs)


def _vector(shape: Any) -> Any:
    """A list of integers is an int64 vector; a list of anything else keeps the type NumPy gives it."""
    if not isinstance(shape, (list, tuple)):
        return shape
    listed = list(shape)
    if all(map(is_integer, listed)):
        return np.array(list(map(int, listed)), np.int64)
    try:
        # Booleans among integers would become integers: as objects they keep their type.
        return np.array(listed, object if len(set(map(_is_bool, listed))) > 1 else None)
    except (ValueError, OverflowError):
        return shape  # ragged: left for general.R2 to name


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))
