"""Plain files, opened without waiting for anything."""

import os
import stat
from io import BufferedReader
from pathlib import Path


def open_plain(path: Path) -> tuple[BufferedReader, int]:
    """Open a file for reading, and tell its size; raises OSError, also for a pipe or a device."""
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115  the caller closes it
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode):
        file.close()
        raise OSError(0, "it is not a plain file")
    return file, about.st_size


def _at_once(path: str, flags: int) -> int:
    # Without this flag, which Windows does not have, a named pipe would wait for a writer for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
