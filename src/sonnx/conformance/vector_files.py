"""Arrays as files that need no sonnx: ONNX's tensors, NumPy's arrays, and where a sum may lie."""

from functools import lru_cache
from math import inf, isfinite, nextafter
from sys import float_info
from typing import Any

import numpy as np
from onnx import TensorProto

from sonnx.load.tensors import write_tensor
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.balls import Real, ends
from sonnx.numeric.enclosure import Enclosure

# What `special` says of an element: a number, a NaN or an infinity. Where a sum may overflow upwards, 4 is
# added, and 8 where it may downwards; 16 where a zero must be +0.
NUMBER, NAN, INFINITY, MINUS_INFINITY = range(4)
ABOVE, BELOW, POSITIVE = 4, 8, 16

# How an .npy file begins: its mark and version 1.0. Its head is filled up to such a multiple of bytes.
_MARK = b"\x93NUMPY\x01\x00"
_MULTIPLE = 64


def tensor_bytes(name: str, array: Array) -> bytes:
    """A tensor as a file of ONNX's; every bit is kept, and the same array gives the same bytes."""
    proto = TensorProto()
    write_tensor(proto, Constant(name, TensorType(held_type(array), array.shape), array))
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def npy_type(dtype: DType) -> str | None:
    """What an .npy file of the type holds, in NumPy's words: bfloat16 as its bits; strings have none.

    NumPy's own strings have a fixed width and lose a NUL at their end; what keeps it is executed to be read.
    """
    if dtype is DType.STRING:
        return None
    held = np.dtype(np.uint16) if dtype is DType.BFLOAT16 else numpy_dtype(dtype)
    return held.newbyteorder("<").str


def npy_bytes(array: Array) -> bytes:
    """An array as an .npy file, in C order and little-endian; no other version of NumPy writes other bytes.

    Raises ValueError for strings.
    """
    stored = npy_type(held_type(array))
    if stored is None:
        raise ValueError("no .npy file holds strings")
    held = np.ascontiguousarray(array).reshape(-1)
    bits = held.view(np.uint16) if held_type(array) is DType.BFLOAT16 else held
    return _head(stored, array.shape) + bits.astype(stored, copy=False).tobytes()


@lru_cache(1024)
def _head(stored: str, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': {stored!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    before = len(_MARK) + 2
    length = -(-(before + len(text) + 1) // _MULTIPLE) * _MULTIPLE - before
    return _MARK + length.to_bytes(2, "little") + f"{text.ljust(length - 1)}\n".encode("ascii")


def interval(enclosure: Enclosure) -> tuple[Array, Array, Array]:
    """An enclosure as the least and the greatest double inside, and what is special about an element.

    Every result is a float of at most 64 bits, so a double: it lies between these two where it lies inside,
    and nowhere else. Where no finite number lies inside, the least is +inf or the greatest -inf.
    """
    shape = enclosure.exact.shape
    low, high = (enclosure.special.astype(np.float64).reshape(-1) for _ in range(2))
    exact, bound = enclosure.exact.reshape(-1), enclosure.bound.reshape(-1)
    for place in np.flatnonzero(enclosure.special.reshape(-1) == 0).tolist():
        low[place], high[place] = _ends(exact[place], float(bound[place]))
    return low.reshape(shape), high.reshape(shape), _codes(enclosure)


def _ends(exact: Real, bound: float) -> tuple[float, float]:
    if not isfinite(bound):  # then any number may come
        return -inf, inf
    # Whole numbers over one denominator: fractions would be reduced again and again, a million times.
    (m, e), (least, most) = bound.as_integer_ratio(), ends(exact)
    (n, d), (p, q) = least.as_integer_ratio(), most.as_integer_ratio()
    low = _at_least(n * e - m * d, d * e)
    return low, 0.0 - _at_least(-p * e - m * q, q * e)  # a 0 stays positive


def _at_least(number: int, unit: int) -> float:
    """The least double that is not less than number / unit; +inf where all are."""
    try:
        near = number / unit  # rounded to the nearest, however long both are
    except OverflowError:
        return inf if number > 0 else -float_info.max
    n, d = near.as_integer_ratio()
    return nextafter(near, inf) if n * unit < number * d else near


def _codes(enclosure: Enclosure) -> Array:
    special = enclosure.special
    kinds: tuple[tuple[Any, int], ...] = (
        (np.isnan(special), NAN),
        (special == inf, INFINITY),
        (special == -inf, MINUS_INFINITY),
    )
    codes = np.full(special.shape, NUMBER, np.uint8)
    for mask, code in kinds:
        codes[mask] = code
    codes[enclosure.above] += ABOVE
    codes[enclosure.below] += BELOW
    codes[enclosure.positive & (codes & 3 == NUMBER)] += POSITIVE
    return codes
