"""Files kept between runs, in a folder of which nothing is believed that another user could have written.

The folder and its files are ours alone, every folder above them belongs to us or to the system, and what has
been looked at is what is used. A folder that is not so is left alone.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time

# What a process that was killed has left; nothing that is kept takes a day to make.
_LEFTOVER_SECONDS = 86400
_DIGEST_BYTES = 32
# Nothing that is kept is nearly as large; what is has been made by somebody else, to be read into memory.
_LARGEST = 2**29
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UnfitError(Exception):
    """A folder or file that must not be used, and why."""


def cache_folder() -> Path | None:
    """Where things are kept: $SONNX_CACHE_DIR, else in the user's folder of caches; None without a home."""
    if given := os.environ.get("SONNX_CACHE_DIR"):
        return Path(os.path.abspath(given))
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):
        return Path(shared) / "sonnx"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if not home.is_absolute() or not home.is_dir():
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "sonnx"


def kept_folder(name: str, what: str) -> Path:
    """The folder of one sort of kept files, made where it is missing; raises where it is not ours alone.

    `what` says what is to be kept there, for the message of an UnfitError; also raises OSError.
    """
    if not hasattr(os, "geteuid"):
        raise UnfitError(f"this system does not tell whose a file is, so {what} are not kept")
    folder = cache_folder()
    if folder is None:
        raise UnfitError(f"there is no home folder; SONNX_CACHE_DIR may name a folder for {what}")
    # People move their caches by symbolic links above it; from here on the real path is used.
    folder = Path(os.path.realpath(folder.parent)) / folder.name
    for path in reversed(folder.parents):
        _make(path)
        _require_stable(path)
    return own_folder(own_folder(folder) / name)


def write_whole(target: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, readable by us alone."""
    handle, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sealed(content: bytes) -> bytes:
    """Content with its digest behind it, by which `opened_ours` knows whether a file is whole."""
    return content + sha256(content).digest()


@contextmanager
def opened_ours(folder: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """A sealed file that is ours alone and whole: the open file that has been looked at, and its content.

    Raises UnfitError where it is not so, and OSError where it cannot be read.
    """
    with _opened(folder, os.O_DIRECTORY) as directory, _opened(name, os.O_NONBLOCK, directory) as file:
        _require_ours(os.fstat(directory), folder)
        state = os.fstat(file)
        _require_ours(state, folder / name)
        if not stat.S_ISREG(state.st_mode):
            raise UnfitError(f"{folder / name} is not a file")
        if state.st_size > _LARGEST:
            raise UnfitError(f"{folder / name} is larger than anything that is kept")
        with open(file, "rb", closefd=False) as stream:
            content = stream.read()
        if sha256(content[:-_DIGEST_BYTES]).digest() != content[-_DIGEST_BYTES:]:
            raise UnfitError(f"{folder / name} is damaged")
        yield file, content[:-_DIGEST_BYTES]


@contextmanager
def _opened(path: Path | str, flags: int, folder: int | None = None) -> Iterator[int]:
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=folder)
    try:
        yield number
    finally:
        os.close(number)


def bound(folder: Path, suffix: str, most: int, needed: Collection[str] = ()) -> None:
    """Remove the oldest files with a suffix where there are too many; others make anew what they miss.

    Those that are `needed`, by name, stay, however many they are.
    """
    with suppress(OSError):
        files = [Path(entry) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
        by_age = sorted((path.lstat().st_mtime, path) for path in files)
        kept = [path for _, path in by_age if path.suffix == suffix and path.name not in needed]
        most -= sum(path.name in needed for _, path in by_age)
        leftovers = [
            path for age, path in by_age if path.suffix != suffix and age < time() - _LEFTOVER_SECONDS
        ]
        for path in kept[: max(0, len(kept) - max(0, most))] + leftovers:
            path.unlink(missing_ok=True)


def own_folder(path: Path) -> Path:
    """A folder that is ours alone, made where it is missing; raises UnfitError or OSError."""
    _make(path)
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise UnfitError(f"{path} is not a folder, or a symbolic link to one")
    _require_ours(state, path)
    return path


def _make(path: Path) -> None:
    with suppress(FileExistsError):  # another process was first, or it is no folder
        if not path.is_dir():
            path.mkdir(mode=0o700)


def _require_ours(state: os.stat_result, path: Path) -> None:
    if state.st_uid != os.geteuid():
        raise UnfitError(f"{path} belongs to another user")
    if state.st_mode & _WRITABLE_BY_OTHERS:
        raise UnfitError(f"{path} can be written by others")


def _require_stable(path: Path) -> None:
    """Nobody but we and the system can put another folder in the place of one inside this one."""
    state = path.lstat()
    if state.st_uid not in {0, os.geteuid()}:
        raise UnfitError(f"{path} belongs to another user")
    others = state.st_mode & _WRITABLE_BY_OTHERS
    if others == stat.S_IWGRP and _is_private_group(state.st_gid):
        return
    if others and not state.st_mode & stat.S_ISVTX:
        raise UnfitError(f"{path} can be written by others")


def _is_private_group(number: int) -> bool:
    """Many systems give each user a group of their own, and let it write."""
    import grp  # noqa: PLC0415  not on every system
    import pwd  # noqa: PLC0415  (same)

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return (user.pw_gid, user.pw_name) == (group.gr_gid, group.gr_name) and set(group.gr_mem) <= {
        user.pw_name
    }
