"""Arrays out of .npy files that may hold anything: nothing is executed, nothing unwanted is read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sonnx.load.files import open_plain
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, describe, numpy_dtype

_MAGIC = b"\x93NUMPY"
# How many bytes hold the length of the header, by the format's version.
_LENGTHS = {1: 2, 2: 4, 3: 4}
# NumPy itself reads no longer ones.
_LONGEST_HEADER = 10_000
# The three entries of a header; only arrays of plain elements have a type of this form.
_ENTRY = re.compile(
    r"""\s*(?:
        ['"]descr['"]\s*:\s*['"](?P<descr>[<>|=]?[a-zA-Z?][0-9]{0,9})['"]
      | ['"]fortran_order['"]\s*:\s*(?P<order>True|False)
      | ['"]shape['"]\s*:\s*\((?P<shape>[0-9,\ ]*)\)
    )\s*""",
    re.VERBOSE,
)
_AROUND = re.compile(r"\{,,,?\s*\}\s*")
_LONGEST_SIZE = 18


class ArrayFileError(ValueError):
    """A file that does not hold the array that is wanted; the text says why."""


def read_npy(path: Path, kind: TensorType, memory: int) -> Array:
    """Read the array of one type and shape that a .npy file holds; raises ArrayFileError for any other."""
    with _opened(path) as (file, size):
        return _read(file, size, kind, memory)


def read_npy_shape(path: Path) -> tuple[int, ...]:
    """Read of what shape the array in a .npy file is; raises ArrayFileError where there is none."""
    with _opened(path) as (file, _):
        return _header(file)[1]


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """A file and its size; whatever is wrong with it is said with its name."""
    try:
        file, size = open_plain(path)
        with file:
            yield file, size
    except (FileNotFoundError, ValueError) as error:
        # A path with a NUL is a ValueError too.
        problem = str(error) if isinstance(error, ArrayFileError) else "there is no such file"
        raise ArrayFileError(f"{path}: {problem}") from None
    except OSError as error:
        raise ArrayFileError(f"{path}: cannot be read: {error.strerror}") from None


def _read(file: BinaryIO, size: int, kind: TensorType, memory: int) -> Array:
    dtype, shape, fortran = _header(file)
    found = _type(dtype, shape, kind)
    if found.dtype is not kind.dtype or found.sizes != kind.sizes:
        told = "" if found.dtype is kind.dtype else "; nothing is converted"
        raise ArrayFileError(f"must hold {kind}, not {found}{told}")
    wanted, there = prod(shape) * dtype.itemsize, size - file.tell()
    if wanted != there:
        raise ArrayFileError(f"{found} takes {wanted} bytes, after its header the file has {there}")
    if wanted > memory:
        raise ArrayFileError(f"{found} takes more memory than is allowed (--memory)")
    content = file.read(wanted)
    if len(content) != wanted:
        raise ArrayFileError("the file ended early")
    if dtype.kind == "U":
        _require_text(np.frombuffer(content, f"{dtype.str[0]}u4"))
    if found.dtype is DType.BOOL:
        flat: Array = np.frombuffer(content, np.uint8) != 0  # any non-zero byte is true (D-WHERE-1)
    else:
        flat = np.frombuffer(content, dtype)
    if found.dtype is DType.BFLOAT16:
        flat = flat.view(numpy_dtype(DType.BFLOAT16))
    return flat.reshape(shape, order="F" if fortran else "C")


def _require_text(characters: Array) -> None:
    """NumPy takes any number for a character, and breaks on it later."""
    if np.any((characters > 0x10FFFF) | ((characters >= 0xD800) & (characters <= 0xDFFF))):
        raise ArrayFileError("it holds text with characters that there are not")


def _type(dtype: np.dtype, shape: tuple[int, ...], kind: TensorType) -> TensorType:
    """The profile's word for what a file holds."""
    # NumPy's format has no name for bfloat16: it writes two bytes without meaning.
    if kind.dtype is DType.BFLOAT16 and dtype == np.dtype("V2"):
        return TensorType(DType.BFLOAT16, shape)
    found, _ = describe(np.empty(0, dtype))
    return TensorType(found.dtype, shape, foreign=found.foreign)


def _header(file: BinaryIO) -> tuple[np.dtype, tuple[int, ...], bool]:
    """Element type, shape and order of the axes; what is no plain array is refused without a look inside."""
    start = file.read(len(_MAGIC) + 2)
    if len(start) != len(_MAGIC) + 2 or start[:-2] != _MAGIC or start[-2] not in _LENGTHS:
        raise ArrayFileError("it is no .npy file; write one with numpy.save")
    length = int.from_bytes(file.read(_LENGTHS[start[-2]]), "little")
    if length > _LONGEST_HEADER:
        raise ArrayFileError(f"its header has {length} bytes, more than an array needs")
    text = file.read(length).decode("utf-8", "replace")
    found = [entry.groupdict() for entry in _ENTRY.finditer(text)]
    entries = {name: value for entry in found for name, value in entry.items() if value is not None}
    if not _AROUND.fullmatch(_ENTRY.sub("", text)) or len(found) != 3 or len(entries) != 3:
        raise ArrayFileError("its header is not that of an array of numbers or text")
    return _dtype(entries["descr"]), _shape(entries["shape"]), entries["order"] == "True"


def _dtype(written: str) -> np.dtype:
    try:
        dtype = np.dtype(written)
    except (TypeError, ValueError):
        raise ArrayFileError(f"there is no element type {written!r}") from None
    if dtype.hasobject:
        raise ArrayFileError("it holds Python objects, which are not read because they could be programs")
    return dtype


def _shape(written: str) -> tuple[int, ...]:
    sizes = [size for size in written.replace(" ", "").split(",") if size]
    if any(len(size) > _LONGEST_SIZE for size in sizes):
        raise ArrayFileError("a size in its header is too large for any array")
    return tuple(map(int, sizes))
