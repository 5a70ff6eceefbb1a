"""Finds a C compiler and makes shared libraries with it, whatever it does: fail, hang or leave nothing."""

import math
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL

from sonnx.processes import Group, finished
from sonnx.report.text import cut, printable
from sonnx.storage import write_whole

# None of these changes a bit of a result. The last word on arithmetic stands after what a user's own command
# may say, and contraction after -fno-fast-math, which resets it. zig sanitizes unless told otherwise.
_BEFORE = ("-std=c99", "-O3")
_AFTER = (
    # Without errno a root is one instruction, of a vector too.
    *("-fno-fast-math", "-ffp-contract=off", "-fno-math-errno", "-fno-sanitize=all"),
    *("-fPIC", "-shared", "-fvisibility=default", "-pthread"),
)
_LIBRARIES = ("-lm",)
# How compilers spell "for this machine"; those that know neither compile for its architecture.
_MACHINE = (("-march=native",), ("-mcpu=native",), ())
FLAGS = (*_BEFORE, *_MACHINE[0], *_AFTER, *_LIBRARIES)

# Variables by which flags, headers and libraries would get into a build, or files out of it, unseen by the
# key of the cache. What a compiler needs to find its own parts (PATH, COMPILER_PATH, SDKROOT) stays.
_IGNORED = frozenset(
    {
        *("CFLAGS", "CPPFLAGS", "LDFLAGS", "CCC_OVERRIDE_OPTIONS", "LD_RUN_PATH"),
        *("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"),
        *("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_COMPARE_DEBUG"),
    }
)
_NAMES = ("cc", "gcc", "clang")
_SECONDS = 120.0
_LAST_LINES = 12
_LONGEST_LINE = 200
_LONGEST_OUTPUT = 65536
# Far more than any kernel takes.
_MOST_BYTES = 2**28
ADVICE = "the engine `reference` needs no compiler, and gives the same bits"


class CompilerError(RuntimeError):
    """There is no compiler, or it does not do what it should; the text says which, and what to do."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C; `identity` changes when the program behind it does."""

    command: tuple[str, ...]
    identity: str


def find_compiler() -> Compiler | None:
    """The compiler of SONNX_CC, else of CC, else cc, gcc or clang, else that of the wheel ziglang, or None.

    A variable that is empty counts as absent. Raises CompilerError where one names no program.
    """
    if os.name != "posix":
        return None
    for variable in ("SONNX_CC", "CC"):
        if text := os.environ.get(variable, "").strip():
            return _named(variable, text)
    # A program that happens to lie in the current folder is not this machine's compiler.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(filter(os.path.isabs, folders))
    found = next((program for name in _NAMES if (program := shutil.which(name, path=path))), None)
    return _compiler((found,), Path(found)) if found else _zig()


def _named(variable: str, text: str) -> Compiler:
    try:
        first, *others = shlex.split(text)
    except ValueError as error:
        raise CompilerError(f"{variable} cannot be read ({error}): {_shown(text)}") from None
    program = shutil.which(first)
    if program is None:
        raise CompilerError(
            f"{variable} names {_shown(first)}, and there is no such program: name a C compiler, "
            f"or unset {variable}; {ADVICE}"
        )
    # The compiler runs in a folder of its own.
    program = os.path.abspath(program)
    # With `ccache gcc` the second word is the one that may be replaced.
    programs = [Path(found) for word in others if (found := shutil.which(word))]
    return _compiler((program, *others), Path(program), *programs)


def _zig() -> Compiler | None:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None or not sys.executable:
        return None
    program = Path(spec.origin).with_name("zig")
    # -P: no module of the current folder stands in for the wheel.
    command = (sys.executable, "-P", "-m", "ziglang", "cc")
    return _compiler(command, program) if program.is_file() else None


def _compiler(command: tuple[str, ...], *programs: Path) -> Compiler:
    """Tell a program by what changes when it is replaced; asking for its version would cost a start."""
    resolved = [path.resolve() for path in programs]
    states = [(path, path.stat()) for path in resolved]
    return Compiler(
        command, repr([(os.fspath(path), state.st_size, state.st_mtime_ns) for path, state in states])
    )


def compile_library(
    compiler: Compiler,
    source: str,
    macros: Sequence[tuple[str, str]],
    target: Path,
    *,
    tools: Path | None = None,
) -> None:
    """Compile a C source into a shared library, which appears under its name whole or not at all.

    It is readable by its owner alone. In the folder `tools`, if given, a compiler may keep parts of its own
    for the next time. Raises CompilerError.
    """
    seconds = _timeout()
    try:
        # Beside the target: from there it can be moved in one step.
        with tempfile.TemporaryDirectory(
            prefix=".building-", dir=target.parent, ignore_cleanup_errors=True
        ) as name:
            private = Path(name)
            (private / "kernel.c").write_text(source, encoding="utf-8")
            definitions = tuple(f"-D{macro}={value}" for macro, value in macros)
            _compile(compiler, definitions, private, tools or private / "tools", seconds)
            write_whole(target, _content(private / "library.so"))
    except OSError as error:
        raise CompilerError(f"no kernel can be compiled: {printable(str(error))}; {ADVICE}") from None


def _timeout() -> float:
    text = os.environ.get("SONNX_CC_TIMEOUT", "").strip()
    if not text:
        return _SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise CompilerError(f"SONNX_CC_TIMEOUT must be a number of seconds above 0, not {_shown(text)}")
    return seconds


def _compile(
    compiler: Compiler, definitions: tuple[str, ...], private: Path, tools: Path, seconds: float
) -> None:
    files = ("kernel.c", "-o", "library.so")
    for machine in _MACHINE:
        command = (*compiler.command, *_BEFORE, *machine, *_AFTER, *definitions, *files, *_LIBRARIES)
        code, said = _run(command, private, tools, seconds)
        # Only a refusal of the flag itself is a reason to go on without it.
        if not code or not machine or machine[0].partition("=")[0] not in said:
            break
    if code is None:
        raise CompilerError(
            _failure(command, f"did not end within {seconds:g} seconds and was stopped", said)
        )
    if code != 0:
        how = f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        raise CompilerError(_failure(command, how, said))
    if not os.path.lexists(private / "library.so"):
        raise CompilerError(_failure(command, "succeeded and left no library", said))


def _content(path: Path) -> bytes:
    """The bytes of the library that a compiler has left; raises CompilerError where it is no plain file.

    They are copied: what a compiler leaves may be a file that others know, by a link of either sort.
    """
    what = "left no plain file as its library"
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise CompilerError(f"the C compiler {what}: {error.strerror}; {ADVICE}") from None
    with open(number, "rb") as file:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode):
            raise CompilerError(f"the C compiler {what}; {ADVICE}")
        if state.st_size > _MOST_BYTES:
            raise CompilerError(f"the C compiler left a library of {state.st_size:,} bytes; {ADVICE}")
        return file.read()


_compilers = Group()


def compilers_stopped() -> AbstractContextManager[None]:
    """End every compiler that runs, with all its children; none starts while the block lasts."""
    return _compilers.stopped()


def _run(command: tuple[str, ...], private: Path, tools: Path, seconds: float) -> tuple[int | None, str]:
    """The exit code, or None where the time was over, and what the compiler said."""
    environment = {name: value for name, value in os.environ.items() if name not in _IGNORED}
    environment |= {
        "LC_ALL": "C",
        "TMPDIR": os.fspath(private),
        "ZIG_LOCAL_CACHE_DIR": os.fspath(private / "zig"),
        "ZIG_GLOBAL_CACHE_DIR": os.fspath(tools),
    }
    with (private / "said").open("w+b") as said:
        with _compilers.started(command, private, environment, stdout=DEVNULL, stderr=said) as process:
            code = finished(process, seconds)
        said.seek(max(0, said.seek(0, os.SEEK_END) - _LONGEST_OUTPUT))
        return code, said.read().decode("utf-8", "replace")


def _failure(command: tuple[str, ...], how: str, said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()][-_LAST_LINES:]
    shown = [f"  {printable(cut(line, _LONGEST_LINE))}" for line in lines]
    return "\n".join([f"the C compiler {how}", f"  command: {_shown(shlex.join(command))}", *shown, ADVICE])


def _shown(text: str) -> str:
    return printable(cut(text))
