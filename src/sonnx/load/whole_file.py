"""Files that are written whole or not at all."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when it is complete; a link is followed to its file."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:  # a terminal or a pipe: nothing there to be kept whole
            yield stream
        return
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    if not part.parent.exists():  # the name of the part would tell nobody anything
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(part.parent))
    try:
        with part.open("xb") as file:
            yield file
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))  # who may read it stays as it was
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
