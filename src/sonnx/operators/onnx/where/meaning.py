"""Where: output[i] is X[i] where condition[i] is true, else Y[i], bit for bit (D-WHERE-2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.numeric.blocks import by_blocks
from sonnx.numeric.select import select


def meaning(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Choose element by element; nothing is calculated."""
    return {"output": by_blocks(choose, inputs["condition"], inputs["X"], inputs["Y"])}


def choose(condition: Array, X: Array, Y: Array, out: Array) -> None:
    """A byte of `condition` that is not zero is true, whatever its value (D-WHERE-1)."""
    out[...] = select(condition.view(np.uint8) != 0, X, Y)
