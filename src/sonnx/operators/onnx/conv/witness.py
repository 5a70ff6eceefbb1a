"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any


def in_jax(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    pads = told["pads"]
    half = len(pads) // 2
    Y = jax.lax.conv_general_dilated(
        x["X"],
        x["W"],
        told["strides"],
        list(zip(pads[:half], pads[half:], strict=True)),
        rhs_dilation=told["dilations"],
        feature_group_count=told["group"],
    )
    return Y if "B" not in x else Y + x["B"].reshape(-1, *(1,) * half)
