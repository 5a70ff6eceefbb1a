"""`sonnx run` with compiled kernels: the same bits, what it says, and what it makes of a broken compiler."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from onnx import helper
from tests.report.cli_support import (
    FLOAT,
    columns,
    conv_model,
    program,
    run,
    saved,
    shown_raw,
    tensor,
    two_clips,
    written,
)

from sonnx.engines import NO_COMPILER
from sonnx.native import cache
from sonnx.native.compiler import ADVICE

X = np.array([-1, 9], np.float32)


@pytest.fixture(autouse=True, scope="module")
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("SONNX_CC", "CC", "SONNX_CC_TIMEOUT"):
            patch.delenv(variable, raising=False)
        patch.setenv("SONNX_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty, and temporary files that are seen."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(cache, "_loaded", {})
    return tmp_path


def clips(folder: Path, *options: object) -> Result:
    model = written(folder / "clips.onnx", two_clips())
    return run("run", model, "--input", f"x={saved(folder / 'x.npy', X)}", *options)


def one_between(folder: Path, *options: object) -> Result:
    """A tensor that two loops read is in memory: nothing is calculated twice."""
    proto = two_clips()
    proto.graph.node.append(helper.make_node("Clip", ["t", "one", "high"], ["z"], name="other"))
    proto.graph.output.append(tensor("z", FLOAT, [2]))
    model = written(folder / "between.onnx", proto)
    return run("run", model, "--input", f"x={saved(folder / 'x.npy', X)}", *options)


def convolution(folder: Path, *options: object) -> Result:
    """-(1 + 2^-11) + (1 + 2^-12)^2 is 2^-24, which the product loses where it is rounded."""
    near = 1 + 2.0**-12
    model = written(folder / "conv.onnx", conv_model(W=(-1 - 2.0**-11, near), B=0))
    image = saved(folder / "x.npy", columns(1, near))
    return run("run", model, "--input", f"x={image}", "--output-dir", folder / "out", *options)


def test_compiled_kernels_are_what_runs_unless_something_else_is_asked_for(tmp_path: Path) -> None:
    said = clips(tmp_path).stdout
    assert "engine native, " in said
    assert "engine native, " in clips(tmp_path, "--engine", "native").stdout
    assert "engine reference, " in clips(tmp_path, "--engine", "reference").stdout


@pytest.mark.parametrize(
    "options",
    [("--trace",), ("--order", "random"), ("--seed", 3), ("--domain", "real")],
    ids=lambda options: options[0],
)
def test_what_only_the_definitions_can_do_they_do(tmp_path: Path, options: tuple[object, ...]) -> None:
    result = clips(tmp_path, *options)
    assert result.exit_code == 0
    assert "engine native" not in result.stdout
    refused = clips(tmp_path, "--engine", "native", *options)
    assert refused.exit_code == 2
    assert f"the engine native takes no {options[0]}" in refused.stderr


@pytest.mark.parametrize("threads", [1, 2, 3, 256])
def test_the_number_of_threads_is_said_and_changes_nothing(tmp_path: Path, threads: int) -> None:
    results = {}
    for engine, more in (("reference", ()), ("native", ("--threads", threads))):
        result = clips(tmp_path, "--engine", engine, "--output-dir", tmp_path / engine, *more)
        assert result.exit_code == 0
        results[engine] = (tmp_path / engine / "y.npy").read_bytes()
    assert f"engine native, {threads} thread{'s' if threads > 1 else ''}, kernels by " in result.stdout
    assert results["native"] == results["reference"]
    assert np.load(tmp_path / "native" / "y.npy").tolist() == [0, 1]


def test_the_memory_between_nodes_and_of_constants_is_said(tmp_path: Path) -> None:
    # One tensor of two floats, of which memory has whole lines; three bounds of four bytes.
    said = one_between(tmp_path, "--threads", 1).stdout
    assert "\n   64 bytes for tensors between nodes, 12 for constants\n" in said
    # What one loop alone reads is in no memory.
    said = clips(tmp_path, "--threads", 1).stdout
    assert "\n   0 bytes for tensors between nodes, 12 for constants\n" in said


@pytest.mark.parametrize("threads", ["0", "-1", "257", "two", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(tmp_path: Path, threads: str) -> None:
    result = clips(tmp_path, "--threads", threads)
    assert result.exit_code == 2
    assert "--threads" in result.stderr


@pytest.mark.parametrize("engine", ["reference", "xla"])
def test_threads_are_of_the_native_engine_alone(tmp_path: Path, engine: str) -> None:
    result = clips(tmp_path, "--engine", engine, "--threads", 2)
    assert result.exit_code == 2
    assert f"the engine {engine} takes no --threads" in result.stderr


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("mode", "expected"), [("separate", 0), ("fused", 2.0**-24)])
def test_sums_are_rounded_as_the_mode_says(tmp_path: Path, mode: str, expected: float, engine: str) -> None:
    result = convolution(tmp_path, "--engine", engine, "--accumulate", mode)
    assert result.exit_code == 0
    assert f"sums {mode}" in result.stdout
    assert np.load(tmp_path / "out" / "y.npy").tobytes() == columns(expected).tobytes()


def test_without_a_compiler_a_note_is_given_and_the_bits_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = clips(tmp_path, "--engine", "reference").stdout
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sonnx.native.compiler.find_spec", lambda name: None)
    result = clips(tmp_path)
    assert result.exit_code == 0
    assert result.stderr == f"note: {NO_COMPILER}\n"
    assert result.stdout == expected


def test_a_limit_of_memory_is_kept(tmp_path: Path) -> None:
    # Two floats in and twice two out, three bounds, 64 bytes between: 100.
    few, enough = (one_between(tmp_path, "--threads", 1, "--memory", size / 2**30) for size in (99, 100))
    assert (few.exit_code, enough.exit_code) == (2, 0)
    assert "takes up to 100 bytes for tensors, allowed are 99" in few.stderr
    assert "--memory" in few.stderr


def broken(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    script = folder / "broken-cc"
    script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("SONNX_CC", str(script))


BROKEN = {
    "fails": ("echo 'no space\033[31m left' >&2; exit 1", "the C compiler failed with exit code 1"),
    "hangs": ("sleep 100", "did not end within 0.2 seconds and was stopped"),
    "makes nothing": ("exit 0", "left no library"),
    "dies": ("kill -11 $$", "was ended by signal 11"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_compiler_that_does_not_work_is_reported_and_leaves_nothing(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    text, expected = BROKEN[how]
    broken(fresh, monkeypatch, text)
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "0.2" if how == "hangs" else "20")
    before = {path for path in fresh.rglob("*") if path.is_file()}
    result = clips(fresh, "--output-dir", fresh / "out")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert expected in result.stderr
    assert ADVICE in result.stderr
    assert shown_raw(result.stderr) == []
    after = {path for path in fresh.rglob("*") if path.is_file()}
    assert after - before == {fresh / "clips.onnx", fresh / "x.npy"}
    assert list((fresh / "temporary").iterdir()) == []
    assert clips(fresh, "--engine", "reference").exit_code == 0


@pytest.mark.parametrize(
    ("variable", "command", "expected"),
    [
        ("SONNX_CC", "no-such-compiler-anywhere", "SONNX_CC names no-such-compiler-anywhere"),
        ("CC", "no-such-compiler-anywhere", "CC names no-such-compiler-anywhere"),
        ("SONNX_CC", "cc 'unfinished", "SONNX_CC cannot be read"),
    ],
)
def test_a_compiler_that_there_is_not_is_reported(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, variable: str, command: str, expected: str
) -> None:
    monkeypatch.setenv(variable, command)
    result = clips(fresh)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_wrong_input_is_reported_before_anything_is_compiled(fresh: Path) -> None:
    model = written(fresh / "clips.onnx", two_clips())
    result = run("run", model, "--input", f"x={saved(fresh / 'x.npy', np.zeros(3, np.float32))}")
    assert result.exit_code == 2
    assert "x" in result.stderr
    assert not (fresh / "cache").exists()


def test_the_program_itself_runs_twice_and_the_second_time_compiles_nothing(fresh: Path) -> None:
    model, image = written(fresh / "a.onnx", two_clips()), saved(fresh / "x.npy", X)
    arguments = ("run", model, "--input", f"x={image}", "--threads", 2)
    first = program(*arguments)
    kept = sorted((fresh / "cache" / "kernels").glob("*.so"))
    assert len(kept) == 2  # clip, and what hands out tasks
    second = program(*arguments, env={"SONNX_CC_TIMEOUT": "0.001"})
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout
    assert sorted((fresh / "cache" / "kernels").glob("*.so")) == kept
