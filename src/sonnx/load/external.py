"""Elements that lie in a file of their own: read only from the model's folder, and only what is asked for."""

import hashlib
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path

from sonnx.load.files import open_plain
from sonnx.load.limits import Budget
from sonnx.load.strings import quoted


class ExternalError(ValueError):
    """Why external data cannot be had; the text is for people."""


def read_external(folder: Path, entries: Mapping[str, str], size: int, budget: Budget) -> bytes:
    """Read the `size` bytes of a tensor from the file that `entries` name inside `folder`.

    The file is added to those that the budget names.
    """
    offset = _number(entries, "offset", 0)
    length = _number(entries, "length", size)
    if length != size:
        raise ExternalError(f"length {length} does not match the {size} bytes of its type and shape")
    path = _inside(folder, entries.get("location", ""))
    try:
        file, available = open_plain(path)
        with file:
            if offset + size > available:
                raise ExternalError(f"{quoted(path.name)} has {available} bytes, needed are {offset + size}")
            _verify(entries, path, file, available, budget)
            file.seek(offset)
            content = file.read(size)
            budget.external.add(str(path))
    except OSError as error:
        raise ExternalError(f"{quoted(path.name)} cannot be read: {error.strerror}") from None
    if len(content) != size:
        raise ExternalError(f"{quoted(path.name)} ended early")
    return content


def _inside(folder: Path, location: str) -> Path:
    """The file, with every symbolic link followed; it must lie in the folder even so."""
    if not location or "\0" in location:
        raise ExternalError(f"location {quoted(location)} names no file")
    given = Path(location)
    if given.is_absolute() or ".." in given.parts or "\\" in location or ":" in location:
        raise ExternalError(f"location {quoted(location)} must be a path inside the model's folder")
    try:
        home = folder.resolve(strict=True)
        path = (home / given).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # missing, links in a circle, a name that no system takes
        raise ExternalError(f"there is no file {quoted(location)} beside the model") from None
    if not path.is_relative_to(home):
        raise ExternalError(f"location {quoted(location)} leads out of the model's folder")
    return path


def _number(entries: Mapping[str, str], key: str, default: int) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ExternalError(f"{key} {quoted(text)} is no count of bytes")
    return int(text)


def _verify(
    entries: Mapping[str, str], path: Path, file: BufferedReader, available: int, budget: Budget
) -> None:
    """ONNX lets a tensor carry the SHA-1 digest of the file; a wrong one means another file."""
    stated = entries.get("checksum", "").lower()
    if not stated:
        return
    # Many tensors lie in one file, which is read for this once.
    if str(path) not in budget.digests:
        if not budget.take_hash(available):
            raise ExternalError(f"{quoted(path.name)} is too large for its SHA-1: {budget.words()}")
        found = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False))
        budget.digests[str(path)] = found.hexdigest()
    if budget.digests[str(path)] != stated:
        raise ExternalError(f"{quoted(path.name)} has another SHA-1 than the stated {quoted(stated)}")
