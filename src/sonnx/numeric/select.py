"""Selection between two arrays, element by element, without looking at what the bits mean."""

import numpy as np

from sonnx.numeric.arrays import Array

# The widest machine word that elements are moved in.
_WORD_BYTES = 8


def select(condition: Array, chosen: Array, otherwise: Array, out: Array | None = None) -> Array:
    """Take `chosen` where the condition is true, else `otherwise`; both of one dtype, every bit kept.

    The same as np.where, which branches at every element and so is slow on irregular conditions: here
    the bits in which both differ are multiplied by 1 or 0 and laid over those of `otherwise`. The result is
    `out`, where that is given.
    """
    if otherwise.dtype == object or otherwise.dtype.itemsize > _WORD_BYTES:
        found = np.where(condition, chosen, otherwise)
        if out is None:
            return found
        out[...] = found
        return out
    word = np.dtype(f"u{otherwise.dtype.itemsize}")
    first, second = chosen.view(word), otherwise.view(word)
    into = None if out is None else out.view(word)
    if _is_nothing(second):
        result = _overlay(condition, first, into)
    elif _is_nothing(first):
        result = _overlay(~condition, second, into)
    else:
        overlay = _overlay(condition, np.bitwise_xor(first, second), None)
        result = np.bitwise_xor(overlay, second, out=overlay if into is None else into)
    return result.view(otherwise.dtype)


def _is_nothing(words: Array) -> bool:
    """Whether all elements have one sequence of bits, in which none is set."""
    return not words.ndim and not words


def _overlay(condition: Array, words: Array, out: Array | None) -> Array:
    """The words where the condition is true, else no bits; in memory of its own, where none is given."""
    found = np.asarray(condition).astype(words.dtype)
    if out is None and words.shape in ((), found.shape):
        out = found
    result: Array = np.multiply(found, words, out=out)
    return result
