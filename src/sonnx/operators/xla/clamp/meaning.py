"""Clamp as minimum and maximum of IEEE 754-2019 (D-XLA-1), one definition for every type."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.numeric.blocks import by_blocks
from sonnx.numeric.select import select


def meaning(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y = minimum(maximum(X, L), M), element by element; a scalar bound serves all elements."""
    X = inputs["operand"]
    bounds = {name: inputs[name] for name in ("min", "max")}
    whole = [name for name, bound in bounds.items() if bound.shape == X.shape]

    def limit(*blocks: Array) -> None:
        *given, x, out = blocks
        here = bounds | dict(zip(whole, given, strict=True))
        out[...] = minimum(maximum(x, here["min"]), here["max"])

    return {"output": by_blocks(limit, *(bounds[name] for name in whole), X)}


def maximum(a: Array, b: Array) -> Array:
    """The larger of both; a NaN if there is one, and +0 counts as larger than -0."""
    return _nan_or(a, b, select((a > b) | ((a == b) & _positive(a)), a, b))


def minimum(a: Array, b: Array) -> Array:
    """The smaller of both; a NaN if there is one, and -0 counts as smaller than +0."""
    return _nan_or(a, b, select((a < b) | ((a == b) & ~_positive(a)), a, b))


def _nan_or(a: Array, b: Array, otherwise: Array) -> Array:
    # Only a NaN differs from itself; integers and reals never do.
    return select(a != a, a, select(b != b, b, otherwise))  # noqa: PLR0124  that comparison is the definition


def _positive(x: Array) -> Array:
    """No sign bit, where there is one: tells +0 from -0, and nothing hangs on it elsewhere."""
    if x.dtype.kind in "iubO":
        return np.ones(x.shape, bool)
    return x.view(f"i{x.dtype.itemsize}") >= 0
