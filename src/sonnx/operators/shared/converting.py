"""What operators that convert have in common beside the word `converted`: types, a mode, JAX's function."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import FOREIGN_NUMBERS, IEEE, INTEGERS, ONNX_NUMBERS, XLA_TYPES, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.operators.rules.converting import Converting
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute

# The types that Cast converts to; neither texts nor complex numbers, nor types that the profile lacks.
ONNX_TYPES = (*IEEE, *INTEGERS, DType.BOOL, DType.BFLOAT16)
_OTHERS = {number: dtype.value for dtype, number in ONNX_NUMBERS.items() if dtype not in ONNX_TYPES}
ONNX = Converting(
    "input", "to", {ONNX_NUMBERS[dtype]: dtype for dtype in ONNX_TYPES}, _OTHERS | FOREIGN_NUMBERS
)
XLA = Converting("operand", "new_element_type", XLA_TYPES, {})
DOMAIN = Attribute(
    "domain",
    "text",
    "ieee: round to the type; real: floats stay exact",
    mode=True,
    default="ieee",
    holds=OneOf(("ieee", "real")),
)
_TYPES: Mapping[Any, DType] = {**XLA.types, **ONNX.types}


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write; one attribute names the type."""
    (operand,) = x.values()
    (to,) = (told[each.attribute] for each in (ONNX, XLA) if each.attribute in told)
    return jax.lax.convert_element_type(operand, numpy_dtype(_TYPES[to]))
