"""`sonnx emit`: what it prints, its exit codes, and that nothing half-written stays behind."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from tests.emit.support import assert_passes, make, needs_gcc
from tests.report.cli_support import (
    BOOL,
    FLOAT,
    STRING,
    conv_model,
    model_of,
    run,
    shown_raw,
    tensor,
    two_clips,
    where_model,
    written,
)

FILES = {
    "Makefile",
    "README.md",
    "SHA256SUMS",
    "checks.h",
    "model.c",
    "model.h",
    "test_model.c",
    "vectors.bin",
}
WEIGHTS = {"weights.c", "weights.h"}


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
@pytest.mark.parametrize("accumulate", ["separate", "fused"])
def test_emit_writes_a_project_that_passes_its_test(kernels: str, accumulate: str, tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", conv_model())
    folder = tmp_path / "project"
    done = run("emit", model, "-o", folder, "--kernels", kernels, "--accumulate", accumulate)
    assert done.exit_code == 0
    assert {file.name for file in folder.iterdir()} >= FILES | WEIGHTS
    assert "1 node as C" in done.output
    assert f"test it: make -C {folder} test" in done.output
    assert_passes(make(folder))


def test_the_digests_it_prints_are_those_of_the_files(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    output = run("emit", model, "-o", tmp_path / "p").output
    for file in (tmp_path / "p").iterdir():
        assert f"sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" in output
    assert f"model sha256 {hashlib.sha256(model.read_bytes()).hexdigest()}" in output


def test_the_readme_names_model_mode_and_changes(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", conv_model(bare=True))
    done = run("emit", model, "-o", tmp_path / "p", "--normalize", "--accumulate", "fused")
    assert done.exit_code == 0
    text = (tmp_path / "p" / "README.md").read_text(encoding="utf-8")
    assert "changes by normalizing" in text
    assert "`fused`: product and sum are rounded once" in text
    assert "int32_t example_run(const float in_x[2], float out_y[1]);" in text


@needs_gcc
def test_a_model_without_constants_needs_no_weights(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", where_model())
    assert run("emit", model, "-o", tmp_path / "p").exit_code == 0
    assert {file.name for file in (tmp_path / "p").iterdir()} == FILES
    assert_passes(make(tmp_path / "p"))


@needs_gcc
def test_a_model_without_inputs_is_tested_once(tmp_path: Path) -> None:
    bounds = {name: np.array(value, np.float32) for name, value in (("x", 9), ("l", 0), ("h", 6))}
    node = helper.make_node("Clip", ["x", "l", "h"], ["y"], name="n")
    model = written(tmp_path / "net.onnx", model_of([node], [], [tensor("y", FLOAT, [])], bounds))
    for kernels in ("plain", "fast"):
        assert run("emit", model, "-o", tmp_path / kernels, "--kernels", kernels).exit_code == 0
        done = make(tmp_path / kernels)
        assert_passes(done)
        assert done.stdout.count("1 of 1 agree") == 1


def test_a_model_outside_the_profile_is_refused_with_its_findings(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", conv_model(bare=True))
    done = run("emit", model, "-o", tmp_path / "p")
    assert done.exit_code == 1
    assert "error[general.R1]" in done.output
    assert "nothing was written; `--normalize` makes explicit what it can" in done.output
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_strings_are_refused_with_the_name_of_the_tensor(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", where_model(STRING))
    done = run("emit", model, "-o", tmp_path / "p")
    assert done.exit_code == 2
    assert done.output == "error: `x` is string[2,3]: elements of that type have no place in C\n"
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    for target in (folder, model):
        before = model.read_bytes()
        done = run("emit", model, "-o", target)
        assert done.exit_code == 2
        assert done.output == f"error: {target} is there already and is no empty folder; name a new one\n"
        assert model.read_bytes() == before
    assert os.listdir(folder) == ["mine.txt"]
    assert sorted(os.listdir(tmp_path)) == ["net.onnx", "p"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    (tmp_path / "p").mkdir()
    assert run("emit", model, "-o", tmp_path / "p").exit_code == 0
    assert {file.name for file in (tmp_path / "p").iterdir()} == FILES | WEIGHTS


def test_folders_above_are_made(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    assert run("emit", model, "-o", tmp_path / "new" / "and" / "deep").exit_code == 0
    assert (tmp_path / "new" / "and" / "deep" / "model.c").is_file()


def test_a_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    done = run("emit", model, "-o", model / "p")
    assert done.exit_code == 2
    assert done.output == f"error: {model / 'p'} cannot be written: {model} is no folder\n"
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_standard_output_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = written(tmp_path / "net.onnx", two_clips())
    done = run("emit", model, "-o", "-")
    assert done.exit_code == 2
    assert done.output.startswith("error: a project is a folder of files")
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = written(tmp_path / "net.onnx", two_clips())

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    done = run("emit", model, "-o", tmp_path / "p")
    assert done.exit_code == 2
    assert done.output == f"error: {tmp_path / 'p'}: cannot be written: Permission denied\n"


def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = written(tmp_path / "net.onnx", two_clips())
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "weights.c":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    done = run("emit", model, "-o", tmp_path / "p")
    assert done.exit_code == 2
    assert "No space left on device" in done.output
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_dims_without_normalize_are_refused(tmp_path: Path) -> None:
    done = run("emit", tmp_path / "x.onnx", "-o", tmp_path / "p", "--dim", "batch=1")
    assert done.exit_code == 2
    assert "say --normalize too" in done.output


def test_a_file_that_is_no_model_and_too_little_memory_are_said(tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_bytes(b"no model")
    assert run("emit", tmp_path / "no.onnx", "-o", tmp_path / "p").exit_code == 2
    shape = [500, 500]
    model = written(tmp_path / "net.onnx", where_model(BOOL, shape))
    done = run("emit", model, "-o", tmp_path / "p", "--memory", "0.0001")
    assert done.exit_code == 2
    assert "(--memory)" in done.output
    assert not (tmp_path / "p").exists()


def test_fast_kernels_without_a_compiler_that_works_are_refused_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = written(tmp_path / "net.onnx", conv_model())
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho 'one line' >&2\necho 'and another' >&2\nexit 3\n", encoding="utf-8")
    failing.chmod(0o755)
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("sonnx.native.cache._loaded", {}, raising=False)
    outputs = {}
    for compiler in (str(failing), str(tmp_path / "missing")):
        monkeypatch.setenv("SONNX_CC", compiler)
        done = run("emit", model, "-o", tmp_path / "p", "--kernels", "fast")
        assert done.exit_code == 2
        assert done.output.startswith("error: ")
        assert "\\n" not in done.output
        assert "`--kernels plain`" in done.output
        assert "reference" not in done.output
        assert not (tmp_path / "p").exists()
        outputs[compiler] = done.output
    assert "\n  one line\n  and another\n" in outputs[str(failing)]


@needs_gcc
def test_hostile_names_reach_neither_terminal_nor_c(tmp_path: Path) -> None:
    name = '*/ int x; /* ??/ " \\ `|` $(shell false) %s#'
    model = written(tmp_path / "net.onnx", two_clips(first=name, output=name))
    done = run("emit", model, "-o", tmp_path / "p")
    assert done.exit_code == 0
    assert shown_raw(done.output) == []
    made = make(tmp_path / "p")
    assert_passes(made)
    assert shown_raw(made.stdout) == []
