"""Which compiler is taken, with which flags, and what is said and left when it fails, hangs or lies."""

import ctypes
import importlib.util
import os
import shlex
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sonnx.native import compiler, machine
from sonnx.native.cache import library
from sonnx.native.compiler import FLAGS, Compiler, CompilerError, compile_library, find_compiler
from sonnx.numeric.environment import require_ieee

SOURCE = "int answer(void);\nint answer(void) { return ANSWER; }\n"
MACROS = (("ANSWER", "42"),)


@pytest.fixture(autouse=True)
def _own_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SONNX_CC", "CC", "SONNX_CC_TIMEOUT"):
        monkeypatch.delenv(variable, raising=False)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def scripted(path: Path, text: str) -> Compiler:
    return Compiler((str(script(path, text)),), "scripted")


def real() -> Compiler:
    found = find_compiler()
    assert found is not None
    return found


def target_in(folder: Path) -> Path:
    (folder / "out").mkdir()
    return folder / "out" / "library.so"


def test_a_library_is_compiled_with_its_macros(tmp_path: Path) -> None:
    target = target_in(tmp_path)
    compile_library(real(), SOURCE, MACROS, target)
    assert ctypes.CDLL(str(target)).answer() == 42
    assert list(target.parent.iterdir()) == [target]


def test_a_library_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    target = target_in(tmp_path)
    before = os.umask(0)
    try:
        compile_library(real(), SOURCE, MACROS, target)
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_no_flag_lets_the_compiler_change_results() -> None:
    assert {"-O3", "-march=native", "-ffp-contract=off", "-fno-fast-math"} <= set(FLAGS)
    free = ("-Ofast", "-ffast-math", "-funsafe", "-fassociative", "-freciprocal", "-ffinite", "-fno-signed")
    assert not [flag for flag in FLAGS if flag.startswith((*free, "-fno-trapping", "-fno-rounding"))]


SUM = """
double sum(const double *x);
double sum(const double *x) { return ((x[0] + x[1]) - x[0]) - x[1]; }
"""


def test_fast_arithmetic_in_the_users_command_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONNX_CC", "cc -Ofast -ffast-math -funsafe-math-optimizations")
    loaded = library(SUM, (), ("sum",))
    loaded.sum.restype = ctypes.c_double
    # 2^53 + 1 is rounded to 2^53, so -1 is left; in the reals nothing is.
    assert loaded.sum((ctypes.c_double * 2)(2.0**53, 1.0)) == -1.0
    require_ieee()  # what such a compiler links changes the arithmetic of the process on loading


def test_the_environment_adds_neither_flags_nor_headers_nor_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stdint.h").write_text("#error not this one\n", encoding="utf-8")
    for variable in ("CPATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("CFLAGS", "-DANSWER=1")
    monkeypatch.setenv("DEPENDENCIES_OUTPUT", str(tmp_path / "dependencies"))
    target = target_in(tmp_path)
    compile_library(real(), "#include <stdint.h>\n" + SOURCE, MACROS, target)
    assert ctypes.CDLL(str(target)).answer() == 42
    assert not (tmp_path / "dependencies").exists()


def test_the_compiler_sees_no_terminal_a_plain_locale_and_a_folder_of_its_own(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = f'(echo "$LC_ALL"; pwd; echo "$TMPDIR"; stat -c %a .; cat; ls) >{seen}; echo 1 >library.so'
    compile_library(scripted(tmp_path / "cc", text), SOURCE, MACROS, target_in(tmp_path))
    locale, folder, temporary, mode, *files = seen.read_text(encoding="utf-8").split()
    assert (locale, mode) == ("C", "700")
    assert folder == temporary
    assert Path(folder) != Path.cwd()
    assert "kernel.c" in files


# Which compiler.


def test_there_may_be_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    assert find_compiler() is None


def test_a_program_in_the_current_folder_is_not_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "cc", "exit 1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", "."]))
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    assert find_compiler() is None


@pytest.mark.parametrize(
    ("present", "taken"), [(("cc", "gcc", "clang"), "cc"), (("gcc", "clang"), "gcc"), (("clang",), "clang")]
)
def test_the_path_is_asked_for_cc_then_gcc_then_clang(
    present: tuple[str, ...], taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in present:
        script(tmp_path / name, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert real().command == (str(tmp_path / taken),)


def test_the_own_variable_goes_before_cc_and_cc_before_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, common = script(tmp_path / "mine", "exit 0"), script(tmp_path / "com mon", "exit 0")
    monkeypatch.setenv("CC", shlex.join([str(common), "-m64"]))
    assert real().command == (str(common), "-m64")
    monkeypatch.setenv("SONNX_CC", str(mine))
    assert real().command == (str(mine),)
    monkeypatch.setenv("SONNX_CC", "")
    assert real().command == (str(common), "-m64")


def test_a_relative_path_is_taken_from_the_callers_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "mine", "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SONNX_CC", "./mine")
    assert real().command == (str(tmp_path / "mine"),)


@pytest.mark.parametrize("variable", ["SONNX_CC", "CC"])
@pytest.mark.parametrize("text", ["no-such-compiler-\x1b[2J -O3", "gcc 'unclosed"])
def test_a_variable_that_names_no_program_is_an_error(
    variable: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(CompilerError, match=variable) as caught:
        find_compiler()
    assert str(caught.value).isprintable()


def test_the_wheel_of_zig_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").touch()
    script(package / "zig", "exit 0")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    monkeypatch.setenv("PATH", "")
    found = real()
    assert found.command == (sys.executable, "-P", "-m", "ziglang", "cc")
    assert str(package / "zig") in found.identity
    (package / "zig").unlink()
    assert find_compiler() is None


def test_a_compiler_that_was_replaced_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(tmp_path / "real", "exit 0")
    (tmp_path / "cc").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    first = real()
    os.utime(program, ns=(1, 1))
    touched = real()
    script(program, "exit 0 # longer")
    os.utime(program, ns=(1, 1))
    assert len({first, touched, real()}) == 3
    assert {found.command for found in (first, touched)} == {(str(tmp_path / "cc"),)}


def test_behind_a_wrapper_the_second_word_is_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper, wrapped = script(tmp_path / "ccache", "exit 0"), script(tmp_path / "gcc", "exit 0")
    monkeypatch.setenv("CC", f"{wrapper} {wrapped}")
    first = real()
    os.utime(wrapped, ns=(1, 1))
    assert first.identity != real().identity


# What goes wrong.


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(tmp_path: Path) -> None:
    text = (
        "printf 'half' >library.so\nfor i in $(seq 99); do printf 'line %s\\033[31m\\n' $i >&2; done; exit 7"
    )
    target = target_in(tmp_path)
    with pytest.raises(CompilerError) as caught:
        compile_library(scripted(tmp_path / "bad-cc", text), SOURCE, MACROS, target)
    message = str(caught.value)
    assert "exit code 7" in message
    assert "bad-cc" in message
    assert "-DANSWER=42" in message
    assert "engine `reference`" in message
    assert r"line 99\x1b[31m" in message
    assert "line 50" not in message
    assert all(line.isprintable() for line in message.splitlines())
    assert list(target.parent.iterdir()) == []


def test_a_source_that_is_no_c_is_reported_by_the_real_compiler(tmp_path: Path) -> None:
    target = target_in(tmp_path)
    with pytest.raises(CompilerError, match=r"exit code 1[\s\S]*kernel\.c:1"):
        compile_library(real(), "this is no C\n", (), target)
    assert list(target.parent.iterdir()) == []


def test_a_library_that_was_there_survives_a_compiler_that_fails(tmp_path: Path) -> None:
    target = target_in(tmp_path)
    target.write_bytes(b"before")
    with pytest.raises(CompilerError):
        compile_library(scripted(tmp_path / "cc", "exit 1"), SOURCE, MACROS, target)
    assert target.read_bytes() == b"before"


def test_endless_lines_of_a_compiler_are_cut(tmp_path: Path) -> None:
    text = "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 1"
    with pytest.raises(CompilerError) as caught:
        compile_library(scripted(tmp_path / "cc", text), SOURCE, MACROS, target_in(tmp_path))
    assert len(str(caught.value)) < 5000


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_a_compiler_that_hangs_is_stopped_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    text = f"sleep 1000 &\necho $$ $! >{pids}; echo waiting >&2; : >library.so; wait"
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "0.5")
    target = target_in(tmp_path)
    with pytest.raises(CompilerError, match=r"0\.5 seconds[\s\S]*waiting"):
        compile_library(scripted(tmp_path / "cc", text), SOURCE, MACROS, target)
    processes = [int(number) for number in pids.read_text(encoding="utf-8").split()]
    assert len(processes) == 2
    for _ in range(500):  # the child of a process that was stopped ends at some time after it
        if not any(map(alive, processes)):
            break
        time.sleep(0.01)
    assert not any(map(alive, processes))
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf", "1e999"])
def test_a_time_limit_that_is_none_is_an_error(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC_TIMEOUT", text)
    with pytest.raises(CompilerError, match="SONNX_CC_TIMEOUT"):
        compile_library(real(), SOURCE, MACROS, target_in(tmp_path))


def test_a_very_long_time_limit_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "1e300")
    target = target_in(tmp_path)
    compile_library(real(), SOURCE, MACROS, target)
    assert target.exists()


def test_success_without_a_library_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match="left no library"):
        compile_library(scripted(tmp_path / "cc", "exit 0"), SOURCE, MACROS, target_in(tmp_path))


def test_a_compiler_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cc").write_bytes(b"\x00\x01")
    (tmp_path / "cc").chmod(0o755)
    with pytest.raises(CompilerError, match="engine `reference`"):
        compile_library(Compiler((str(tmp_path / "cc"),), ""), SOURCE, MACROS, target_in(tmp_path))


def test_a_target_in_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match="absent"):
        compile_library(real(), SOURCE, MACROS, tmp_path / "absent" / "library.so")


@pytest.mark.parametrize("refused", ["-march=native", "-m*=native"])
def test_a_compiler_that_does_not_know_this_machine_compiles_all_the_same(
    refused: str, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    text = (
        f'for word; do case "$word" in {refused}) echo "unknown option $word" >&2; exit 1;; esac; done\n'
        f'echo "$@" >{told}; echo 1 >library.so'
    )
    compile_library(scripted(tmp_path / "cc", text), SOURCE, MACROS, target_in(tmp_path))
    flags = told.read_text(encoding="utf-8").split()
    assert [flag for flag in flags if flag.endswith("native")] == (
        ["-mcpu=native"] if "march" in refused else []
    )
    assert {*FLAGS} - {"-march=native"} <= {*flags}


def test_an_ordinary_failure_is_not_tried_again(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    with pytest.raises(CompilerError):
        compile_library(
            scripted(tmp_path / "cc", f"echo x >>{tries}; exit 1"), SOURCE, (), target_in(tmp_path)
        )
    assert tries.read_text(encoding="utf-8") == "x\n"


def test_compilers_can_be_stopped_from_another_thread(tmp_path: Path) -> None:
    # In a process of its own: what it stops is everything that its process has started.
    slow = script(tmp_path / "cc", f": >{tmp_path / 'started'}; sleep 1000")
    code = f"""
import pathlib, threading, time
from sonnx.native.compiler import Compiler, CompilerError, compile_library, compilers_stopped
from sonnx.numeric.environment import require_ieee
started = pathlib.Path({str(tmp_path / "started")!r})
def stop():
    while not started.exists():
        time.sleep(0.01)
    with compilers_stopped():
        pass
threading.Thread(target=stop).start()
try:
    compile_library(Compiler(({str(slow)!r},), ""), "", (), pathlib.Path({str(tmp_path)!r}) / "library.so")
except CompilerError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "was ended by signal 9" in done.stdout


@pytest.mark.long
def test_the_wheel_of_zig_compiles_if_it_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed")
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    target, tools = target_in(tmp_path), tmp_path / "tools"
    compile_library(real(), SOURCE, MACROS, target, tools=tools)
    assert ctypes.CDLL(str(target)).answer() == 42
    assert {path.name for path in tmp_path.iterdir()} == {"out", "tools"}
    assert [*target.parent.iterdir()] == [target]


# The machine.


@pytest.mark.parametrize(
    ("flags", "width"),
    [("fpu avx avx2 avx512f", 64), ("fpu avx avx2", 32), ("fpu sse4_2 avx512x", 16), ("", 16)],
)
def test_the_width_of_vectors_follows_the_flags(flags: str, width: int, tmp_path: Path) -> None:
    assert machine._vector_bytes(machine._fields(f"model\t: 1\nflags\t\t: {flags}\n")) == width


INTEL = """processor\t: 0
model\t\t: 85
model name\t: Fast
cpu MHz\t\t: 1000
flags\t\t: fpu avx

processor\t: 1
"""


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (INTEL.replace("1000", "2000"), True),
        (INTEL.replace("fpu avx", "avx fpu"), True),
        (INTEL.replace("\t: 1\n", "\t: 2\n"), True),
        (INTEL.replace("85", "86"), False),
        (INTEL.replace("Fast", "Faster"), False),
        (INTEL.replace("fpu avx", "fpu"), False),
    ],
)
def test_the_fingerprint_changes_with_the_processor_and_not_with_its_clock(
    changed: str, same: bool, tmp_path: Path
) -> None:
    def of(text: str) -> str:
        (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
        return machine._fingerprint(machine._fields(machine._entry(tmp_path / "cpuinfo")))

    assert (of(changed) == of(INTEL)) is same


def test_a_machine_that_does_not_describe_itself_has_a_fingerprint_and_the_least_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "absent")
    machine.fingerprint.cache_clear()
    machine.vector_bytes.cache_clear()
    try:
        assert os.uname().nodename in machine.fingerprint()
        assert machine.vector_bytes() == 16
    finally:
        machine.fingerprint.cache_clear()
        machine.vector_bytes.cache_clear()
