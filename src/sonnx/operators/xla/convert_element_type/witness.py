"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import XLA_TYPES
from sonnx.numeric.arrays import numpy_dtype


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    return jax.lax.convert_element_type(x["operand"], numpy_dtype(XLA_TYPES[told["new_element_type"]]))
