"""What the operators that convert have in common beside the word `converted`: JAX's function for it."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import ONNX_NUMBERS, XLA_TYPES
from sonnx.numeric.arrays import numpy_dtype

_TYPES: Mapping[Any, Any] = {
    **XLA_TYPES,
    **{number: dtype for dtype, number in ONNX_NUMBERS.items()},
}


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write; the first attribute names the type."""
    (operand,) = x.values()
    to, *_ = told.values()
    return jax.lax.convert_element_type(operand, numpy_dtype(_TYPES[to]))
