"""`sonnx vectors`: what it prints, its exit codes, and that nothing is left of what was ended."""

import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from rich.console import Console
from tests.conformance.vectors_support import cases, contents
from tests.report.cli_support import run

from sonnx.cli.actions.vectors import VectorOptions, write_vectors_asked

# The command of that name hides the module.
VECTORS = import_module("sonnx.cli.actions.vectors")

# Writes far more than there is time for.
ENDLESS = """
import sys
from pathlib import Path
from sonnx.cli.actions.vectors import VectorOptions, write_vectors_asked
write_vectors_asked(VectorOptions(Path(sys.argv[1]), ["clip"], ["float", "double"], jobs=1))
"""


def asked(output: Path, *operators: str, types: tuple[str, ...] = ("int8",), jobs: int = 1) -> int:
    return write_vectors_asked(VectorOptions(output, operators, types, jobs=jobs))


def test_it_tells_what_it_has_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(tmp_path / "v", "Expand") == 0
    files = contents(tmp_path / "v")
    first, second, third = capsys.readouterr().out.splitlines()
    size = sum(map(len, files.values()))
    assert (
        first == f"{tmp_path / 'v'}: {len(cases(tmp_path / 'v'))} cases, {len(files)} files, {size:,} bytes"
    )
    assert second == f"sha256 {hashlib.sha256(files['SHA256SUMS']).hexdigest()}  SHA256SUMS"
    assert third == f"how to use them: {tmp_path / 'v' / 'README.md'}"


def test_the_command_says_and_writes_the_same(tmp_path: Path) -> None:
    assert asked(tmp_path / "v", "expand") == 0
    done = run("vectors", "-o", tmp_path / "w", "--operator", "expand", "--type", "int8")
    assert (done.exit_code, contents(tmp_path / "w")) == (0, contents(tmp_path / "v"))
    again = run("vectors", "-o", tmp_path / "w", "--operator", "expand", "--operator", "what")
    assert (again.exit_code, again.output.startswith("error: no operator what;")) == (2, True)


@pytest.mark.parametrize(
    ("jobs", "work", "width"), [(1, 1000, 1), (2, 1000, 2), (200, 40, 10), (8, 3, 1), (None, 4, 1)]
)
def test_processes_are_begun_where_they_are_worth_it(jobs: int | None, work: int, width: int) -> None:
    assert VECTORS._spread(VectorOptions(Path("v"), jobs=jobs), work).width == width


@pytest.mark.parametrize(
    ("operators", "types", "said"),
    [
        (("nope", "clip", "nor"), (), "error: no operator nope, nor; there are Clip, Conv,"),
        (("nope",), ("f3", "f4"), "; no type f3, f4; there are float16, float,"),
        (("conv",), ("int8",), "error: none of these operators takes int8"),
        (("\x1b[31m",), (), "error: no operator \\x1b[31m;"),
    ],
)
def test_all_unknown_names_are_told_at_once(
    operators: tuple[str, ...],
    types: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(tmp_path / "v", *operators, types=types) == 2
    out, error = capsys.readouterr()
    assert said in error
    assert (out, error.count("\n"), list(tmp_path.iterdir())) == ("", 1, [])


def test_places_where_nothing_can_go_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("mine", encoding="ascii")
    assert asked(tmp_path, "expand") == 2
    assert f"error: {tmp_path} is there already and is no empty folder" in capsys.readouterr().err
    assert asked(tmp_path / "mine" / "v", "expand") == 2
    assert "cannot be written: " in capsys.readouterr().err
    assert asked(Path("-"), "expand") == 2
    assert "name a new folder" in capsys.readouterr().err
    assert contents(tmp_path) == {"mine": b"mine"}
    assert write_vectors_asked(VectorOptions(tmp_path / "v", ["expand"], ["int8"], seed=-1)) == 2
    assert "the seed is a whole number" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_a_terminal_sees_a_bar_with_rate_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    made = Console(file=stream, force_terminal=True, width=120)
    monkeypatch.setattr("sonnx.cli.progress.watched_console", lambda: made)
    assert asked(tmp_path / "v", "expand", types=("int8", "uint8")) == 0
    shown = stream.getvalue()
    number = len(cases(tmp_path / "v"))
    assert f"{number}/{number}" in shown
    assert "expand uint8" in shown
    assert "/s" in shown
    assert "0:00:00" in shown


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_nothing_is_left_of_what_was_ended(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    command = [sys.executable, "-c", ENDLESS, str(place / "v")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not any(place.rglob("output_0.pb")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert any(place.rglob("output_0.pb"))
        process.terminate()
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert list(place.iterdir()) == []
    assert said == b""
