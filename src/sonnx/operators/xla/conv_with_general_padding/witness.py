"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    return jax.lax.conv_general_dilated(
        x["lhs"],
        x["rhs"],
        told["window_strides"],
        told["padding"],
        lhs_dilation=told.get("lhs_dilation"),
        rhs_dilation=told.get("rhs_dilation"),
    )
