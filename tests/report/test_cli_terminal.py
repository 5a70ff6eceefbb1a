"""The command beside pipes, files and terminals of every kind."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.cli_support import (
    HOSTILE,
    conv_model,
    program,
    run,
    saved,
    two_clips,
    written,
)

import sonnx
from sonnx.__main__ import run as start
from sonnx.cli import main
from sonnx.cli.actions import check
from sonnx.cli.terminal import noted_interrupts, watched_console


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    model = conv_model(bare=True)
    model.graph.node[0].name = "caf\u00e9 \u4f8b"
    return written(tmp_path / "\u00fc.onnx", model)


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_no_encoding_of_a_terminal_is_too_small(bad: Path, tmp_path: Path, encoding: str) -> None:
    for arguments, code in (
        (["check", bad], 1),
        (["check", bad, "--brief"], 1),
        (["check", tmp_path / "\u4f8b"], 2),
        (["check", bad, "--\u4f8b"], 2),
        (["normalize", bad, "-o", tmp_path / "\u4f8b.onnx"], 0),
        (["rules"], 0),
        (["explain", "conv.pads.C2"], 0),
        (["tour"], 0),
        (["--help"], 0),
    ):
        done = program(*arguments, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
        assert done.returncode == code, (arguments, done.stderr)
        assert b"Traceback" not in done.stderr
        (done.stdout + done.stderr).decode(encoding)


def test_what_an_encoding_lacks_is_escaped(bad: Path) -> None:
    done = program("check", bad, env={"PYTHONIOENCODING": "ascii"})
    assert b"`caf\\xe9 \\u4f8b` (Conv)" in done.stdout
    mistyped = program("check", bad, "--\u4f8b", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})
    assert b"--\\u4f8b" in mistyped.stderr
    assert mistyped.stderr.isascii()
    assert "`caf\u00e9 \u4f8b` (Conv)".encode() in program("check", bad, env={"PYTHONUTF8": "1"}).stdout


def test_a_reader_that_leaves_does_not_change_the_verdict(tmp_path: Path) -> None:
    """More is printed than a pipe holds, and read is one byte of it."""
    model = conv_model(bare=True)
    first = model.graph.node[0]
    for index in range(600):
        node = model.graph.node.add()
        node.CopyFrom(first)
        node.name, node.output[0] = f"unused{index}", f"unused{index}"
    path = written(tmp_path / "a.onnx", model)
    out = tmp_path / "out.onnx"
    for arguments, code in ((["check", path], 1), (["normalize", path, "-o", out], 0)):
        command = [sys.executable, "-m", "sonnx", *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(1)
            process.stdout.close()
            assert process.wait(timeout=120) == code
            assert process.stderr.read() == b""
    assert out.exists()


def test_rules_printed_to_a_closed_pipe_leave_no_traceback() -> None:
    for command in ("rules", "tour"):
        reader, writer = os.pipe()
        os.close(reader)
        done = program(command, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("command", ["check", "rules"])
def test_a_full_disk_is_said_and_has_exit_code_2(bad: Path, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        arguments = [command, bad] if command == "check" else [command]
        done = program(*arguments, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"error: cannot print: No space left on device\n"


def test_without_any_output_the_exit_code_remains(bad: Path, tmp_path: Path) -> None:
    good = written(tmp_path / "good.onnx", two_clips())
    for path, code in ((good, 0), (bad, 1), (tmp_path / "missing", 2)):
        command = f'"{sys.executable}" -m sonnx check "{path}" >&- 2>&-'
        assert subprocess.run(["sh", "-c", command], check=False).returncode == code


def test_an_interrupted_check_is_no_verdict(
    bad: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "load", interrupted)
    result = run("check", bad)
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


def to_import_error() -> None:
    """What extensions do that are being imported when it comes."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ImportError("numpy._core.umath failed to import") from None


def to_nothing() -> None:
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("swallow", [to_import_error, to_nothing])
def test_an_interrupt_that_somebody_swallows_is_no_verdict_either(
    swallow: Callable[[], None], bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, load = signal.getsignal(signal.SIGINT), sonnx.load

    def loaded(*given: Any, **more: Any) -> Any:
        swallow()
        return load(*given, **more)

    monkeypatch.setattr(check, "load", loaded)
    result = run("check", bad)
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"
    # While options are read, too, for which click has an exit code of its own.
    monkeypatch.setattr(type(main), "parse_args", lambda *_: signal.raise_signal(signal.SIGINT))
    reading = run("check", bad)
    monkeypatch.undo()
    assert reading.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert run("check", bad).exit_code == 1


def test_what_goes_wrong_without_an_interrupt_stays_what_it_is(
    bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: Any, **__: Any) -> None:
        raise ImportError("numpy is not here")

    monkeypatch.setattr(check, "load", wrong)
    with pytest.raises(ImportError, match="numpy is not here"):
        run("check", bad)


def test_interrupts_that_are_ignored_stay_so(bad: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noted_interrupts() as noted:
            signal.raise_signal(signal.SIGINT)
        assert noted == []
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_the_command_line_is_loaded_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupting:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "sonnx.cli":
                raise KeyboardInterrupt

    for name in [name for name in sys.modules if name.split(".")[:2] == ["sonnx", "cli"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as caught:
        start()
    assert caught.value.code == 130


def test_the_signal_of_an_interrupt_ends_the_program_without_a_traceback(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size=2**19))
    image = saved(tmp_path / "x.npy", np.zeros(2**19, np.float32))
    out = tmp_path / "out"
    options = ["--input", f"x={image}", "--domain", "real", "--output-dir", str(out)]
    command = [sys.executable, "-m", "sonnx", "run", str(path), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        # The folder is made before the first node is executed, which takes a while in the reals.
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.endswith(b"interrupted\n")
    assert b"Traceback" not in errors
    assert not out.exists()


def test_too_little_memory_is_said(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(check, "load", too_much)
    result = run("check", bad)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the machine has not enough memory")


def on_terminal(*arguments: object, **env: str) -> tuple[int, bytes]:
    """Run the command on a terminal of its own; answers the exit code and what the terminal got."""
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "sonnx", *map(str, arguments)]
    usual = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    environment = {**usual, "TERM": "xterm", "COLUMNS": "100", **env}
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment) as process:
        os.close(its)
        received = b""
        try:
            while part := os.read(mine, 65536):
                received += part
        except OSError:  # how Linux says that the other side is gone
            pass
        os.close(mine)
    return process.returncode, received


def test_a_terminal_sees_progress_and_a_pipe_does_not(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips())
    image = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    arguments = ["run", path, "--input", f"x={image}", "--engine", "reference"]
    code, received = on_terminal(*arguments)
    assert code == 0
    assert b"running" in received
    assert b"2/2" in received
    done = program(*arguments)
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert b"running" not in done.stdout


def test_a_terminal_sees_colours_unless_it_asks_for_none(bad: Path) -> None:
    code, coloured = on_terminal("check", bad)
    assert code == 1
    assert b"\x1b[31m\x1b[1merror[general.R1]" in coloured
    _, plain = on_terminal("check", bad, NO_COLOR="1")
    assert b"\x1b" not in plain
    assert b"error[general.R1]" in plain


def test_a_pipe_sees_colours_if_they_are_forced_and_not_forbidden(
    bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured = {}
    for forced, forbidden in (("", ""), ("1", ""), ("", "1"), ("1", "1"), ("0", "")):
        monkeypatch.setenv("FORCE_COLOR", forced)
        monkeypatch.setenv("NO_COLOR", forbidden)
        monkeypatch.setenv("TERM", "xterm")
        outputs = [run("check", bad).output, run("explain", "clip.min.C1").output, run("check", "no").stderr]
        coloured[forced, forbidden] = ["\x1b[" in output for output in outputs]
    assert coloured == {
        ("", ""): [False] * 3,
        ("1", ""): [True] * 3,
        ("", "1"): [False] * 3,
        ("1", "1"): [False] * 3,
        ("0", ""): [False] * 3,
    }


def test_forced_colours_draw_no_bars_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not watched_console().is_terminal


def test_a_terminal_gets_no_sequence_but_those_of_our_colours(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(first=HOSTILE))
    for arguments in (["check", path], ["check", path, "--\x1b[35m"], ["check", f"{path}\x1b[35m"]):
        _, received = on_terminal(*arguments)
        assert set(re.findall(rb"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f][^a-z]*[a-z]?", received)) <= {
            b"\x1b[31m",
            b"\x1b[1m",
            b"\x1b[0m",
        }


def test_help_loads_neither_numpy_nor_onnx() -> None:
    code = (
        "import sys\nfrom sonnx.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "heavy = ('numpy', 'onnx', 'google.protobuf', 'flint', 'rich', 'ml_dtypes')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    for arguments in (["--help"], ["check", "--help"], ["run", "--help"], ["normalize", "-h"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, check=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "[]", arguments
        assert done.stdout.isascii()


def test_without_a_command_there_is_help() -> None:
    result = run()
    assert result.exit_code == 2
    for command in ("check", "explain", "normalize", "rules", "run", "tour"):
        assert f"\n  {command} " in result.output
    assert "Error:" not in result.output
