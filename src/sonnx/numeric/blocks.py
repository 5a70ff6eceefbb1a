"""Elementwise definitions applied block by block, so that temporaries stay in the cache."""

from collections.abc import Callable

import numpy as np

from sonnx.numeric.arrays import Array

# 2^15 elements of 8 bytes and two temporaries fit a second-level cache of 1 MiB.
BLOCK = 2**15


def by_blocks(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function of single elements to arrays of one shape; the result has the last one's dtype."""
    model = arrays[-1]
    flat = [array.reshape(-1) for array in arrays]
    result = np.empty(model.size, model.dtype)
    for start in range(0, model.size, BLOCK):
        stop = start + BLOCK
        result[start:stop] = function(*(array[start:stop] for array in flat))
    return result.reshape(model.shape)
