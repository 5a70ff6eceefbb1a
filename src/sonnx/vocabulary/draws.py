"""Trials drawn piece by piece, by whoever can make them simpler again; operators do not know how it draws."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Protocol, TypeVar

import numpy as np

from sonnx.model.dtype import INTEGERS, SIGNED, DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.vocabulary.special_values import Random, Shape, any_bits, special_vector
from sonnx.vocabulary.trial import Trial

T = TypeVar("T")

# The largest size of each axis, by their number: a few dozen elements in all.
_LARGEST = (1, 36, 6, 3)
# By so much the last axis may be longer once in a while: kernels take long lines several elements at a time.
_LONGER = 240
# No drawn array has more elements.
MOST_ELEMENTS = 9 * (_LARGEST[3] + _LONGER)
_WHOLE = (0, 1, 2, 3, -1, -2)
# Of 256 codes of an element, those from here on stand for any bits.
_ANY_BITS = 208
_RARE = 15


class Draw(Protocol):
    """Makes choices; where all of them are the simplest, so is the trial."""

    def integer(self, low: int, high: int) -> int:
        """An integer from `low`, which is the simplest, to `high`; there are 256 at most."""
        ...

    def codes(self, count: int) -> bytes:
        """So many bytes, `MOST_ELEMENTS` at most; zeros are the simplest."""
        ...


# The type on trial → a small trial that obeys every rule.
Drawn = Callable[[Draw, DType], Trial]


def choice(draw: Draw, options: Sequence[T]) -> T:
    """One of several; the first is the simplest."""
    return options[draw.integer(0, len(options) - 1)]


def rarely(draw: Draw) -> bool:
    """True once in a while."""
    return draw.integer(0, _RARE) == _RARE


def drawn_shape(draw: Draw, least: int = 0) -> Shape:
    """A shape of `least` to three axes; once in a while a size is 0, or the last one is large."""
    ranks = range(least, len(_LARGEST))
    # There are not many scalars: twice as often it is something else.
    rank = choice(draw, [*ranks, *(rank for rank in ranks if rank)])
    sizes = [draw.integer(1, _LARGEST[rank]) for _ in range(rank)]
    if rank and rarely(draw):
        sizes[draw.integer(0, rank - 1)] = 0
    elif rank and rarely(draw):
        sizes[-1] += draw.integer(1, _LONGER)
    return tuple(sizes)


def drawn_from(draw: Draw, values: Array, shape: Shape) -> Array:
    """An array of a vector's elements, of which the first is the simplest; of many the first 256."""
    codes = np.frombuffer(draw.codes(prod(shape)), np.uint8).astype(np.intp)
    return values[codes % len(values)].reshape(shape)


def drawn_array(draw: Draw, dtype: DType, shape: Shape, *, signalling: bool = False) -> Array:
    """Whole numbers, special values and elements of any bits; zeros are the simplest, then ones."""
    return drawn_beside(
        draw,
        simple_values(dtype, signalling=signalling),
        shape,
        lambda random: any_bits(random, dtype, prod(shape), signalling=signalling),
        _ANY_BITS,
    )


def drawn_beside(
    draw: Draw, simple: Array, shape: Shape, make: Callable[[Random], Array], first: int
) -> Array:
    """Elements of a vector, and beside them those with codes from `first` on, which are made at random."""
    random = np.random.default_rng([draw.integer(0, 255), draw.integer(0, 255)])
    codes = np.frombuffer(draw.codes(prod(shape)), np.uint8)
    chosen = simple[codes % len(simple)]
    return np.where(codes < first, chosen, make(random).reshape(-1)).reshape(shape)


@lru_cache
def whole_values(dtype: DType) -> Array:
    """A few whole numbers of a type that has numbers, the simplest first."""
    numbers = [value for value in _WHOLE if value >= 0 or dtype not in INTEGERS or dtype in SIGNED]
    if dtype in INTEGERS:
        return np.array(numbers, numpy_dtype(dtype))
    reals = np.stack([np.asarray(nearest(Fraction(value), PART.get(dtype, dtype))) for value in numbers])
    if dtype in FORMATS:
        return reals
    return np.stack([reals, np.zeros_like(reals)], axis=1).view(numpy_dtype(dtype)).reshape(-1)


@lru_cache
def simple_values(dtype: DType, *, signalling: bool = False) -> Array:
    """A few whole numbers, then all special values; the simplest first, each once."""
    special = special_vector(dtype, signalling=signalling)
    if dtype in (DType.BOOL, DType.STRING):
        return special
    every = np.concatenate([whole_values(dtype), special])
    seen = [element.tobytes() for element in every]
    return every[[place for place, bits in enumerate(seen) if bits not in seen[:place]]]
