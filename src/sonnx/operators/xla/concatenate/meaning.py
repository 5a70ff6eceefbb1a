"""Concatenate: the operands one after the other along one dimension."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.operators.xla.concatenate.shapes import joined_shape


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[i, n, k] = X_m[i, n - start_m, k], where start_m is the sum of the sizes before operand m."""
    operands, dimension = list(inputs.values()), int(attributes["dimension"])
    Y = np.empty(joined_shape([X.shape for X in operands], dimension), operands[0].dtype)
    start = 0
    for X in operands:
        stop = start + X.shape[dimension]
        Y[(slice(None),) * dimension + (slice(start, stop),)] = X
        start = stop
    return {"output": Y}
