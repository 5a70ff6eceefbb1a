"""Arrays beside models, in and out: nothing of a file is executed, and no name leaves its folder."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from sonnx.load.whole_file import whole_file
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, dtype_of, numpy_dtype
from sonnx.numeric.rounding import nearest

# Most file systems end names at 255 bytes; an extension follows.
_LONGEST_NAME = 200


class ArrayFileError(ValueError):
    """A file that holds no array; the text says why."""


def read_array(path: Path, kind: TensorType) -> Array:
    """Read a .npy file; nothing in it is executed, and no more is read than the file holds."""
    try:
        # Mapped, a file that announces more than it holds is refused before memory is taken.
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, TypeError, SyntaxError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ArrayFileError(
            f"{path} cannot be read as a .npy array: {reason.splitlines()[0][:200]}"
        ) from None
    if not isinstance(array, np.ndarray):
        raise ArrayFileError(f"{path} holds several arrays; give a .npy file with one")
    array = np.array(array)
    # NumPy's format has no name for bfloat16: it writes two bytes without meaning.
    if kind.dtype is DType.BFLOAT16 and array.dtype == np.dtype("V2"):
        return array.view(numpy_dtype(DType.BFLOAT16))
    return array


def safe_name(name: str) -> str:
    """A tensor's name as the name of a file: letters, digits, `.`, `_` and `-` stay, the rest is escaped."""
    escaped = quote(name.encode("utf-8", "surrogatepass"), safe="")
    if escaped.startswith("."):
        escaped = f"%2E{escaped[1:]}"
    if len(escaped) > _LONGEST_NAME:
        escaped = f"{escaped[:_LONGEST_NAME]}-{digest(name.encode('utf-8', 'surrogatepass'))[:16]}"
    return escaped


def digest(content: bytes) -> str:
    """The SHA-256 of some bytes."""
    return sha256(content).hexdigest()


def array_digest(array: Array) -> str:
    """The SHA-256 of an array's elements in C order, little-endian; of reals and strings as text."""
    if array.dtype == np.dtype(object):
        return digest("\n".join(map(str, array.reshape(-1))).encode("utf-8", "surrogatepass"))
    if array.dtype == numpy_dtype(DType.BFLOAT16):
        array = array.view(np.uint16)
    return digest(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def write_array(folder: Path, name: str, array: Array) -> list[Path]:
    """Write a result as .npy; reals also exactly, as fractions in .json beside it; strings as .json alone."""
    stem = safe_name(name)
    dtype = dtype_of(array)
    paths = []
    if dtype in (DType.REAL, DType.STRING):
        path = folder / f"{stem}.json"
        document = {
            "name": name,
            "type": str(dtype),
            "shape": list(array.shape),
            "elements": [str(element) for element in array.reshape(-1)],
        }
        _write(path, lambda file: file.write(json.dumps(document, indent=1).encode()))
        paths.append(path)
    if dtype is not DType.STRING:
        path = folder / f"{stem}.npy"
        _write(path, lambda file: np.save(file, doubles(array), allow_pickle=False))
        paths.append(path)
    return paths


def _write(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    with whole_file(path) as file:
        write(file)


def doubles(array: Array) -> Array:
    """Real numbers rounded once to the nearest doubles; any other array as it is."""
    if dtype_of(array) is not DType.REAL:
        return array
    rounded = np.empty(array.size, np.float64)
    rounded[:] = [nearest(element, DType.DOUBLE) for element in array.reshape(-1)]
    return rounded.reshape(array.shape)
