"""`sonnx check` and `sonnx normalize`, as a person and as somebody with bad intentions uses them."""

import hashlib
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.report.cli_support import (
    FLOAT,
    FORMATS,
    conv_model,
    model_of,
    program,
    run,
    tensor,
    two_clips,
    where_model,
    written,
)

from sonnx.api import load
from sonnx.check import models
from sonnx.cli import summary


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "good.onnx", two_clips())


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return written(tmp_path / "bad.onnx", conv_model(bare=True))


def broken_beyond_repair() -> onnx.ModelProto:
    """A Clip whose lower bound has an axis too many: no change keeps its meaning and mends it."""
    bounds = {"low": np.zeros((1, 1), np.float32), "high": np.array(1, np.float32)}
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"], name="clip")
    return model_of([node], [tensor("x", FLOAT, [2])], [tensor("y", FLOAT, [2])], bounds)


# check


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_that_conforms_has_exit_code_0_in_every_format(good: Path, form: str) -> None:
    assert run("check", good, "--format", form).exit_code == 0


@pytest.mark.parametrize("form", FORMATS)
def test_findings_have_exit_code_1_and_name_the_rule_in_every_format(bad: Path, form: str) -> None:
    result = run("check", bad, "--format", form)
    assert result.exit_code == 1
    assert "general.R1" in result.stdout
    assert result.stderr == ""


def test_the_exit_codes_are_those_of_the_program_too(good: Path, bad: Path, tmp_path: Path) -> None:
    codes = [program("check", path).returncode for path in (good, bad, tmp_path / "missing.onnx")]
    assert codes == [0, 1, 2]


def test_the_verdict_tells_the_digest_of_the_file_that_was_judged(good: Path) -> None:
    lines = run("check", good).stdout.splitlines()
    assert lines == [f"{good} conforms to the profile", f"sha256 {digest(good)}"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_json_has_the_verdict_the_digest_and_a_list_of_findings(bad: Path, good: Path) -> None:
    found = json.loads(run("check", bad, "--format", "json").stdout)
    assert [finding["rule"] for finding in found["findings"]] == ["general.R1"]
    assert (found["conforms"], found["sha256"], found["size"]) == (False, digest(bad), bad.stat().st_size)
    conforming = json.loads(run("check", good, "--format", "json").stdout)
    assert (conforming["conforms"], conforming["findings"]) == (True, [])


def test_sarif_has_one_result_per_finding(bad: Path) -> None:
    found = json.loads(run("check", bad, "--format", "sarif").stdout)
    assert found["version"] == "2.1.0"
    assert [result["ruleId"] for result in found["runs"][0]["results"]] == ["general.R1"]


def _unreadable(path: Path, kind: str) -> Path:
    if kind == "folder":
        path.mkdir()
    elif kind == "garbage":
        path.write_bytes(b"\xff" * 100)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "below a file":
        path.write_bytes(b"")
        return path / "net.onnx"
    return path


@pytest.mark.parametrize("command", ["check", "normalize", "run"])
@pytest.mark.parametrize(
    "kind", ["missing", "folder", "garbage", "empty", "pipe", "link to itself", "below a file"]
)
def test_what_holds_no_model_has_exit_code_2_and_one_line_that_says_why(
    tmp_path: Path, command: str, kind: str
) -> None:
    path = _unreadable(tmp_path / "x.onnx", kind)
    more = ["-o", tmp_path / "out.onnx"] if command == "normalize" else []
    result = run(command, path, *more)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.fullmatch(r"error: .*x\.onnx.*: .+\n", result.stderr)
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_has_exit_code_2(good: Path) -> None:
    good.chmod(0)
    result = run("check", good)
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_goes_to_a_file_and_the_verdict_is_printed(bad: Path, tmp_path: Path, form: str) -> None:
    report = tmp_path / "report"
    result = run("check", bad, "--format", form, "-o", report)
    assert result.exit_code == 1
    assert result.stdout == f"{bad}: 1 finding, 1 rule broken\n"
    assert report.read_text() == run("check", bad, "--format", form).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.onnx", "report"]


def test_a_report_to_a_minus_sign_is_printed(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bad.parent)
    assert run("check", bad, "-o", "-").stdout == run("check", bad).stdout
    assert list(bad.parent.iterdir()) == [bad]


@pytest.mark.parametrize("where", ["missing/report", ".", "good.onnx/report"])
def test_a_report_that_cannot_be_written_has_exit_code_2(good: Path, where: str) -> None:
    result = run("check", good, "-o", good.parent / where)
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert [path.name for path in good.parent.iterdir()] == ["good.onnx"]


def _names_of(model: Path) -> list[Path]:
    """Every kind of name by which one file can be called."""
    hard, soft, far = (model.with_name(name) for name in ("hard.onnx", "soft.onnx", "far.onnx"))
    os.link(model, hard)
    soft.symlink_to(model.name)
    far.symlink_to(soft)
    return [model, hard, soft, far, model.parent / "." / ".." / model.parent.name / model.name]


@pytest.mark.parametrize("command", ["check", "normalize"])
def test_nothing_overwrites_the_model_by_whatever_name(tmp_path: Path, command: str) -> None:
    model = written(tmp_path / "net.onnx", conv_model(bare=True))
    before = model.read_bytes()
    for name in _names_of(model):
        result = run(command, model, "-o", name)
        assert result.exit_code == 2, name
        assert "is the model itself" in result.stderr
        assert model.read_bytes() == before


def test_a_failed_report_leaves_the_old_one(
    bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report"
    report.write_text("old")

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    result = run("check", bad, "-o", report)
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert report.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.onnx", "report"]


# many findings


def clips_without_bounds(number: int, *, stray: bool = False) -> onnx.ModelProto:
    """A chain of Clips without upper bounds; a stray one has a bound that is no scalar."""
    low = {"low": np.array(0, np.float32), "list": np.zeros(1, np.float32)}
    names = [f"t{index}" for index in range(number)] + ["y"]
    nodes = [
        helper.make_node("Clip", [names[index], "low"], [names[index + 1]], name=f"clip{index}")
        for index in range(number)
    ]
    if stray:
        nodes[-1].input[1] = "list"
    types = [tensor(name, FLOAT, [2]) for name in names[1:-1]]
    ends = [tensor("t0", FLOAT, [2])], [tensor("y", FLOAT, [2])]
    low = low if stray else {"low": low["low"]}
    return model_of(nodes, *ends, low, value_info=types)


def test_findings_that_share_a_rule_are_summed_up_with_their_first_place(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(4))
    output = run("check", path, "--all").stdout
    assert output.count("error[clip.max.D1]") == 4
    assert re.search(r"^clip\.max\.D1 +4 +0  node 0 `clip0` \(Clip\)$", output, re.MULTILINE)
    assert output.endswith(f"\nhelp: `sonnx normalize {path} -o {made(path)}` mends all of this\n")


def test_a_list_of_findings_that_was_cut_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(4))
    assert f"{path}: 4 findings, 1 rule broken\n" in run("check", path).stdout
    monkeypatch.setattr(models, "MOST_FINDINGS", 3)
    assert f"{path}: 3 findings or more, 1 rule broken\n" in run("check", path).stdout


def test_a_single_finding_is_not_summed_up(bad: Path) -> None:
    assert "first place" not in run("check", bad).stdout


def test_brief_prints_one_line_per_rule(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(4, stray=True))
    lines = run("check", path, "--brief").stdout.splitlines()
    assert lines[0].split() == ["rule", "findings", "left", "by", "normalize", "first", "place"]
    assert [line.split()[:3] for line in lines[1:3]] == [["clip.max.D1", "4", "0"], ["clip.min.D2", "1", "1"]]
    assert lines[3:5] == ["", f"{path}: 5 findings, 2 rules broken"]
    assert lines[6:] == [f"help: {LEAVES_ONE}"]


def test_what_normalizing_would_leave_is_what_it_leaves(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(3, stray=True))
    result = run("normalize", path, "-o", tmp_path / "b.onnx")
    assert result.exit_code == 1
    assert result.stderr.count("error[") == result.stderr.count("error[clip.min.D2]") == 1


def test_brief_is_refused_where_a_program_reads_the_report(bad: Path) -> None:
    result = run("check", bad, "--brief", "--format", "json")
    assert result.exit_code == 2
    assert "--brief is for text" in result.stderr


def test_a_batch_without_a_size_is_tried_with_one(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    (advice,) = help_of(path)
    assert (
        advice
        == f"`sonnx normalize {path} --dim batch=1 -o {made(path)}` mends all of this; the size 1 is a guess"
    )


LEAVES_ONE = (
    "`sonnx normalize` leaves 1 finding, so that it writes nothing; `sonnx explain clip.min.D2` says why "
    "it is asked for"
)
FIXES = "fixes what is open, with a number for each SIZE"


def made(path: Path) -> Path:
    """Where what is advised writes."""
    return path.with_name(f"{path.stem}-conforming.onnx")


def help_of(path: Path) -> list[str]:
    """What `check` advises at its end."""
    lines = run("check", path, "--brief").stdout.splitlines()
    return [line.removeprefix("help: ") for line in lines if line.startswith("help: ")]


def test_the_command_that_is_advised_does_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a b.onnx", "-a.onnx", "it's $HOME.onnx", "OUT.onnx", "other"):
        written(tmp_path / name, two_clips(size="batch"))
        lines = run("check", "--", name).stdout.splitlines()
        (command,) = re.findall("^help: `(.*)` mends all of this; the size 1 is a guess$", lines[-1])
        program, *arguments = shlex.split(command)
        assert program == "sonnx"
        assert run(*arguments).exit_code == 0
        assert load(f"{name.removesuffix('.onnx')}-conforming.onnx").check() == ()


def test_sizes_that_were_tried_are_not_asked_for_in_a_second_line(tmp_path: Path) -> None:
    model = clips_without_bounds(2, stray=True)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    path = written(tmp_path / "a.onnx", model)
    assert help_of(path) == [LEAVES_ONE]


def test_a_command_that_would_be_too_long_is_not_advised_in_part(tmp_path: Path) -> None:
    inputs = [tensor(f"x{index}", FLOAT, [f"n{index}"]) for index in range(9)]
    bounds = {"low": np.array(0, np.float32), "high": np.array(1, np.float32)}
    nodes = [helper.make_node("Clip", [f"x{index}", "low", "high"], [f"y{index}"]) for index in range(9)]
    outputs = [tensor(f"y{index}", FLOAT, [f"n{index}"]) for index in range(9)]
    (advice,) = help_of(written(tmp_path / "a.onnx", model_of(nodes, inputs, outputs, bounds)))
    assert advice.endswith("--dim n7=SIZE and 1 more")


# what stops every change


def damaged(size: object = 2) -> onnx.ModelProto:
    """A Clip without an upper bound, which can be mended, of a tensor that nothing defines."""
    model = clips_without_bounds(1)
    model.graph.node[0].input[0] = "nowhere"
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].CopyFrom(tensor("t", FLOAT, [size]).type.tensor_type.shape.dim[0])
    return model


def test_a_check_says_what_keeps_a_model_from_being_normalized(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", damaged())
    assert help_of(path) == [
        "`sonnx normalize` changes nothing because of graph.D3: mend that first",
        "`sonnx explain graph.D3` says why",
    ]


@pytest.mark.parametrize("brief", [[], ["--brief"]])
def test_normalizing_says_because_of_what_nothing_was_changed(tmp_path: Path, brief: list[str]) -> None:
    path = written(tmp_path / "a.onnx", damaged())
    result = run("normalize", path, "-o", tmp_path / "b.onnx", *brief)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.endswith(
        "\nnothing was changed because of graph.D3: mend that first\n"
        "help: `sonnx explain graph.D3` says why\n"
    )


def test_running_a_normalized_model_says_so_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", damaged())
    assert "nothing was changed because of graph.D3" in run("run", path, "--normalize").stderr
    assert "was changed" not in run("run", path).stderr


def test_sizes_that_were_fixed_are_not_denied(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", damaged("n"))
    result = run("normalize", path, "-o", tmp_path / "b.onnx", "--dim", "n=2")
    assert "\nnothing else was changed because of graph.D3: mend that first\n" in result.stderr


def test_types_that_contradict_one_another_stop_every_change_too(tmp_path: Path) -> None:
    model = clips_without_bounds(2)
    model.graph.value_info.append(tensor("t1", FLOAT, [3]))
    path = written(tmp_path / "a.onnx", model)
    assert help_of(path)[-2:] == [
        "`sonnx normalize` changes nothing because of graph.D11: mend that first",
        "`sonnx explain graph.D11` says why",
    ]
    result = run("normalize", path, "-o", tmp_path / "b.onnx")
    assert "\nnothing was changed because of graph.D11: mend that first\n" in result.stderr


def test_what_only_a_person_can_mend_stops_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(2, stray=True))
    assert "was changed because" not in run("normalize", path, "-o", tmp_path / "b.onnx").stderr


def test_brief_prints_what_is_left_in_one_line_per_rule(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(3, stray=True))
    result = run("normalize", path, "-o", tmp_path / "b.onnx", "--brief")
    assert result.stderr.splitlines() == [
        "rule         findings  first place",
        "clip.min.D2         1  node 2 `clip2` (Clip)",
        "",
        f"{path}: 1 finding, 1 rule broken; nothing was written",
        "help: `sonnx normalize` cannot mend this; `sonnx explain clip.min.D2` says why it is asked for",
    ]


def test_a_size_without_a_name_that_says_what_it_is_is_not_guessed(tmp_path: Path) -> None:
    for size, option in ((None, "'x[0]=SIZE'"), ("sequence_length", "sequence_length=SIZE")):
        path = written(tmp_path / "a.onnx", two_clips(size=size))
        assert help_of(path) == [f"`sonnx normalize {path} --dim {option} -o {made(path)}` {FIXES}"]


def test_other_open_sizes_are_not_guessed(tmp_path: Path) -> None:
    model = where_model(shape=(2, 3))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[1].dim_param = "columns"
    path = written(tmp_path / "a.onnx", model)
    assert help_of(path) == [f"`sonnx normalize {path} --dim columns=SIZE -o {made(path)}` {FIXES}"]


def test_a_batch_beside_another_open_size_is_not_guessed_either(tmp_path: Path) -> None:
    model = conv_model(bare=True)
    sizes = model.graph.input[0].type.tensor_type.shape.dim
    sizes[0].dim_param, sizes[3].dim_param = "batch", "columns"
    path = written(tmp_path / "a.onnx", model)
    assert help_of(path) == [
        f"`sonnx normalize {path} --dim batch=SIZE --dim columns=SIZE -o {made(path)}` {FIXES}"
    ]


def test_advice_is_safe_to_paste_into_a_shell(tmp_path: Path) -> None:
    name = "$(touch it); `it` 'batch"
    path = written(tmp_path / "a.onnx", two_clips(size=name))
    (advice,) = help_of(path)
    # As the shell itself quotes a single quote: '"'"'.
    quoted = "'$(touch it); `it` '\"'\"'batch=1'"
    assert (
        advice
        == f"`sonnx normalize {path} --dim {quoted} -o {made(path)}` mends all of this; the size 1 is a guess"
    )


def test_very_many_open_sizes_are_not_all_listed(tmp_path: Path) -> None:
    inputs = [tensor(f"x{index}", FLOAT, ["n", f"s{index}"]) for index in range(20)]
    inputs.append(tensor("x", FLOAT, ["n", "s" * 10_000]))
    node = helper.make_node("Clip", ["x0", "x1", "x2"], ["y"])
    path = written(tmp_path / "a.onnx", model_of([node], inputs, [tensor("y", FLOAT, ["n", "s0"])]))
    advice = run("check", path).stdout.splitlines()[-1]
    assert advice.endswith("--dim s6=SIZE and 14 more")
    assert len(advice) < 300


def test_a_large_model_is_not_normalized_for_the_sake_of_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.onnx", clips_without_bounds(3))
    for limit in ("_MOST_NODES", "_MOST_FINDINGS"):
        with monkeypatch.context() as patch:
            patch.setattr(summary, limit, 2)
            output = run("check", path, "--brief").stdout
        assert "left by normalize" not in output
        assert f"help: `sonnx normalize {path} -o {made(path)}` mends what it can; it writes" in output


def test_a_line_of_the_summary_fits_the_page_whatever_the_names(tmp_path: Path) -> None:
    model = conv_model(bare=True)
    model.graph.node[0].name = "n" * 5000
    path = written(tmp_path / "a.onnx", model)
    checked = run("check", path, "--brief").stdout.splitlines()
    changed = run("normalize", path, "-o", tmp_path / "b.onnx", "--brief").stdout.splitlines()
    assert [len(lines[1]) for lines in (checked, changed)] == [110, 110]
    assert checked[1].endswith("nnn...")


# normalize


def test_the_written_model_conforms_and_the_given_one_keeps_its_bytes(bad: Path, tmp_path: Path) -> None:
    before = bad.read_bytes()
    out = tmp_path / "out.onnx"
    result = run("normalize", bad, "-o", out)
    assert result.exit_code == 0
    assert bad.read_bytes() == before
    assert load(out).check() == ()
    assert result.stdout.endswith(f"\n{out} conforms to the profile after 6 changes\nsha256 {digest(out)}\n")
    for name in ("strides", "pads", "dilations", "group", "kernel_shape", "auto_pad"):
        assert f"wrote {name} = " in result.stdout


def test_a_model_that_conforms_is_written_without_changes(good: Path, tmp_path: Path) -> None:
    result = run("normalize", good, "-o", tmp_path / "out.onnx")
    assert result.stdout.splitlines()[0] == f"{tmp_path / 'out.onnx'} conforms to the profile after 0 changes"
    assert load(tmp_path / "out.onnx").nodes == load(good).nodes


def test_what_cannot_be_mended_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", broken_beyond_repair())
    result = run("normalize", path, "-o", tmp_path / "out.onnx")
    assert result.exit_code == 1
    assert "error[clip.min.D2]" in result.stderr
    assert result.stderr.endswith(
        f"{path}: 1 finding, 1 rule broken; nothing was written\n"
        "help: `sonnx normalize` cannot mend this; `sonnx explain clip.min.D2` says why it is asked for\n"
    )
    assert [found.name for found in tmp_path.iterdir()] == ["a.onnx"]


def test_an_older_result_survives_a_model_that_cannot_be_mended(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", broken_beyond_repair())
    out = tmp_path / "out.onnx"
    out.write_bytes(b"older")
    assert run("normalize", path, "-o", out).exit_code == 1
    assert out.read_bytes() == b"older"


def test_brief_changes_are_counted_by_rule(bad: Path, tmp_path: Path) -> None:
    result = run("normalize", bad, "-o", tmp_path / "out.onnx", "--brief")
    assert result.stdout.splitlines()[:3] == [
        "rule        changes  first change",
        "general.R1        6  node 0 `conv` (Conv): wrote strides = [1, 1]",
        "",
    ]


def test_a_link_is_followed_and_stays_a_link(bad: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real.onnx", tmp_path / "link.onnx"
    link.symlink_to(target)
    assert run("normalize", bad, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert load(target).check() == ()


def test_a_new_file_has_the_permissions_of_any_new_file(bad: Path, tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    out = tmp_path / "out.onnx"
    assert run("normalize", bad, "-o", out).exit_code == 0
    assert out.stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("missing/out.onnx", "cannot be written: there is no such folder"),
        (".", "is not a plain file"),
        ("bad.onnx/out.onnx", "cannot be written: Not a directory"),
        ("pipe", "is not a plain file"),
    ],
)
def test_a_place_that_holds_no_model_is_refused(bad: Path, where: str, problem: str) -> None:
    os.mkfifo(bad.parent / "pipe")
    result = run("normalize", bad, "-o", bad.parent / where)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert sorted(path.name for path in bad.parent.iterdir()) == ["bad.onnx", "pipe"]


def test_a_model_is_not_written_to_the_terminal(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bad.parent)
    result = run("normalize", bad, "-o", "-")
    assert result.exit_code == 2
    assert "stands for the terminal" in result.stderr


def test_open_sizes_are_named_where_they_are_all_that_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    result = run("normalize", path, "-o", tmp_path / "out.onnx")
    assert result.exit_code == 1
    assert "can be fixed with --dim batch=SIZE" in result.stderr


def test_dim_fixes_an_open_size(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="a=b"))
    # The last equals sign counts: names may have some of their own. The same size twice is no contradiction.
    result = run("normalize", path, "-o", tmp_path / "out.onnx", "--dim", "a=b=7", "--dim", "a=b=07")
    assert result.exit_code == 0
    assert load(tmp_path / "out.onnx").inputs[0].type.sizes == (7,)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--dim", "other=1"], "no open size is called 'other'; there are: batch"),
        (["--dim", "batch=-1"], "no integer from 0"),
        (["--dim", "batch=1.5"], "no integer from 0"),
        (["--dim", "batch=2147483648"], ""),
        (["--dim", "batch=" + "9" * 5000], "no integer from 0"),
        (["--dim", "batch=\u0663"], "no integer from 0"),  # a digit, but not one of ours
        (["--dim", "batch"], "not of the form NAME=SIZE"),
        (["--dim", "batch="], "no integer from 0"),
        (["--dim", "=1"], "not of the form NAME=SIZE"),
        (["--dim", "batch=1", "--dim", "batch=2"], "'batch' is given as 1 and as 2"),
    ],
)
def test_a_size_that_cannot_be_meant_is_refused(tmp_path: Path, options: list[str], problem: str) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    result = run("normalize", path, "-o", tmp_path / "out.onnx", *options)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert [found.name for found in tmp_path.iterdir()] == ["a.onnx"]


@pytest.mark.parametrize("memory", ["0", "-1", "nan", "inf", "1e-12", "1e400"])
@pytest.mark.parametrize("command", ["check", "run"])
def test_an_impossible_amount_of_memory_is_refused(good: Path, command: str, memory: str) -> None:
    result = run(command, good, "--memory", memory)
    assert result.exit_code == 2
    assert "--memory" in result.stderr


def test_memory_limits_the_tensors_that_are_loaded(tmp_path: Path) -> None:
    weights = {"W": np.zeros((1, 1, 64, 64), np.float32)}
    node = helper.make_node("Conv", ["x", "W"], ["y"], name="conv")
    ends = [tensor("x", FLOAT, [1, 1, 64, 64])], [tensor("y", FLOAT, [1, 1, 1, 1])]
    path = written(tmp_path / "a.onnx", model_of([node], *ends, weights))
    few, enough = (run("check", path, "--memory", str(size / 2**30)) for size in (16383, 16384))
    assert "initializer `W`" in few.stdout
    assert "initializer `W`" not in enough.stdout
