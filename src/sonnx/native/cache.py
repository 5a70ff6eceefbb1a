"""Compiled kernels, kept between runs: the same source for the same machine is compiled once.

A kept file becomes part of this process, so nothing is loaded that another user could have written: the
folder and the file are ours alone, every folder above them belongs to us or to the system, and what has been
looked at is what is loaded. A folder that is not so is left alone, and the kernels are compiled anew.
"""

import ctypes
import os
import stat
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Lock
from time import time

from sonnx.native.compiler import (
    ADVICE,
    FLAGS,
    Compiler,
    CompilerError,
    compile_library,
    find_compiler,
    stop_compilers,
)
from sonnx.native.machine import fingerprint
from sonnx.report.text import printable

Macros = Sequence[tuple[str, str]]

# The form of kept files and the way kernels are called; a change makes every kept file a stranger.
KERNEL_ABI = 1
_MOST_FILES = 256
# What a process that was killed has left; a compiler does not take a day.
_LEFTOVER_SECONDS = 86400
_DIGEST_BYTES = 32
# More than a fenv_t takes anywhere.
_STATE_BYTES = 512
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class _UnfitError(Exception):
    """A folder or file that must not be used, and why."""


def cache_folder() -> Path | None:
    """Where kernels are kept: $SONNX_CACHE_DIR, else in the user's folder of caches; None without a home."""
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


def cache_problem() -> str | None:
    """Why compiled kernels cannot be kept from one run to the next, or None where they can."""
    try:
        _kernels_folder()
    except (_UnfitError, OSError) as error:
        return printable(str(error))
    return None


def library(source: str, macros: Macros) -> ctypes.CDLL:
    """The shared library of a C source with macros defined: from this process, the cache, or the compiler.

    Raises CompilerError, also where there is no compiler.
    """
    compiler = _required_compiler()
    key = _key(source, macros, compiler)
    with _locks_lock:
        lock = _locks[key]
    with lock:
        if key not in _loaded:
            _loaded[key] = _made(key, source, macros, compiler)
        return _loaded[key]


def compile_all(requests: Iterable[tuple[str, Macros]]) -> list[ctypes.CDLL]:
    """The libraries of several sources, in their order; what must be compiled is compiled side by side."""
    wanted = list(requests)
    missing = _missing(wanted)
    if len(missing) > 1:
        _compile_together(missing)
    return [library(source, macros) for source, macros in wanted]


def _missing(wanted: list[tuple[str, Macros]]) -> list[tuple[str, Macros]]:
    compiler = _required_compiler()
    kernels = _kernels_folder_or_none()
    keys = {_key(source, macros, compiler): (source, macros) for source, macros in wanted}
    return [
        request
        for key, request in keys.items()
        if key not in _loaded and not (kernels and (kernels / f"{key}.so").is_file())
    ]


def _compile_together(requests: list[tuple[str, Macros]]) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  slow to import, and seldom needed

    with ThreadPoolExecutor(_cores()) as pool:
        futures = [pool.submit(library, source, macros) for source, macros in requests]
        try:
            for future in futures:
                future.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, Exception):  # the user does not want to wait for compilers
                stop_compilers()
            raise


def _required_compiler() -> Compiler:
    compiler = find_compiler()
    if compiler is None:
        raise CompilerError(
            "there is no C compiler: install one (cc, gcc, clang, or pip install 'sonnx[zig]') or name it in "
            f"SONNX_CC; {ADVICE}"
        )
    return compiler


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_loaded: dict[str, ctypes.CDLL] = {}
_locks: defaultdict[str, Lock] = defaultdict(Lock)
_locks_lock = Lock()
_loads = count()


def _forget_locks() -> None:
    """Whoever held a lock when this process was forked is not in it."""
    global _locks_lock  # noqa: PLW0603  the state of this process
    _locks_lock = Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


def _key(source: str, macros: Macros, compiler: Compiler) -> str:
    named = (
        KERNEL_ABI,
        source,
        [*map(tuple, macros)],
        FLAGS,
        compiler.command,
        compiler.identity,
        fingerprint(),
    )
    return sha256(repr(named).encode()).hexdigest()


def _made(key: str, source: str, macros: Macros, compiler: Compiler) -> ctypes.CDLL:
    name = f"{key}.so"
    kernels = _kernels_folder_or_none()
    if kernels is not None:
        with suppress(_UnfitError, OSError):  # absent, damaged or not ours: it is replaced
            return _load(kernels, name)
    try:
        with tempfile.TemporaryDirectory(prefix="sonnx-", ignore_cleanup_errors=True) as private:
            fresh = Path(private) / name
            compile_library(compiler, source, macros, fresh, tools=kernels and _tools_folder(kernels))
            content = fresh.read_bytes()
            # A file cut short may crash who loads it. Loaders do not look at what follows the library.
            _write(fresh, content + sha256(content).digest())
            if kernels is not None:
                with suppress(_UnfitError, OSError):  # the disk is full, or nothing there may be executed
                    return _kept(fresh, kernels)
            return _load(fresh.parent, name)
    except (_UnfitError, OSError) as error:
        raise CompilerError(
            f"a kernel that {printable(compiler.command[0])} was to make cannot be loaded: "
            f"{printable(str(error))}; {ADVICE}"
        ) from None


def _kept(fresh: Path, kernels: Path) -> ctypes.CDLL:
    """Put a library into the cache in one step and load it from there, or leave nothing."""
    target = kernels / fresh.name
    _write(target, fresh.read_bytes())
    try:
        loaded = _load(kernels, fresh.name)
    except (_UnfitError, OSError):
        target.unlink(missing_ok=True)
        raise
    _bound(kernels)
    return loaded


def _write(target: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, readable by us alone."""
    handle, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _bound(kernels: Path) -> None:
    """Remove the oldest files where there are too many; other processes compile what they then miss."""
    with suppress(OSError):
        files = [Path(entry) for entry in os.scandir(kernels) if entry.is_file(follow_symlinks=False)]
        by_age = sorted((path.lstat().st_mtime, path) for path in files)
        libraries = [path for _, path in by_age if path.suffix == ".so"]
        leftovers = [
            path for age, path in by_age if path.suffix != ".so" and age < time() - _LEFTOVER_SECONDS
        ]
        for path in libraries[: max(0, len(libraries) - _MOST_FILES)] + leftovers:
            path.unlink(missing_ok=True)


def _load(folder: Path, name: str) -> ctypes.CDLL:
    """Load a file that is ours alone and whole: the very file that has been looked at."""
    with _opened(folder, os.O_DIRECTORY) as directory, _opened(name, os.O_NONBLOCK, directory) as file:
        _require_ours(os.fstat(directory), folder)
        state = os.fstat(file)
        _require_ours(state, folder / name)
        if not stat.S_ISREG(state.st_mode):
            raise _UnfitError(f"{folder / name} is not a file")
        with open(file, "rb", closefd=False) as stream:
            content = stream.read()
        if sha256(content[:-_DIGEST_BYTES]).digest() != content[-_DIGEST_BYTES:]:
            raise _UnfitError(f"{folder / name} is damaged")
        # glibc takes a path it has seen before for the same library, and numbers of files come again.
        path = f"/proc/self/fd/{'/' * next(_loads)}{file}"
        with _arithmetic_kept():
            return ctypes.CDLL(path if os.path.exists(path) else os.fspath(folder / name))


@contextmanager
def _arithmetic_kept() -> Iterator[None]:
    """Have arithmetic afterwards as before: a compiler told -ffast-math links what changes it on loading."""
    process = ctypes.CDLL(None)
    state = ctypes.create_string_buffer(_STATE_BYTES)
    process.fegetenv(state)
    try:
        yield
    finally:
        process.fesetenv(state)


@contextmanager
def _opened(path: Path | str, flags: int, folder: int | None = None) -> Iterator[int]:
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=folder)
    try:
        yield number
    finally:
        os.close(number)


def _kernels_folder() -> Path:
    """The folder of compiled kernels, made where it is missing; raises where it is not ours alone."""
    folder = cache_folder()
    if folder is None:
        raise _UnfitError("there is no home folder; SONNX_CACHE_DIR may name a folder for compiled kernels")
    # People move their caches by symbolic links above it; from here on the real path is used.
    folder = Path(os.path.realpath(folder.parent)) / folder.name
    for path in reversed(folder.parents):
        _make(path)
        _require_stable(path)
    return _own_folder(_own_folder(folder) / "kernels")


def _kernels_folder_or_none() -> Path | None:
    try:
        return _kernels_folder()
    except (_UnfitError, OSError):
        return None


def _tools_folder(kernels: Path) -> Path | None:
    """Where a compiler may keep parts that it builds into libraries: as safe as the libraries."""
    try:
        return _own_folder(kernels.with_name("tools"))
    except (_UnfitError, OSError):
        return None


def _own_folder(path: Path) -> Path:
    _make(path)
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise _UnfitError(f"{path} is not a folder, or a symbolic link to one")
    _require_ours(state, path)
    return path


def _make(path: Path) -> None:
    with suppress(FileExistsError):  # another process was first, or it is no folder
        if not path.is_dir():
            path.mkdir(mode=0o700)


def _require_ours(state: os.stat_result, path: Path) -> None:
    if state.st_uid != os.geteuid():
        raise _UnfitError(f"{path} belongs to another user")
    if state.st_mode & _WRITABLE_BY_OTHERS:
        raise _UnfitError(f"{path} can be written by others")


def _require_stable(path: Path) -> None:
    """Nobody but we and the system can put another folder in the place of one inside this one."""
    state = path.lstat()
    if state.st_uid not in {0, os.geteuid()}:
        raise _UnfitError(f"{path} belongs to another user")
    others = state.st_mode & _WRITABLE_BY_OTHERS
    if others == stat.S_IWGRP and _is_private_group(state.st_gid):
        return
    if others and not state.st_mode & stat.S_ISVTX:
        raise _UnfitError(f"{path} can be written by others")


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
