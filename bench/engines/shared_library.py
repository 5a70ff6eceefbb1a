"""C sources → a loaded shared library."""

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.engines.engine import UnavailableError
from bench.engines.subjects import Array

FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
PATIENCE = 120  # seconds for a compiler or a generator


def command(line: Sequence[str | Path], folder: Path | None = None) -> None:
    """Run a tool in a folder; where it fails, its last words are the reason."""
    try:
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except FileNotFoundError as error:
        raise UnavailableError(f"{line[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{line[0]} took more than {PATIENCE} s") from error
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise UnavailableError(f"{Path(line[0]).name}: {words[-1][:300]}")


def shared_library(source: Path) -> ctypes.CDLL:
    """Compile and load; the library is beside the source."""
    return linked([source], source.with_suffix(".so"))


def linked(parts: Sequence[Path], target: Path) -> ctypes.CDLL:
    """Make a library of sources or objects, and load it."""
    command(["cc", *FLAGS, "-fPIC", "-shared", *parts, "-o", target, "-lm"])
    return ctypes.CDLL(str(target))


def address(array: Array) -> ctypes.c_void_p:
    """Where the elements are; the caller keeps the array alive."""
    return ctypes.c_void_p(array.ctypes.data)
