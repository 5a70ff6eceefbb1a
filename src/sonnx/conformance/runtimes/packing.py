"""Arrays as bytes, every bit of them, and back: nothing is converted and nothing is executed."""

from dataclasses import dataclass
from math import prod

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype

# NumPy's arrays end here.
MOST_AXES = 64
_LENGTH = np.dtype("<u4")


class PackingError(ValueError):
    """Bytes that hold no array of the type and shape that they are said to have."""


@dataclass(frozen=True)
class Packed:
    """An array as a value: its type and its bytes in C order, little-endian.

    Strings are their lengths, four bytes each, and then all of them in UTF-8.
    """

    dtype: DType
    shape: tuple[int, ...]
    content: bytes

    @property
    def type(self) -> TensorType:
        """The tensor's type."""
        return TensorType(self.dtype, self.shape)


def pack(array: Array) -> Packed:
    """The bytes of an array that `hold` has prepared."""
    dtype = held_type(array)
    if dtype is DType.STRING:
        # Lone surrogates are no characters, and yet what somebody gave.
        texts = [str(element).encode("utf-8", "surrogatepass") for element in array.reshape(-1).tolist()]
        lengths = np.array([len(text) for text in texts], _LENGTH)
        return Packed(dtype, array.shape, b"".join([lengths.tobytes(), *texts]))
    bits = array.view(np.uint16) if dtype is DType.BFLOAT16 else array
    return Packed(dtype, array.shape, bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes())


def unpack(packed: Packed) -> Array:
    """A new array, which nobody else writes to; raises PackingError where the bytes do not fit."""
    shape, number = packed.shape, prod(packed.shape)
    if len(shape) > MOST_AXES:
        raise PackingError(f"{len(shape)} axes are more than {MOST_AXES}")
    if packed.dtype is DType.STRING:
        flat = _strings(packed.content, number)
    else:
        flat = _numbers(packed.content, packed.dtype, number)
    try:
        return flat.reshape(shape)
    except ValueError:  # sizes beside a 0 that no array can have
        raise PackingError(f"no array has the shape {list(shape)}") from None


def _numbers(content: bytes, dtype: DType, number: int) -> Array:
    held = numpy_dtype(dtype)
    if len(content) != number * held.itemsize:
        raise PackingError(
            f"{number} elements of {dtype} take {number * held.itemsize} bytes, not {len(content)}"
        )
    stored = np.dtype(np.uint16) if dtype is DType.BFLOAT16 else held
    # A copy, because compiled code takes elements to lie at multiples of their size.
    raw = np.frombuffer(content, stored.newbyteorder("<")).astype(stored)
    return raw.view(held)


def _strings(content: bytes, number: int) -> Array:
    start = number * _LENGTH.itemsize
    if len(content) < start:
        raise PackingError(f"{len(content)} bytes are too few for {number} strings")
    ends = np.cumsum(np.frombuffer(content, _LENGTH, number), dtype=np.uint64).tolist()
    if start + (ends[-1] if ends else 0) != len(content):
        raise PackingError("the lengths of strings do not sum up to what is there")
    flat = np.empty(number, object)
    try:
        for index, end in enumerate(ends):
            begin = ends[index - 1] if index else 0
            flat[index] = content[start + begin : start + end].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise PackingError("a string is not UTF-8") from None
    return flat
