"""`sonnx conformance` as a user types it: exit codes, messages, reports, and interruptions."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from tests.conformance.campaign_support import HERE

from sonnx.cli import main
from sonnx.cli.progress import seconds_left
from sonnx.conformance.all_cells import Tick, Watch
from sonnx.conformance.pacing import Pace, weight
from sonnx.conformance.result import Cell
from sonnx.conformance.runtimes.question import NEWEST_OPSET, OLDEST_OPSET
from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import DType


def called(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["conformance", *arguments])


QUICK = ("--operator", "xla.Collapse", "--type", "int8", "--examples", "5", "--jobs", "1")


def test_what_conforms_ends_with_0() -> None:
    result = called("reference", *QUICK)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("reference 0.1.0 conforms")
    assert "xla.Collapse ok" in result.output


def test_what_departs_ends_with_1_and_is_named() -> None:
    result = called(
        f"{HERE}:LosesZeros", "--operator", "xla.broadcast", "--type", "double", "--examples", "0"
    )
    assert result.exit_code == 1
    assert "error[D-ALL-4]" in result.output
    assert "specified -0x0p+0 (0x8000000000000000), found 0x0p+0 (0x0000000000000000)" in result.output


def test_what_supports_nothing_ends_with_2() -> None:
    result = called("native", *QUICK)
    assert result.exit_code == 2
    assert "supports nothing" in result.output or "not supported" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name one runtime, or a command line with --command"),
        (("jax", "--command", "run {model} {outputs}"), "name one runtime, or a command line with --command"),
        (("nobody",), "no runtime 'nobody'; there are onnxruntime, reference-evaluator"),
        (("nobody",), "native, reference, emitted, and any backend"),
        (("command",), 'use --command "PROGRAM {model} {inputs} {outputs}"'),
        (("ONNXRUNTIM",), "as module:attribute; did you mean onnxruntime?"),
        (("no_such_module:x", *QUICK), "no_such_module cannot be imported"),
        (("os:no_such_name", *QUICK), "os:no_such_name is not there"),
        (
            ("reference", "--operator", "Clap", "--operator", "Conf", "--type", "floot"),
            "no operator Clap, Conf",
        ),
        (("reference", "--operator", "Clap", "--type", "floot"), "no type floot"),
        (("reference", "--operator", "xla.Clmap", "--type", "f23"), "; did you mean xla.Clamp, float?"),
        (("reference", "--operator", "Conv", "--type", "bool"), "none of these operators takes bool"),
        (("onnxruntime", "--option", "level"), "--option: 'level' is not of the form NAME=VALUE"),
        (("onnxruntime", "--option", "a=1", "--option", "a=2"), "--option: the option a is given twice"),
        (("onnxruntime", "--option", "lewel=none", *QUICK), "the runtime onnxruntime has no option lewel"),
        (("onnxruntime", "--option", "level=most", *QUICK), "error: `level` must be one of none, basic"),
        (("onnxruntime", "--option", "memory=1", *QUICK), "--option: memory is none of a runtime's own"),
        (("onnxruntime", "--option", "runtime=x", *QUICK), "the runtime onnxruntime has no option runtime"),
        (("onnxruntime", "--option", "text=x", *QUICK), "the runtime onnxruntime has no option text"),
        (("onnxruntime", "--option", "self=x", *QUICK), "the runtime onnxruntime has no option self"),
        (
            (f"{HERE}:KnowsNothing", "--option", "level=none", *QUICK),
            f"the runtime {HERE}:KnowsNothing has no option level; it has accumulate",
        ),
        (("--command", "a {model} {outputs}", "--option", "line=b"), "--command is the line already"),
        (("reference", "--report", "."), "is the current folder, or above it"),
        (("reference", "--report", "p\x1b[31mq/.."), "is the current folder, or above it"),
        (("reference", "--examples", "1", "--seconds", "1"), "--seconds and --examples both say"),
        (("reference", "--seconds", "nan", *QUICK[:4]), "'--seconds': nan is no number of seconds"),
        (("reference", "--seconds", "inf", *QUICK[:4]), "'--seconds': inf is no number of seconds"),
        (("reference", "--timeout", "nan", *QUICK), "'--timeout': nan is no number of seconds"),
        (("reference", "--timeout", "inf", *QUICK), "'--timeout': inf is no number of seconds"),
        (("reference", "--memory", "nan", *QUICK), "'--memory': nan is no amount of memory"),
        (("jax", "--option", "jit=maybe", *QUICK), "`jit` is true or false, not 'maybe'"),
        (("--command", "run {model}"), "a command line names a program, {model} and {outputs}"),
        (("--command", "no-such-program {model} {outputs}", *QUICK), "there is no program 'no-such-program'"),
        (("reference", "--dask", "tcp://127.0.0.1:1", *QUICK), "no Dask scheduler answers"),
    ],
)
def test_what_cannot_be_judged_ends_with_2_and_says_why(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sonnx.conformance.spreading._CONNECT", "1s")
    result = called(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_a_report_is_a_folder_that_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "report"
    arguments = (f"{HERE}:LosesZeros", "--operator", "where", "--type", "float", "--examples", "0")
    for _ in range(2):
        result = called(*arguments, "--jobs", "1", "--report", str(folder))
        assert result.exit_code == 1, result.output
        assert f"report: {folder / 'report.html'}" in result.output.replace("\n", "")
    assert {path.name for path in folder.iterdir()} == {"report.html", "report.json", "junit.xml", "examples"}
    assert list(folder.parent.iterdir()) == [folder]
    found = json.loads((folder / "report.json").read_text())
    assert found["verdict"] == "departs"
    examples = sorted(path for path in folder.glob("examples/where/float/*"))
    assert len(examples) == 2
    model = onnx.load_model(examples[0] / "model.onnx")
    assert [node.op_type for node in model.graph.node] == ["Where"]
    (folder / "notes.txt").write_text("mine")
    beside = called(*arguments, "--report", str(folder))
    assert (beside.exit_code, (folder / "notes.txt").read_text()) == (2, "mine")
    assert "also holds notes.txt" in beside.output
    (folder / "notes.txt").unlink()
    deep = folder / "examples" / "where" / "mine.txt"
    deep.write_text("mine")
    assert called(*arguments, "--report", str(folder)).exit_code == 2
    assert deep.read_text() == "mine"
    deep.unlink()
    (folder / "report.json").write_text("{}")
    refused = called(*arguments, "--report", str(folder))
    assert refused.exit_code == 2
    assert "is there already and is no report" in refused.output
    assert (folder / "report.json").read_text() == "{}"


def test_a_report_has_the_name_that_it_is_given(tmp_path: Path) -> None:
    result = called("reference", *QUICK, "--name", "Our \x1b[31mengine", "--report", str(tmp_path / "report"))
    assert result.exit_code == 0
    assert result.output.startswith("Our \\x1b[31mengine 0.1.0 conforms")
    assert "asked as reference" in result.output
    runtime = json.loads((tmp_path / "report" / "report.json").read_text())["runtime"]
    assert (runtime["name"], runtime["asked"]) == ("Our \\x1b[31mengine", "reference")
    title = "<title>Our \\x1b[31mengine"
    assert title in (tmp_path / "report" / "report.html").read_text()


@pytest.mark.long
def test_a_crash_counts_outside_the_profile_and_results_do_not() -> None:
    only = ("--operator", "xla.ConvertElementType", "--type", "complex64", "--examples", "0", "--jobs", "1")
    right = called(f"{HERE}:Casts", *only)
    assert right.exit_code == 0, right.output
    assert "was asked nothing that the profile specifies" in right.output
    crashed = called(f"{HERE}:CastCrashes", *only)
    assert crashed.exit_code == 1
    assert crashed.output.startswith("cast crashes 0.1.0 crashes")
    assert "crashed: exit code 3" in crashed.output


def test_what_is_no_list_of_outputs_departs() -> None:
    quick = ("--operator", "xla.Collapse", "--type", "int8", "--examples", "0", "--jobs", "1")
    result = called(f"{HERE}:Silent", *quick)
    assert result.exit_code == 1
    assert "error[xla.collapse.outputs]" in result.output
    assert "not supported" not in result.output.split("legend")[-1].split("vectors:")[1].split("\n")[0]


def test_a_report_cannot_go_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    result = called("reference", *QUICK, "--report", str(tmp_path / "file"))
    assert (result.exit_code, (tmp_path / "file").read_text()) == (2, "mine")
    result = called("reference", *QUICK, "--report", str(tmp_path / "file" / "below"))
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_report_that_cannot_be_written_is_found_out_before_anything_is_asked() -> None:
    result = called("nobody:asks", *QUICK, "--report", "/proc/x")
    assert result.exit_code == 2
    assert result.output.startswith("error: /proc/x: cannot be written: ")
    assert result.output.count("\n") == 1


def test_a_report_that_can_no_longer_be_written_is_named_as_it_was_given_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", ".0123.part")

    monkeypatch.setattr("sonnx.cli.actions.conformance.write_report", full)
    folder = tmp_path / "new" / "report"
    result = called("reference", *QUICK, "--report", str(folder))
    assert result.exit_code == 2
    assert result.output.startswith("reference 0.1.0 conforms")
    assert f"error: {folder}: cannot be written: No space left on device" in result.output
    assert ".part" not in result.output
    assert list(tmp_path.iterdir()) == []  # nor is there anything left of the try


def test_a_command_shows_the_options_that_were_given_and_no_others() -> None:
    result = called("--command", "false {model} {outputs}", *QUICK[:-4], "--timeout", "7", *QUICK[-4:])
    assert result.exit_code == 2
    assert "asked as command, line=false {model} {outputs}; sums free;" in result.output


CLIPPER = """
import sys, pathlib
import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper
model, inputs, outputs = map(pathlib.Path, sys.argv[1:])
graph = ModelProto.FromString(model.read_bytes()).graph
files = [TensorProto.FromString(path.read_bytes()) for path in sorted(inputs.iterdir())]
given = {tensor.name: numpy_helper.to_array(tensor) for tensor in (*files, *graph.initializer)}
array = np.clip(*(given[name] for name in graph.node[0].input))
(outputs / "output_0.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())
"""


@pytest.mark.long
def test_any_program_can_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "clipper.py"
    program.write_text(CLIPPER)
    keep = ("shape-scalar", "from-quiet-nan-to-one", "shape-no-elements")
    monkeypatch.setattr("sonnx.conformance.cells._TRIES", 3)
    monkeypatch.setattr("sonnx.conformance.cells._OTHERS", 0)
    every = subject_named("clip").systematic
    monkeypatch.setattr(
        "sonnx.conformance.subjects.Subject.trials",
        lambda _, dtype, seed: (trial for trial in every(dtype, seed) if trial.name in keep),
    )
    line = f"{sys.executable} {program} {{model}} {{inputs}} {{outputs}}"
    result = called(
        "--command", line, "--operator", "Clip", "--type", "float", "--seconds", "0", "--jobs", "1"
    )
    assert result.exit_code == 1, result.output
    assert "3 vectors: 2 conform, 1 departs" in result.output
    assert "A NaN min does not bound" in result.output


def started(*arguments: str) -> Any:
    return subprocess.Popen(
        [sys.executable, "-m", "sonnx", "conformance", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_whoever_ends_the_command_ends_its_runtimes(number: int, code: int) -> None:
    process = started("reference", "--operator", "conv", "--jobs", "2", "--seconds", "600")
    try:
        deadline = time.monotonic() + 60
        while len(_children(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        below = _children(process.pid)
        assert below
        os.kill(process.pid, number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == code, said
        assert "Traceback" not in said
        _all_gone(below)
    finally:
        process.kill()
        process.communicate()


def test_whoever_interrupts_has_what_was_found_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def impatient(_: object) -> Iterator[tuple[Watch, Tick]]:
        def advance(done: int, total: int, cell: Cell) -> None:
            if done == 2:
                raise KeyboardInterrupt

        yield advance, lambda unit, asked, expected: None

    monkeypatch.setattr("sonnx.cli.actions.conformance._watched", impatient)
    result = called("reference", "--operator", "expand", "--jobs", "1", "--examples", "0")
    assert result.exit_code == 130
    assert "interrupted: 2 of 16 operators and types were judged" in result.output
    assert "Expand ok   ok" in result.output


def _children(parent: int) -> list[int]:
    """All processes below one."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found, left = [], [parent]
    while left:
        left = [child for each in left for child in below.get(each, [])]
        found += left
    return found


def _all_gone(processes: list[int]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {processes}")


def test_a_terminal_sees_what_is_judged_and_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    made = Console(file=stream, force_terminal=True, width=150)
    monkeypatch.setattr("sonnx.cli.progress.watched_console", lambda: made)
    assert called("reference", *QUICK).exit_code == 0
    shown = stream.getvalue()
    assert "judging xla.collapse int8" in shown
    assert "judging xla.collapse int8 done" in shown
    assert "cases/s" in shown
    assert re.search(r"(\d+) of \1 cases", shown)


def moved(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[tuple[float, float, str, int, str]]:
    """How the bar of a campaign moves."""
    moves: list[tuple[float, float, str, int, str]] = []

    @contextmanager
    def noted(_: str) -> Iterator[Any]:
        yield lambda *move: moves.append(move)

    monkeypatch.setattr("sonnx.cli.actions.conformance.bar", noted)
    assert called("reference", "--type", "int8", *arguments).exit_code == 0
    return moves


def test_the_bar_of_one_cell_moves_with_its_vectors_and_its_search(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = moved(monkeypatch, "--operator", "xla.Collapse", "--examples", "20")
    vectors = sum(1 for _ in subject_named("xla.collapse").trials(DType.INT8, 0))
    *ticks, last = moves
    assert [move[0] for move in ticks] == sorted(move[0] for move in ticks)
    assert [move[4] for move in ticks[:vectors]] == [
        f"{asked} of {vectors + 20} cases" for asked in range(1, vectors + 1)
    ]
    assert len(ticks) > vectors + 5  # the search draws some cases twice, and asks those once
    assert all(0 < move[0] <= move[1] == 1 for move in moves)
    assert last[:3] == (1, 1, "xla.collapse int8 done")


def test_the_bar_of_many_cells_counts_those_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    two = ("--operator", "xla.Collapse", "--operator", "xla.Broadcast", "--examples", "0")
    for jobs in ("1", "2"):
        moves = moved(monkeypatch, *two, "--jobs", jobs)
        done = [move for move in moves if move[2].endswith(" done")]
        assert [move[4] for move in done] == [f"{number} of 2 operators and types" for number in (1, 2)]
        assert [move[:2] for move in done] == [(1, 2), (2, 2)]
        assert (len(moves) > 2) == (jobs == "1")


def test_what_takes_longer_weighs_more() -> None:
    assert weight("conv", DType.FLOAT) > weight("xla.conv", DType.INT32) == weight("clip", DType.FLOAT)


def test_the_time_left_grows_while_nothing_is_done() -> None:
    assert seconds_left(0, 10, 5) is None
    assert seconds_left(1, None, 5) is None
    assert seconds_left(2, 10, 5) == 20
    assert seconds_left(2, 10, 10) == 40


@pytest.mark.parametrize(
    ("seconds", "times", "told"),
    [
        # Two vectors, then a search of three examples.
        (None, (0, 1, 2, 3, 4, 5), [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]),
        # Two vectors a second apart, then six seconds of searching at that pace.
        (6, (0, 1, 2, 3, 4, 9), [(1, 8), (2, 8), (3, 9), (4, 9), (5, 5)]),
    ],
)
def test_the_end_of_a_search_is_told_by_its_examples_or_by_its_pace(
    seconds: float | None,
    times: tuple[int, ...],
    told: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("sonnx.conformance.pacing.monotonic", lambda: now)
    found: list[tuple[int, int]] = []
    pace = Pace(
        lambda asked, expected: found.append((asked, expected)), 2, 3 if seconds is None else 99, seconds
    )
    for now in map(float, times[1:]):  # noqa: B007  read by the clock
        pace.step()
    assert found == told


def test_the_command_line_knows_the_operator_sets() -> None:
    (option,) = (each for each in main.commands["vectors"].params if each.name == "opset")
    kind: Any = option.type
    assert (kind.min, kind.max, option.default) == (OLDEST_OPSET, NEWEST_OPSET, NEWEST_OPSET)


def test_numbers_and_truth_values_are_told_as_such() -> None:
    from sonnx.cli.actions.conformance import told

    assert told(["a=1", "b=-2", "c=true", "d=false", "e=none", "f=", "g=1.5", "h=x=y"]) == {
        **{"a": 1, "b": -2, "c": True, "d": False, "e": "none", "f": "", "g": "1.5", "h": "x=y"},
    }
    assert told(["a=False", "b=TRUE"]) == {"a": False, "b": True}
    assert [type(value) for value in told(["a=1", "b=true"]).values()] == [int, bool]
