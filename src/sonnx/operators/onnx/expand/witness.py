"""JAX's own function for it."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def in_jax(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    """What somebody would write."""
    wanted = np.broadcast_shapes(x["input"].shape, tuple(int(size) for size in x["shape"]))
    return jax.numpy.broadcast_to(x["input"], wanted)
