"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any


def in_jax(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    return jax.numpy.broadcast_arrays(*x.values())
