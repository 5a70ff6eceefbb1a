"""Literals of definitions in an element type: exact numbers, rounded once (D-ALL-12)."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.rounding import FORMATS, nearest, number
from sonnx.terms.term import DefinitionError, Term


def literal(term: Term, dtype: DType) -> Array:
    """The array without axes that holds a `literal` or the word `lowest` in a type."""
    held = np.empty((), numpy_dtype(dtype))
    held[()] = _lowest(dtype) if term.word == "lowest" else _nearest(term.data, dtype)
    return held


def _lowest(dtype: DType) -> Any:
    if dtype in INTEGERS:
        return np.iinfo(numpy_dtype(dtype)).min
    if dtype in FORMATS:
        return number(FORMATS[dtype].infinity, dtype, negative=True)
    raise DefinitionError(f"{dtype} has no least element")


@lru_cache(1024)
def _nearest(value: Fraction | str, dtype: DType) -> Any:
    if isinstance(value, Fraction):
        if dtype is DType.REAL:
            return value
        if dtype in FORMATS:
            return nearest(value, dtype)
        if value.denominator == 1 and dtype in INTEGERS:
            return int(value)
    elif dtype in FORMATS:
        form = FORMATS[dtype]
        magnitude = form.quiet_nan if value == "nan" else form.infinity
        return number(magnitude, dtype, negative=value == "-inf")
    raise DefinitionError(f"{dtype} has no element {value}")
