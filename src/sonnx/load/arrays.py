"""Results as files: no name leaves its folder, and nothing is half-written."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from sonnx.load.whole_file import whole_file
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, dtype_of, numpy_dtype
from sonnx.numeric.balls import Ball, settled
from sonnx.numeric.real import real_text
from sonnx.numeric.rounding import nearest

# Most file systems end names at 255 bytes; an extension follows.
_LONGEST_NAME = 200


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
    """The SHA-256 of an array's elements in C order, little-endian; reals and strings are a list in JSON."""
    if array.dtype == np.dtype(object):
        return digest(json.dumps(_elements(array)).encode())
    if array.dtype == numpy_dtype(DType.BFLOAT16):
        array = array.view(np.uint16)
    return digest(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def _elements(array: Array) -> list[str | dict[str, str]]:
    """What JSON holds of reals and strings: texts; of a number that is no fraction, where it lies."""
    return [_enclosed(e) if isinstance(e, Ball) else _text(e) for e in array.reshape(-1)]


def _text(element: str | Fraction) -> str:
    return real_text(element) if isinstance(element, Fraction) else str(element)


def _enclosed(element: Ball) -> dict[str, str]:
    """The number is no farther from the midpoint than the radius; both hang on it and the precision alone."""
    midpoint, radius = element.decimal()
    return {"midpoint": midpoint, "radius": radius}


def write_array(folder: Path, name: str, array: Array) -> list[Path]:
    """Write a result as .npy; reals also in .json, as fractions or enclosures; strings as .json alone."""
    stem = safe_name(name)
    dtype = dtype_of(array)
    paths = []
    if dtype in (DType.REAL, DType.STRING):
        path = folder / f"{stem}.json"
        document = {
            "name": name,
            "type": str(dtype),
            "shape": list(array.shape),
            "elements": _elements(array),
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
    rounded[:] = [settled(element, partial(nearest, dtype=DType.DOUBLE)) for element in array.reshape(-1)]
    return rounded.reshape(array.shape)
