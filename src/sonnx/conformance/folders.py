"""Folders that are written whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def is_free(target: Path) -> bool:
    """Tell whether nothing would be lost there: nothing is there, or an empty folder."""
    return not target.exists() or (target.is_dir() and not any(target.iterdir()))


def require_elsewhere(target: Path) -> None:
    """Refuse a folder in which somebody stands: it would be another one. Raises FileExistsError."""
    if Path.cwd().resolve().is_relative_to(target):
        raise FileExistsError(f"{target} is the current folder, or above it; name a new folder in it")


class _TriedError(Exception):
    """Nothing is to be kept of a folder that was only tried."""


def require_writable(target: Path) -> None:
    """Find out whether a folder could be written, and leave no trace of that; raises OSError."""
    with suppress(_TriedError), whole_folder(target) as part:
        (part / "tried").touch()
        raise _TriedError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A folder beside the one that is wanted, which takes its place when all is well and is gone otherwise.

    What was there before is there no more, so the caller has looked at it. Folders that are missing above it
    are made, and are gone again where it could not be written.
    """
    missing = [folder for folder in target.parents if not folder.exists()]
    part, before = (target.with_name(f".{secrets.token_hex(8)}.{end}") for end in ("part", "before"))
    try:
        part.mkdir(parents=True)
        yield part
        if is_free(target):
            os.rename(part, target)
        else:
            os.rename(target, before)
            os.rename(part, target)
            shutil.rmtree(before, ignore_errors=True)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        for folder in missing:
            # What another has put there meanwhile stays.
            with suppress(OSError):
                folder.rmdir()
        raise
