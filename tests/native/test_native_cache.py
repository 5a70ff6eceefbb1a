"""What is kept of compiled kernels, what of it is trusted, and what happens when it cannot be kept."""

import ctypes
import grp
import os
import pwd
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from sonnx.native import cache
from sonnx.native.cache import cache_problem, compile_all, library
from sonnx.native.compiler import FLAGS, Compiler, CompilerError, find_compiler
from sonnx.storage import cache_folder, write_whole

SOURCE = "int answer(void);\nint answer(void) { return ANSWER; }\n"
NAMES = ["answer"]
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
ANOTHER = 12345


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a process that has loaded nothing."""
    for variable in ("SONNX_CC", "CC", "SONNX_CC_TIMEOUT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(cache, "_loaded", {})
    return tmp_path / "cache"


def forget() -> None:
    cache._loaded.clear()


def answer(value: int) -> int:
    return int(library(SOURCE, (("ANSWER", str(value)),), NAMES).answer())


def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str = "") -> Path:
    """Let a compiler be used that writes a line for each of its runs; gives the file with the lines."""
    runs = tmp_path / "runs"
    runs.touch()
    script = tmp_path / "counting-cc"
    script.write_text(f'#!/bin/sh\necho run >>{runs}\n{before}\nexec cc "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("SONNX_CC", str(script))
    return runs


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return counted(tmp_path, monkeypatch)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "kernels").iterdir())


def only(folder: Path) -> Path:
    (path,) = kept(folder)
    return path


def test_a_library_is_compiled_once_and_found_again(folder: Path, tmp_path: Path, runs: Path) -> None:
    assert answer(7) == 7
    forget()
    assert answer(7) == 7
    assert lines(runs) == 1
    assert stat.S_IMODE(only(folder).stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "kernels")} == {0o700}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_loaded_library_stays_loaded() -> None:
    assert library(SOURCE, (("ANSWER", "1"),), NAMES) is library(SOURCE, [("ANSWER", "1")], [])


def test_many_libraries_are_not_taken_for_each_other() -> None:
    assert [answer(value) for value in range(6)] == [*range(6)]
    forget()
    assert [answer(value) for value in reversed(range(6))] == [*reversed(range(6))]


def test_no_file_stays_open() -> None:
    answer(1)
    before = len(os.listdir("/dev/fd"))
    answer(2)
    assert len(os.listdir("/dev/fd")) == before


# The key.


def key(
    source: str = "s", macros: tuple[tuple[str, str], ...] = (("A", "1"),), *, command: str = "cc"
) -> str:
    return cache._key(source, macros, Compiler((command,), "identity"))


def test_the_key_changes_with_everything_that_the_library_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [key(), key("t"), key(macros=()), key(macros=(("A", "2"),)), key(macros=(("B", "1"),))]
    keys += [key(macros=(("A", "1"), ("B", "1"))), key(macros=(("A1", ""),)), key(command="gcc")]
    keys.append(cache._key("s", (("A", "1"),), Compiler(("cc",), "replaced")))
    for name, value in (
        ("FLAGS", (*FLAGS, "-g")),
        ("KERNEL_ABI", cache.KERNEL_ABI + 1),
        ("fingerprint", lambda: "another machine"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, value)
            keys.append(key())
    assert len({*keys}) == len(keys)
    assert key() == keys[0]


# Where.


def test_the_folder_follows_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("SONNX_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "sonnx"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "sonnx"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "sonnx"


@pytest.mark.parametrize("home", ["absent", "relative"])
def test_a_home_that_is_not_there_is_not_made(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SONNX_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / home) if home == "absent" else home)
    monkeypatch.chdir(tmp_path)
    assert cache_folder() is None
    assert "no home" in str(cache_problem())
    assert answer(3) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"temporary"}


def test_a_user_without_a_home_can_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SONNX_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert answer(3) == 3


def test_missing_folders_are_made_for_the_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "a" / "b" / "c"))
    before = os.umask(0)
    try:
        assert cache_problem() is None
    finally:
        os.umask(before)
    made = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c" / "kernels"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


def test_a_link_above_the_folder_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "link" / "cache"))
    assert answer(3) == 3
    assert len(kept(tmp_path / "disk" / "cache")) == 1


# What is not trusted: the libraries are compiled all the same, and the folder is left alone.


def assert_not_used(folder: Path, runs: Path) -> None:
    before = sorted(folder.rglob("*"))
    for _ in range(2):
        forget()
        assert answer(5) == 5
    assert lines(runs) == 2
    assert sorted(folder.rglob("*")) == before
    assert cache_problem() is not None
    assert list((runs.parent / "temporary").iterdir()) == []


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
@pytest.mark.parametrize("inside", ["", "kernels"])
def test_a_folder_that_others_can_write_is_not_used(mode: int, inside: str, folder: Path, runs: Path) -> None:
    (folder / "kernels").mkdir(parents=True)
    (folder / inside).chmod(mode)
    assert_not_used(folder, runs)


@pytest.mark.parametrize("inside", ["", "kernels"])
def test_a_folder_that_is_a_link_is_not_used(inside: str, folder: Path, tmp_path: Path, runs: Path) -> None:
    real = tmp_path / "elsewhere"
    (real / "kernels").mkdir(parents=True)
    if inside:
        folder.mkdir()
    (folder / inside).symlink_to(real / inside)
    assert_not_used(folder, runs)
    assert "symbolic link" in str(cache_problem())


def test_a_folder_that_is_a_file_is_not_used(folder: Path, runs: Path) -> None:
    folder.write_text("mine", encoding="utf-8")
    assert_not_used(folder, runs)


def test_a_folder_that_cannot_be_made_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert_not_used(tmp_path / "file", runs)


@ROOT_ONLY
@pytest.mark.parametrize("inside", ["", "kernels"])
def test_a_folder_of_another_user_is_not_used(inside: str, folder: Path, runs: Path) -> None:
    (folder / "kernels").mkdir(parents=True, mode=0o700)
    os.chown(folder / inside, ANOTHER, -1)
    assert_not_used(folder, runs)


@pytest.mark.parametrize("mode", [0o777, 0o707])
def test_a_folder_that_others_can_move_away_is_not_used(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    above = tmp_path / "above"
    (above / "cache" / "kernels").mkdir(parents=True, mode=0o700)
    above.chmod(mode)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(above / "cache"))
    assert_not_used(above, runs)


@ROOT_ONLY
def test_a_folder_inside_another_users_folder_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    above = tmp_path / "above"
    (above / "cache" / "kernels").mkdir(parents=True, mode=0o700)
    os.chown(above, ANOTHER, -1)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(above / "cache"))
    assert_not_used(above, runs)


def test_a_folder_that_all_can_write_and_nobody_can_empty_may_stand_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o1777)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(above / "cache"))
    assert cache_problem() is None


@pytest.mark.parametrize(
    ("user", "group", "members", "gid", "fine"),
    [
        ("ann", "ann", [], 7, True),
        ("ann", "ann", ["ann"], 7, True),
        ("ann", "ann", ["bob"], 7, False),
        ("ann", "staff", [], 7, False),
        ("ann", "ann", [], 8, False),
    ],
)
def test_above_it_only_a_group_of_one_may_write(
    user: str,
    group: str,
    members: list[str],
    gid: int,
    fine: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name=user, pw_gid=7))
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name=group, gr_gid=gid, gr_mem=members))
    folder.parent.chmod(0o770)
    assert (cache_problem() is None) is fine
    folder.parent.chmod(0o777)
    assert "can be written by others" in str(cache_problem())


# A kept file that is not as it was left.


def assert_replaced(folder: Path, runs: Path) -> None:
    """The file is compiled anew, once, and the new one is used from then on."""
    for _ in range(2):
        forget()
        assert answer(5) == 5
        assert lines(runs) == 2
    state = only(folder).lstat()
    assert stat.S_ISREG(state.st_mode)
    assert (state.st_uid, stat.S_IMODE(state.st_mode)) == (os.geteuid(), 0o600)


@pytest.mark.parametrize("damage", ["empty", "short", "head only", "bit", "no library"])
def test_a_damaged_file_is_compiled_anew(damage: str, folder: Path, runs: Path) -> None:
    answer(5)
    whole = only(folder).read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "short": whole[:-1],
        "head only": whole[:4096],
        "bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "no library": b"no library",
    }[damage]
    only(folder).unlink()
    (folder / "kernels" / f"{cache._key(*_request(5))}.so").write_bytes(damaged)
    only(folder).chmod(0o600)
    assert_replaced(folder, runs)


def _request(value: int) -> tuple[str, tuple[tuple[str, str], ...], Compiler]:
    found = find_compiler()
    assert found is not None
    return SOURCE, (("ANSWER", str(value)),), found


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_cached_file_that_others_can_write_is_never_loaded(mode: int, folder: Path, runs: Path) -> None:
    answer(5)
    only(folder).chmod(mode)
    assert_replaced(folder, runs)


@ROOT_ONLY
def test_a_cached_file_of_another_user_is_never_loaded(folder: Path, runs: Path) -> None:
    answer(5)
    os.chown(only(folder), ANOTHER, -1)
    assert_replaced(folder, runs)


def test_a_cached_file_that_is_a_link_is_never_loaded(folder: Path, tmp_path: Path, runs: Path) -> None:
    answer(5)
    moved = only(folder).rename(tmp_path / "moved.so")
    (folder / "kernels" / f"{cache._key(*_request(5))}.so").symlink_to(moved)
    before = moved.read_bytes()
    assert_replaced(folder, runs)
    assert moved.read_bytes() == before


def test_a_pipe_in_the_place_of_a_file_does_not_stop_us(folder: Path, runs: Path) -> None:
    answer(5)
    path = only(folder)
    path.unlink()
    os.mkfifo(path, 0o600)
    assert_replaced(folder, runs)


def test_a_folder_in_the_place_of_a_file_stays_and_does_no_harm(folder: Path) -> None:
    answer(5)
    path = only(folder)
    path.unlink()
    path.mkdir(mode=0o700)
    forget()
    assert answer(5) == 5
    assert kept(folder) == [path]


# Compilers that do not do what they should.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo half >library.so; exit 3", "exit code 3"),
        ("echo garbage >library.so; exit 0", "cannot be loaded"),
        ("exit 0", "left no library"),
        (": >library.so; sleep 1000", "did not end"),
    ],
)
def test_nothing_is_left_of_a_compilation_that_failed(
    text: str, said: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted(tmp_path, monkeypatch, before=text)
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "0.5" if "sleep" in text else "60")
    with pytest.raises(CompilerError, match=said) as caught:
        answer(5)
    assert "engine `reference`" in str(caught.value)
    assert kept(folder) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_failure_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted(tmp_path, monkeypatch, before=f"test -e {tmp_path / 'mended'} || exit 1")
    with pytest.raises(CompilerError):
        answer(5)
    (tmp_path / "mended").touch()
    assert answer(5) == 5


def test_without_a_compiler_the_message_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "find_compiler", lambda: None)
    for ask in (lambda: library(SOURCE, (), ()), lambda: compile_all([(SOURCE, (), ())])):
        with pytest.raises(CompilerError, match=r"pip install ziglang.*engine `reference`"):
            ask()


def test_without_a_folder_for_temporary_files_the_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(CompilerError, match="absent"):
        answer(5)


def test_where_kept_files_cannot_be_loaded_a_temporary_one_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = cache._load

    def mounted_without_execution(place: Path, name: str, symbols: list[str]) -> ctypes.CDLL:
        if place.is_relative_to(folder):
            raise OSError("failed to map segment from shared object")
        return load(place, name, symbols)

    monkeypatch.setattr(cache, "_load", mounted_without_execution)
    assert answer(5) == 5
    assert kept(folder) == []


def test_a_full_disk_does_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = write_whole

    def full(target: Path, content: bytes) -> None:
        if target.is_relative_to(folder):
            raise OSError("No space left on device")
        write(target, content)

    monkeypatch.setattr(cache, "write_whole", full)
    assert answer(5) == 5
    assert kept(folder) == []


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "place" / "target").mkdir(parents=True)
    with pytest.raises(OSError, match="target"):
        write_whole(tmp_path / "place" / "target", b"content")
    assert [path.name for path in (tmp_path / "place").iterdir()] == ["target"]


# Several at once.


def test_processes_at_the_same_time_load_the_same_and_leave_nothing(folder: Path, tmp_path: Path) -> None:
    code = f"""
import sys
from sonnx.native.cache import library
sys.stdin.readline()
print([library({SOURCE!r}, (("ANSWER", str(value)),), ["answer"]).answer() for value in (1, 2)])
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=100)[0] for process in processes] == ["[1, 2]\n"] * 4
    assert [path.suffix for path in kept(folder)] == [".so", ".so"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_threads_at_the_same_time_compile_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(tmp_path, monkeypatch, before="sleep 0.1")
    start = threading.Barrier(8)

    def ask(_: int) -> ctypes.CDLL:
        start.wait()
        return library(SOURCE, (("ANSWER", "5"),), NAMES)

    with ThreadPoolExecutor(8) as pool:
        libraries = list(pool.map(ask, range(8)))
    assert len({*map(id, libraries)}) == 1
    assert lines(runs) == 1


def test_several_libraries_come_in_the_order_asked_for(runs: Path) -> None:
    requests = [(SOURCE, (("ANSWER", str(value)),), NAMES) for value in (3, 1, 2, 1)]
    for _ in range(2):
        forget()
        assert [found.answer() for found in compile_all(requests)] == [3, 1, 2, 1]
        assert lines(runs) == 3
    assert compile_all([]) == []


def test_several_libraries_are_compiled_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each compiler waits until the other has started, so one after the other they would never end.
    here = tmp_path / "here"
    here.mkdir()
    counted(
        tmp_path,
        monkeypatch,
        before=f": >{here}/$$; while [ $(ls {here} | wc -l) -lt 2 ]; do sleep 0.01; done",
    )
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "60")
    monkeypatch.setattr(cache, "_cores", lambda: 2)
    assert len(compile_all([(SOURCE, (("ANSWER", str(value)),), NAMES) for value in range(2)])) == 2


def test_one_failure_among_several_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match="exit code"):
        compile_all([(SOURCE, (("ANSWER", "1"),), NAMES), ("no C", (), ()), (SOURCE, (), NAMES)])
    assert list((tmp_path / "temporary").iterdir()) == []


def test_an_interrupted_user_does_not_wait_for_compilers(folder: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow-cc"
    slow.write_text(f"#!/bin/sh\n: >{tmp_path}/started-$$\nexec sleep 1000\n", encoding="utf-8")
    slow.chmod(0o755)
    code = f"""
import os, pathlib, signal, threading, time
from sonnx.native import cache
cache._cores = lambda: 2
def interrupt():
    while len(list(pathlib.Path({str(tmp_path)!r}).glob("started-*"))) < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    cache.compile_all([("a", (), ()), ("b", (), ()), ("c", (), ())])
except KeyboardInterrupt:
    print("interrupted")
"""
    environment = os.environ | {"SONNX_CC": str(slow), "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "interrupted\n"
    assert kept(folder) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_process_forked_during_a_compilation_can_compile() -> None:
    code = f"""
import os
from sonnx.native import cache
request = {SOURCE!r}, (("ANSWER", "5"),)
with cache._locks_lock, cache._locks[cache._key(*request, cache.find_compiler())]:
    child = os.fork()
    if child == 0:
        os._exit(cache.library(*request, ["answer"]).answer())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "5\n"
