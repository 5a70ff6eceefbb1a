"""Compiled kernels, kept between runs: the same source for the same machine is compiled once.

A kept file becomes part of this process, so nothing is loaded that another user could have written, which
`sonnx.storage` sees to; where it cannot, the kernels are compiled anew.
"""

import ctypes
import os
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Lock

from sonnx.native.compiler import (
    ADVICE,
    FLAGS,
    Compiler,
    CompilerError,
    compile_library,
    compilers_stopped,
    find_compiler,
)
from sonnx.native.headers import broken_headers
from sonnx.native.machine import fingerprint
from sonnx.report.text import printable
from sonnx.storage import UnfitError, bound, kept_folder, opened_ours, own_folder, sealed, write_whole

Macros = Sequence[tuple[str, str]]
# A C source, the macros that are defined for it, and the functions that its library must have.
Request = tuple[str, Macros, Sequence[str]]

# The form of kept files and the way kernels are called; a change makes every kept file a stranger.
KERNEL_ABI = 1
_MOST_FILES = 256
# More than a fenv_t takes anywhere.
_STATE_BYTES = 512


def cache_problem() -> str | None:
    """Why compiled kernels cannot be kept from one run to the next, or None where they can."""
    try:
        _kernels_folder()
    except (UnfitError, OSError) as error:
        return printable(str(error))
    return None


def library(
    source: str, macros: Macros, symbols: Sequence[str], together: Collection[str] = ()
) -> ctypes.CDLL:
    """The shared library of a C source with macros defined: from this process, the cache, or the compiler.

    It has functions of the names `symbols`; the cache keeps the files `together`, which one program needs.
    Raises CompilerError, also where there is no compiler.
    """
    compiler = _required_compiler()
    key = _key(source, macros, compiler)
    with _locks_lock:
        lock = _locks[key]
    with lock:
        if key not in _loaded or _lacking(_loaded[key], symbols):
            _loaded[key] = _made(key, source, macros, symbols, compiler, together)
        return _loaded[key]


def compile_all(requests: Iterable[Request]) -> list[ctypes.CDLL]:
    """The libraries of several sources, in their order; what must be compiled is compiled side by side."""
    wanted = list(requests)
    compiler = _required_compiler()
    together = frozenset(f"{_key(source, macros, compiler)}.so" for source, macros, _ in wanted)
    missing = _missing(wanted)
    if len(missing) > 1:
        _compile_together(missing, together)
    return [library(*request, together) for request in wanted]


def _missing(wanted: list[Request]) -> list[Request]:
    compiler = _required_compiler()
    kernels = _kernels_folder_or_none()
    keys = {_key(request[0], request[1], compiler): request for request in wanted}
    return [
        request
        for key, request in keys.items()
        if key not in _loaded and not (kernels and (kernels / f"{key}.so").is_file())
    ]


def _compile_together(requests: list[Request], together: Collection[str]) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  slow to import, and seldom needed

    with ThreadPoolExecutor(_cores()) as pool:
        try:  # a user may interrupt as soon as the first has begun
            futures = [pool.submit(library, *request, together) for request in requests]
            for future in futures:
                future.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, Exception):  # the user does not want to wait for compilers
                with compilers_stopped():
                    pool.shutdown(wait=True)
            raise


def _required_compiler() -> Compiler:
    compiler = find_compiler()
    if compiler is None:
        raise CompilerError(
            "there is no C compiler: install one (cc, gcc, clang, or pip install ziglang) or name it in "
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


def _made(
    key: str,
    source: str,
    macros: Macros,
    symbols: Sequence[str],
    compiler: Compiler,
    together: Collection[str],
) -> ctypes.CDLL:
    name = f"{key}.so"
    kernels = _kernels_folder_or_none()
    if kernels is not None:
        with suppress(UnfitError, OSError):  # absent, damaged or not ours: it is replaced
            loaded = _load(kernels, name, symbols)
            with suppress(OSError):
                os.utime(
                    kernels / name, follow_symlinks=False
                )  # the oldest are those that nobody has used for longest
            return loaded
    try:
        with tempfile.TemporaryDirectory(prefix="sonnx-", ignore_cleanup_errors=True) as private:
            fresh = Path(private) / name
            compile_library(compiler, source, macros, fresh, tools=kernels and _tools_folder(kernels))
            # A file cut short may crash who loads it. Loaders do not look at what follows the library.
            write_whole(fresh, sealed(fresh.read_bytes()))
            return _tried_and_kept(fresh, kernels, symbols, together)
    except (UnfitError, OSError) as error:
        raise CompilerError(
            f"a kernel that {printable(compiler.command[0])} was to make cannot be loaded: "
            f"{printable(str(error))}; {ADVICE}"
        ) from None


def _tried_and_kept(
    fresh: Path, kernels: Path | None, symbols: Sequence[str], together: Collection[str]
) -> ctypes.CDLL:
    """Load a library where nobody will look for it, and keep it after that."""
    try:
        loaded = _load(fresh.parent, fresh.name, symbols)
    except OSError:  # where temporary files are, nothing may be executed, or nowhere can it be
        if kernels is None:
            raise
        return _kept(fresh, kernels, symbols, together)
    if kernels is not None:
        with suppress(UnfitError, OSError):  # the disk is full, or nothing there may be executed
            _kept(fresh, kernels, symbols, together)
    return loaded


def _kept(fresh: Path, kernels: Path, symbols: Sequence[str], together: Collection[str]) -> ctypes.CDLL:
    """Put a library into the cache, under its own name only when it has been loaded there; or leave nothing.

    Where loading it ends this process, no other one finds it.
    """
    tried = kernels / f".new-{os.getpid()}-{fresh.name}"
    try:
        write_whole(tried, fresh.read_bytes())
        loaded = _load(kernels, tried.name, symbols)
        tried.replace(kernels / fresh.name)
    except BaseException:
        tried.unlink(missing_ok=True)
        raise
    bound(kernels, ".so", _MOST_FILES, {fresh.name, *together})
    return loaded


def _load(folder: Path, name: str, symbols: Sequence[str]) -> ctypes.CDLL:
    """Load a file that is ours alone and whole: the very file that has been looked at."""
    with opened_ours(folder, name) as (file, content):
        # Files that an earlier version has kept may be what a compiler left half done.
        if problem := broken_headers(content):
            raise UnfitError(f"it is no whole library: {problem}")
        # glibc takes a path it has seen before for the same library, and numbers of files come again.
        path = f"/proc/self/fd/{'/' * next(_loads)}{file}"
        with _arithmetic_kept():
            loaded = ctypes.CDLL(path if os.path.exists(path) else os.fspath(folder / name))
    if lacking := _lacking(loaded, symbols):
        raise UnfitError(f"it has no function {', '.join(lacking)}")
    return loaded


def _lacking(loaded: ctypes.CDLL, symbols: Sequence[str]) -> list[str]:
    return [symbol for symbol in symbols if not hasattr(loaded, symbol)]


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


def _kernels_folder() -> Path:
    return kept_folder("kernels", "compiled kernels")


def _kernels_folder_or_none() -> Path | None:
    try:
        return _kernels_folder()
    except (UnfitError, OSError):
        return None


def _tools_folder(kernels: Path) -> Path | None:
    """Where a compiler may keep parts that it builds into libraries: as safe as the libraries."""
    try:
        return own_folder(kernels.with_name("tools"))
    except (UnfitError, OSError):
        return None
