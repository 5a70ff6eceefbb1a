"""The operators as functions on arrays: what a person calls."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sonnx.derive.bound import bound
from sonnx.derive.domains import domain_of
from sonnx.derive.evaluate import require_defined
from sonnx.evaluate.apply import apply, kept, prepare, require
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import Array
from sonnx.operators import ONNX_OPERATORS, operator
from sonnx.operators.rules.lists import elements, is_integer
from sonnx.report.outside import domain_error
from sonnx.report.text import printable
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Operand, Operator, operand_names
from sonnx.vocabulary.outside import OutsideError
from sonnx.vocabulary.signatures import Arguments, Calling, function_of


def _function(found: Operator) -> Callable[..., Any]:
    """An operator on arrays, with operands and attributes as its contract has them."""

    def run(given: Arguments) -> Any:
        named = {name: _taken(found, name, value) for name, value in given.operands.items()}
        return _results(found, apply(found, named, given.attributes))

    various = _is_variadic(found.contract.outputs)
    calling = Calling(operand=Any, result=tuple[Array, ...] if various else Array, absent=ABSENT)
    made = function_of(found.folder, "sonnx", found.contract, calling, run)
    if not found.contract.uses_arithmetic:
        made.__doc__ = f"{made.__doc__} A result may be read-only and share the memory of an operand."
    return made


def _results(found: Operator, results: Mapping[str, Any]) -> Any:
    """What a function gives: one result, or a tuple of them where their number depends on the call."""
    values = tuple(results.values())
    return values if _is_variadic(found.contract.outputs) or len(values) > 1 else values[0]


def _taken(found: Operator, name: str, value: Any) -> Any:
    """An operand as it is given; where its elements decide a shape, a list of integers will do."""
    return _vector(value) if name in found.contract.settled else value


def error_bound(name: str, *operands: Any, order: str = "specified", **attributes: Any) -> Any:
    """Bound the distance of an operator's IEEE result from the exact real one, element by element.

    Takes the operator's name and then its arguments as the operator's own function does, any number of
    operands by position, and a computation to be called as `computation`. `order` is "specified"; or "any",
    for a bound that holds for every order of summation; or "flushing", for one that also holds where
    subnormal numbers become zeros in convolutions, as on XLA (operands must not be subnormal then). The bound
    is an array of doubles, a tuple of them where the operator gives one: 0 where values are only moved, +inf
    where the result may be no finite number. What the operator's function lets a caller leave out may be left
    out here.
    """
    if not isinstance(order, str) or order not in ("specified", "any", "flushing"):
        raise ValueError('error_bound: write order="specified", order="any" or order="flushing"')
    found = operator(name)
    named = _named(found, operands, attributes)
    extra = {key: attributes[key] for key in attributes if key not in named}
    ready = prepare(found, named, _defaults(found) | extra)
    if domain_of(found) is not None:
        try:
            require_defined(found, ready.arrays, ready.attributes)
        except OutsideError as error:  # of no result nothing is far
            raise domain_error(error.outside, None) from None
    return _results(found, bound(found, ready.arrays, ready.attributes, order))


def _named(found: Operator, operands: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Operands by name, given by position or, where there is a fixed number, by keyword."""
    names = operand_names(found.contract.inputs, len(operands))
    # What has been given by position cannot be given by keyword too.
    attributes = [attribute.name for attribute in found.contract.attributes]
    surplus = sorted(set(keywords) - {*names[len(operands) :], *attributes})
    if surplus or len(operands) > len(names):
        operands_named = ["its tensors by position"] if _is_variadic(found.contract.inputs) else names
        takes = ", ".join([*operands_named, *attributes])
        given = ", ".join(surplus) or f"{len(operands)} operands"
        raise TypeError(f"error_bound: {found.name} takes {takes}, not {printable(given)}")
    named = dict.fromkeys(names) | dict(zip(names, operands, strict=False))
    named |= {key: value for key, value in keywords.items() if key in names}
    return {key: _taken(found, key, value) for key, value in named.items()}


def output_types(name: str, /, **arguments: Any) -> Mapping[str, TensorType]:
    """Find the types of an operator's outputs from types and attributes alone; no data is needed.

    Operands are given by name (X0, X1, ... where there may be any number of them), as TensorType or as text
    such as "float[1,3,8,8]" or "f32[3]"; one that decides a shape is a list of integers. Raises RuleError
    where a rule is broken.
    """
    found = operator(name)
    inputs: dict[str, TensorType] = {}
    constants: dict[str, tuple[Any, ...]] = {}
    attributes: dict[str, Any] = dict(_defaults(found))
    texts = {attribute.name for attribute in found.contract.attributes}
    for key, value in arguments.items():
        listed = elements(value)
        if key in found.contract.settled and listed is not None:
            inputs[key], constants[key] = TensorType(DType.INT64, (len(value),)), tuple(listed)
        elif isinstance(value, TensorType):
            inputs[key] = value
        elif value is None:
            continue  # an operand that is not there
        elif isinstance(value, str) and key not in texts:
            inputs[key] = tensor_type(value)
        else:
            attributes[key] = value
    call = Call(found.name, inputs, kept(found.contract, attributes), constants=constants)
    require(found, call)
    return found.contract.output_types(call)


def _defaults(found: Operator) -> dict[str, str]:
    """What the functions here let a caller leave out."""
    return {a.name: a.default for a in found.contract.attributes if a.default is not None}


def _is_variadic(operands: Sequence[Operand]) -> bool:
    return any(operand.variadic for operand in operands)


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


# By name: what `sonnx` offers for the operators of ONNX.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {found.folder: _function(found) for found in ONNX_OPERATORS}
