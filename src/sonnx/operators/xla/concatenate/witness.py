"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    return jax.lax.concatenate(list(x.values()), told["dimension"])
