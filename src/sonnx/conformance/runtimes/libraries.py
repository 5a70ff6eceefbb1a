"""C sources → a function of a shared library, called on arrays."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np

from sonnx.conformance.runtimes.answer import last_lines
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype

_SECONDS = 120.0
_LIBRARY = "library.so"
# What an output holds that nobody writes to.
_UNWRITTEN = 0xA5


def compiler(names: Iterable[str]) -> str:
    """The first C compiler of these that is there; raises UnavailableError where there is none."""
    wanted = list(names)
    found = next((path for name in wanted if (path := shutil.which(name))), None)
    if found is None:
        raise UnavailableError(f"there is no C compiler: install {' or '.join(wanted)}")
    return os.path.abspath(found)  # it is called from another folder


def workspace(owner: object, name: str) -> Path:
    """A folder that is there as long as its owner; in a child that dies, as long as the child's parent."""
    folder = mkdtemp(prefix=f"sonnx-{name}-")
    finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def compiled(cc: str, flags: Sequence[str], sources: Sequence[str], folder: Path) -> ctypes.CDLL:
    """Compile the sources in a folder into a library, and load it; raises RuntimeError where that fails.

    The compiler belongs to the processes of this one: whoever ends those ends it too.
    """
    # Names without folders, because messages repeat them and folders have names of chance.
    line = [cc, *flags, "-fPIC", "-shared", *sources, "-o", _LIBRARY, "-lm"]
    try:
        done = subprocess.run(line, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{cc} took more than {_SECONDS:g} seconds") from None
    if done.returncode:
        raise RuntimeError(f"{cc} fails: {' / '.join(last_lines(done.stderr))}")
    return ctypes.CDLL(str(folder / _LIBRARY))


def called(
    function: Any, inputs: Iterable[Array], outputs: Iterable[TensorType], *, answers: bool = False
) -> list[Array]:
    """Call a function that takes pointers to inputs and then to outputs; answers the outputs.

    One that `answers` returns 0 where it has made them; else RuntimeError is raised.
    """
    given = [room(array.shape, array.dtype, array) for array in inputs]
    wanted = [(kind.sizes or (), numpy_dtype(kind.dtype)) for kind in outputs if kind.dtype is not None]
    made = [room(sizes, dtype) for sizes, dtype in wanted]
    function.restype = ctypes.c_int32 if answers else None
    status = function(*(ctypes.c_void_p(buffer.ctypes.data) for buffer in (*given, *made)))
    if status:
        raise RuntimeError(f"it returns {status} and gives no result")
    return [
        buffer[: prod(sizes) * dtype.itemsize].view(dtype).reshape(sizes)
        for buffer, (sizes, dtype) in zip(made, wanted, strict=True)
    ]


def room(sizes: Sequence[int], dtype: Any, array: Array | None = None) -> Array:
    """Bytes for an array; for an empty one as if its sizes were 1, because C has no empty arrays."""
    buffer = np.full(prod(max(size, 1) for size in sizes) * dtype.itemsize, _UNWRITTEN, np.uint8)
    if array is not None:
        content = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        buffer[: content.size] = content
    return buffer
