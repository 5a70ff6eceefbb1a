"""Elementwise definitions applied block by block, so that temporaries stay in the cache."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array

# A few temporaries of this size fit a second-level cache, and the allocator keeps them at hand.
BLOCK_BYTES = 2**18
# What a few temporaries take together.
_AT_HAND_BYTES = 2**23


@cache
def keep_at_hand() -> None:
    """Let the allocator keep what blocks have given back, instead of asking the system for each anew.

    That of glibc keeps twice as much as the largest piece of memory that it was given back so far.
    """
    np.empty(_AT_HAND_BYTES, np.uint8)


def by_blocks(function: Callable[..., None], *arrays: Array, dtype: np.dtype[Any] | None = None) -> Array:
    """Apply `function(*blocks, out)` to arrays of one shape; the result has that dtype, or the last one's."""
    model = arrays[-1]
    flat = [array.reshape(-1) for array in arrays]
    result = np.empty(model.size, model.dtype if dtype is None else dtype)
    block = BLOCK_BYTES // model.dtype.itemsize
    if model.size <= block:
        function(*flat, result)
    else:
        keep_at_hand()
        for start in range(0, model.size, block):
            stop = start + block
            function(*(array[start:stop] for array in flat), result[start:stop])
    return result.reshape(model.shape)
