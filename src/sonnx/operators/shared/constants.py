"""The elements that a Constant node holds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Node
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.operators.rules.lists import is_integer

# How each attribute of Constant holds elements; the last is the rank.
_CONSTANTS = {
    "value_float": (DType.FLOAT, 0),
    "value_floats": (DType.FLOAT, 1),
    "value_int": (DType.INT64, 0),
    "value_ints": (DType.INT64, 1),
    "value_string": (DType.STRING, 0),
    "value_strings": (DType.STRING, 1),
}


def _is_text(value: object) -> bool:
    """Bytes of a file that are no UTF-8 are held as lone surrogates, and are no text."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


_ELEMENTS: dict[DType, Callable[[object], bool]] = {
    DType.FLOAT: lambda value: isinstance(value, float),
    DType.INT64: is_integer,
    DType.STRING: _is_text,
}


def held_constant(node: Node) -> Constant | None:
    """The tensor that a Constant node holds, as an initializer; None where it holds none that is plain."""
    if node.operator != "Constant" or node.domain or node.repeated or len(node.outputs) != 1:
        return None
    if len(node.attributes) != 1 or node.inputs or not node.outputs[0]:
        return None
    ((name, value),) = node.attributes.items()
    if isinstance(value, Constant):
        return replace(value, name=node.outputs[0]) if name == "value" and value.data is not None else None
    return _listed_constant(node.outputs[0], name, value)


def _listed_constant(output: str, name: str, value: Any) -> Constant | None:
    dtype, rank = _CONSTANTS.get(name, (None, 0))
    elements = value if isinstance(value, tuple) else (value,)
    if dtype is None or isinstance(value, tuple) != (rank == 1):
        return None
    if not all(map(_ELEMENTS[dtype], elements)):
        return None
    data = np.empty(len(elements), numpy_dtype(dtype))
    data[:] = elements
    shaped = data if rank else data.reshape(())
    return Constant(output, TensorType(dtype, shaped.shape), shaped)
