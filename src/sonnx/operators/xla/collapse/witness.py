"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    dimensions = told["dimensions"]
    return jax.lax.collapse(x["operand"], dimensions[0], dimensions[-1] + 1)
