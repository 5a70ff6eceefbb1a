"""Plain files, opened without waiting for anything and replaced as a whole."""

import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: Path) -> tuple[BinaryIO, int]:
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


def write_whole(path: Path, content: bytes) -> None:
    """Write a file: all of it, or nothing. Raises OSError, also where a folder, pipe or device is there."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(0, "it is not a plain file", str(path))
    beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
