"""Compilers that succeed and leave no library: nobody loads it, nobody keeps it, nobody dies of it."""

import ctypes
import stat
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from sonnx.cli import main
from sonnx.native import cache
from sonnx.native.cache import library
from sonnx.native.compiler import Compiler, CompilerError, compile_library, find_compiler
from sonnx.native.headers import broken_headers
from sonnx.storage import sealed

SOURCE = "int answer(void);\nint answer(void) { return ANSWER; }\n"
MACROS = (("ANSWER", "5"),)
CUT = "size=$(wc -c <library.so); head -c $((size * 3 / 10)) library.so >cut; mv cut library.so"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a process that has loaded nothing."""
    for variable in ("SONNX_CC", "CC", "SONNX_CC_TIMEOUT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(cache, "_loaded", {})
    return tmp_path / "cache" / "kernels"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    target = tmp_path_factory.mktemp("whole")
    (target / "kernel.c").write_text(SOURCE, encoding="utf-8")
    line = ["cc", "-DANSWER=5", "-shared", "-fPIC", "kernel.c", "-o", "library.so"]
    subprocess.run(line, cwd=target, check=True)
    return (target / "library.so").read_bytes()


def scripted(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def nothing_left(folder: Path, tmp_path: Path) -> bool:
    return [*folder.iterdir(), *(tmp_path / "temporary").iterdir()] == []


# Headers.


def test_a_library_cut_anywhere_is_known_by_its_headers(whole: bytes) -> None:
    assert broken_headers(whole) is None
    assert [size for size in range(4, len(whole), 61) if broken_headers(whole[:size]) is None] == []
    assert "would end at byte" in str(broken_headers(whole[:-1]))
    assert "do not fit" in str(broken_headers(whole[:30]))
    assert "overwritten" in str(broken_headers(whole[: len(whole) // 2].ljust(len(whole), b"\0")))
    assert broken_headers(b"\x7fELF\x07\x07" + bytes(99)) is not None
    # What is no library at all is for the loader, which refuses it.
    assert [broken_headers(text) for text in (b"", b"\x7fEL", b"!<arch>\n")] == [None] * 3


def elf32(segment: int, names: int = 3) -> bytes:
    """A big-endian file of 200 bytes with a segment of so many from byte 100 on, and a section of names."""
    head = b"\x7fELF\x01\x02".ljust(28, b"\0") + struct.pack(">II4xHHHHHH", 52, 120, 52, 32, 1, 40, 2, 1)
    table = struct.pack(">IIIIIIII", 1, 100, 0, 0, segment, segment, 5, 4096)
    sections = struct.pack(">IIIIIIIIII", 0, 8, 0, 0, 0, 2**31, 0, 0, 0, 0)  # without bytes in the file
    sections += struct.pack(">IIIIIIIIII", 0, names, 0, 0, 100, 20, 0, 0, 0, 0)
    return (head + table).ljust(120, b"\0") + sections


def mach_o(size: int) -> bytes:
    """A file of 200 bytes with a command of another sort and a segment of so many bytes from byte 150 on."""
    segment = struct.pack("<II16sQQQQ", 0x19, 72, b"__TEXT", 0, 4096, 150, size).ljust(72, b"\0")
    commands = struct.pack("<II8x", 0x2, 16) + segment
    head = b"\xcf\xfa\xed\xfe" + struct.pack("<IIIIIII", 7, 3, 6, 2, len(commands), 0, 0)
    return (head + commands).ljust(200, b"\0")


def of_many(part: bytes) -> bytes:
    return (b"\xca\xfe\xba\xbe" + struct.pack(">IIIIII", 1, 7, 3, 40, len(part), 0)).ljust(40, b"\0") + part


def test_headers_of_other_machines_are_read_too() -> None:
    for right in (elf32(100), mach_o(50), of_many(mach_o(50)), of_many(of_many(b""))):
        assert broken_headers(right) is None
    wrong = {
        "segment 0 would end at byte 201": elf32(101),
        "the headers of its sections": elf32(100, names=0),
        "segment 1 would end at byte 201": mach_o(51),
        "the commands would end": mach_o(0)[:100],
        "command 0 has 0 bytes": mach_o(0)[:36] + bytes(164),
        "do not fit": mach_o(0)[:20],
        "and part 0 would end": of_many(mach_o(50))[:-1],
        "and segment 1 would end at byte 201": of_many(mach_o(51)),
    }
    assert [text for text, content in wrong.items() if text not in str(broken_headers(content))] == []


# What a compiler leaves.


def test_a_library_that_was_cut_is_neither_loaded_nor_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", str(scripted(tmp_path / "cut-cc", f'cc "$@" && {CUT}')))
    load = ctypes.CDLL

    def guarded(path: str | None) -> ctypes.CDLL:
        assert path is None, "a loader would die of it"
        return load(None)

    monkeypatch.setattr(ctypes, "CDLL", guarded)
    with pytest.raises(CompilerError, match=r"cut-cc.*no whole library.*engine `reference`"):
        library(SOURCE, MACROS, ("answer",))
    assert nothing_left(folder, tmp_path)


def test_a_cut_file_that_was_kept_is_compiled_anew(folder: Path, whole: bytes) -> None:
    compiler = find_compiler()
    assert compiler is not None
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    kept = folder / f"{cache._key(SOURCE, MACROS, compiler)}.so"
    kept.write_bytes(sealed(whole[: len(whole) // 3]))
    kept.chmod(0o600)
    assert library(SOURCE, MACROS, ("answer",)).answer() == 5
    assert list(folder.iterdir()) == [kept]
    assert broken_headers(kept.read_bytes()[:-32]) is None


def test_a_library_without_its_functions_ends_with_2_and_is_not_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'echo "int other;" >kernel.c; exec cc -shared -fPIC kernel.c -o library.so'
    monkeypatch.setenv("SONNX_CC", str(scripted(tmp_path / "empty-cc", text)))
    bounds = [
        helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in (("a", 0), ("b", 1))
    ]
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    node = helper.make_node("Clip", ["x", "a", "b"], ["y"])
    graph = helper.make_graph([node], "g", kinds[:1], kinds[1:], bounds)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, tmp_path / "clip.onnx")
    np.save(tmp_path / "x.npy", np.zeros(2, np.float32))
    result = CliRunner().invoke(
        main, ["run", str(tmp_path / "clip.onnx"), "--input", f"x={tmp_path / 'x.npy'}", "--engine", "native"]
    )
    assert result.exit_code == 2, result.output
    assert "it has no function " in result.output
    assert "Traceback" not in result.output
    assert nothing_left(folder, tmp_path)


def test_a_function_that_is_asked_for_later_must_be_there_too(folder: Path) -> None:
    found = library(SOURCE, MACROS, ("answer",))
    with pytest.raises(CompilerError, match="no function question"):
        library(SOURCE, MACROS, ("answer", "question"))
    assert library(SOURCE, MACROS, ("answer",)) is found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ln -s {victim} library.so", "no plain file"),
        ("mkfifo library.so", "no plain file"),
        ("truncate -s 1G library.so", "1,073,741,824 bytes"),
        ("ln {victim} library.so", ""),
    ],
)
def test_what_a_compiler_links_to_stays_as_it_was(text: str, said: str, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    victim.chmod(0o644)
    compiler = Compiler((str(scripted(tmp_path / "cc", text.format(victim=victim))),), "")
    target = tmp_path / "temporary" / "library.so"
    if said:
        with pytest.raises(CompilerError, match=said):
            compile_library(compiler, SOURCE, MACROS, target)
        assert not target.exists()
    else:
        compile_library(compiler, SOURCE, MACROS, target)
        target.write_bytes(b"changed")
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert (stat.S_IMODE(victim.stat().st_mode), victim.read_bytes()) == (0o644, b"mine")


# Loading first, keeping afterwards.


def test_nothing_has_its_name_in_the_cache_before_it_was_loaded_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = cache._load
    seen: list[tuple[bool, bool]] = []

    def noted(place: Path, name: str, symbols: Sequence[str]) -> ctypes.CDLL:
        seen.append((place == folder, any(not path.name.startswith(".") for path in folder.iterdir())))
        if place != folder:  # mounted so that nothing may be executed
            raise OSError("failed to map segment from shared object")
        return load(place, name, symbols)

    monkeypatch.setattr(cache, "_load", noted)
    assert library(SOURCE, MACROS, ("answer",)).answer() == 5
    # It is looked for, tried beside the compiler, and then tried in the cache.
    assert seen == [(True, False), (False, False), (True, False)]
    assert [path.name[0] for path in folder.iterdir()] != ["."]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_kept_file_that_has_grown_beyond_all_measure_is_compiled_anew(folder: Path) -> None:
    def compiled() -> int:
        cache._loaded.clear()
        return int(library(SOURCE, MACROS, ["answer"]).answer())

    assert compiled() == 5
    (kept,) = folder.iterdir()
    with kept.open("r+b") as file:
        file.truncate(200 * 2**30)  # mostly a hole
    assert compiled() == 5
    assert kept.stat().st_size < 2**20
