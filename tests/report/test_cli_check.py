"""`sonnx check` on models with many findings, and on several models."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tests.report.cli_support import (
    BOOL,
    FLOAT,
    conv_model,
    model_of,
    run,
    shown_raw,
    tensor,
    two_clips,
    written,
)

from sonnx.api import load
from sonnx.check import models
from sonnx.cli import summary


def network(
    layers: int = 12, opset: int = 21, others: tuple[str, str] = ("Unheard", "Another")
) -> onnx.ModelProto:
    """What exporters write: Convs with defaults, two other operators, Constants, a Dropout at the end."""
    weights = {"W": np.ones((1, 1, 1, 1), np.float32)}
    one = numpy_helper.from_array(np.array(1, np.float32))
    nodes, taken = [], "x"
    for layer in range(layers):
        made = [f"{what}{layer}" for what in ("c", "r", "k", "a")]
        nodes += [
            helper.make_node("Conv", [taken, "W"], [made[0]], name=f"conv{layer}"),
            helper.make_node(others[0], [made[0]], [made[1]], name=f"relu{layer}"),
            helper.make_node("Constant", [], [made[2]], value=one),
            helper.make_node(others[1], [made[1], made[2]], [made[3]]),
        ]
        taken = made[3]
    nodes.append(helper.make_node("Dropout", [taken], ["y"], name="drop"))
    model = model_of(nodes, [tensor("x", FLOAT, [1, 1, 4, 4])], [tensor("y", FLOAT, [1, 1, 4, 4])], weights)
    model.opset_import[0].version = opset
    return model


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return written(tmp_path / "net.onnx", network())


def test_many_findings_are_told_by_operator_and_by_rule(net: Path) -> None:
    result = run("check", net)
    assert result.exit_code == 1
    digest = load(net).file_sha256
    # 12 Convs, of which the first makes a type that follows; 37 other nodes; what these make has no type.
    assert (
        result.stdout
        == f"""\
error[graph.D6]: 37 of 49 nodes are outside the profile
  operator  nodes  left by normalize  what to do
  Unheard      12                 12
  Constant     12                  0  make it an initializer; `sonnx normalize` does
  Another      12                 12
  Dropout       1                  1  take what it passes on from where it comes: for inference it changes
                                      nothing
  47 more follow from this: general.R2 at tensor `r0`, ...
  help with the others: the profile has nothing in its place: while the model needs it, it cannot conform
  more: sonnx explain graph.D6

error[general.R2]: Every tensor must have an explicit element type and a static shape
  1 finding, mended by `sonnx normalize` once nothing else is left
  --> {net}: tensor `c0`
   c0 = ?
  help: write the type; `sonnx normalize` infers it
  more: sonnx explain general.R2

error[general.R1]: Every attribute of an operator must be written; none is left to its default
  12 findings, mended by `sonnx normalize` once nothing else is left
  --> {net}: node 0 `conv0` (Conv)
   strides      = absent
   pads         = absent
   dilations    = absent
   group        = absent
   kernel_shape = absent
   auto_pad     = absent
  help: write `strides`, `pads`, `dilations`, `group`, `kernel_shape`, `auto_pad` explicitly
  --> node 4 `conv1` (Conv)
  --> node 8 `conv2` (Conv)
  ... and 9 more
  more: sonnx explain general.R1

{net}: 97 findings, 3 rules broken
sha256 {digest}
help: `sonnx check {net} --all` lists every finding
help: `sonnx normalize` leaves 60 findings, so that it writes nothing; \
`sonnx explain graph.D6` says why it is asked for
"""
    )


def test_every_finding_is_counted_once_whatever_it_is_told_under(net: Path) -> None:
    found = json.loads(run("check", net, "--format", "json").stdout)["findings"]
    assert len(found) == 97
    assert [each["rule"] for each in found if each["follows"] == "graph.D6"] == ["general.R2"] * 47
    assert {each["follows"] for each in found} == {"", "graph.D6"}
    results = json.loads(run("check", net, "--format", "sarif").stdout)["runs"][0]["results"]
    assert len(results) == 97
    assert sum(each.get("properties") == {"follows": "graph.D6"} for each in results) == 47


def test_all_lists_every_finding(net: Path) -> None:
    output = run("check", net, "--all").stdout
    assert output.count("error[") == 97
    assert "lists every finding" not in output
    assert "leaves 60 findings, so that it writes nothing; " in output.splitlines()[-1]


def test_few_findings_are_told_in_full(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", conv_model(bare=True))
    assert run("check", path).stdout == run("check", path, "--all").stdout
    assert "   strides      = absent\n" in run("check", path).stdout


def test_all_and_brief_contradict_one_another(net: Path) -> None:
    for command in (["check", net], ["normalize", net, "-o", "out.onnx"]):
        result = run(*command, "--all", "--brief")
        assert result.exit_code == 2
        assert "--brief and --all contradict one another" in result.stderr


def test_a_page_is_as_wide_as_the_terminal(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    for number, node in enumerate(model.graph.node):
        node.name = f"{number}" * 100
        node.output[0] = node.output[0] if node.output[0] == "y" else node.output[0] + "t" * 100
    for columns in (60, 80, 140):
        monkeypatch.setattr("sonnx.cli.actions.check.page_width", lambda *, error, columns=columns: columns)
        output = run("check", written(net, model)).stdout
        # The first place of a rule is given in full, as are values and help.
        lines = re.findall(
            r"^  (?:--> node|Unheard|Another|Dropout| {20}|[0-9]+ more).*$", output, re.MULTILINE
        )
        assert len(lines) >= 8
        assert max(map(len, lines)) <= columns, columns


def test_operators_beyond_what_a_page_holds_are_counted(tmp_path: Path) -> None:
    nodes = [helper.make_node(f"Own{n:02}", ["x"], [f"y{n}"], domain="own") for n in range(40)]
    outputs = [tensor(f"y{n}", FLOAT, [2]) for n in range(40)]
    model = model_of(nodes, [tensor("x", FLOAT, [2])], outputs)
    model.opset_import.append(helper.make_opsetid("own", 1))
    output = run("check", written(tmp_path / "a.onnx", model)).stdout
    assert "  own.Own00      1                  1\n" in output
    assert "  ... and 10 nodes of 10 other operators\n" in output
    assert "  help: the profile has nothing in its place" in output


def test_branches_and_random_nodes_stand_in_the_table_with_their_rules(tmp_path: Path) -> None:
    model = network(2)
    branch = helper.make_graph(
        [helper.make_node("Unheard", ["k0"], ["b"])], "b", [], [tensor("b", FLOAT, [])]
    )
    model.graph.node.extend(
        [
            helper.make_node("If", ["flag"], ["z"], name="if", then_branch=branch, else_branch=branch),
            helper.make_node("RandomNormalLike", ["x"], ["v"]),
        ]
    )
    model.graph.input.append(tensor("flag", BOOL, []))
    model.graph.output.extend([tensor("z", FLOAT, []), tensor("v", FLOAT, [1, 1, 4, 4])])
    output = run("check", written(tmp_path / "a.onnx", model)).stdout
    assert output.startswith("error[graph.D6, graph.D7, graph.D8]: 9 of 11 nodes are outside the profile\n")
    assert (
        "\n  If                    1  write its branches or repetitions out as nodes of the graph\n" in output
    )
    assert "\n  more: sonnx explain graph.D6, sonnx explain graph.D7, sonnx explain graph.D8\n" in output


def test_what_a_branch_takes_contributes_to_an_output(tmp_path: Path) -> None:
    inner = helper.make_graph([helper.make_node("Unheard", ["t"], ["b"])], "b", [], [tensor("b", FLOAT, [2])])
    deep = helper.make_node("If", ["flag"], ["c"], then_branch=inner, else_branch=inner)
    outer = helper.make_graph([deep], "o", [], [tensor("c", FLOAT, [2])])
    passed = helper.make_graph([], "p", [], [tensor("s", FLOAT, [2])])
    nodes = [
        helper.make_node("Unheard", ["x"], ["t"], name="inner"),
        helper.make_node("Unheard", ["x"], ["s"], name="given on"),
        helper.make_node("Unheard", ["x"], ["u"], name="unused"),
        helper.make_node("If", ["flag"], ["y"], then_branch=outer, else_branch=passed),
    ]
    ends = [tensor("x", FLOAT, [2]), tensor("flag", BOOL, [])], [tensor("y", FLOAT, [2])]
    found = load(written(tmp_path / "a.onnx", model_of(nodes, *ends))).check()
    assert [f.location.name for f in found if f.rule == "graph.D4" and f.location] == ["unused"]


def test_nodes_of_functions_are_counted_where_they_stand(tmp_path: Path) -> None:
    body = [helper.make_node("Unheard", ["a"], [f"b{n}"]) for n in range(7)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    outputs = [f"b{n}" for n in range(7)]
    call = helper.make_node("F", ["x"], [f"y{n}" for n in range(7)], domain="own")
    model = model_of([call], [tensor("x", FLOAT, [2])], [tensor(f"y{n}", FLOAT, [2]) for n in range(7)])
    model.opset_import.append(opsets[1])
    model.functions.append(helper.make_function("own", "F", ["a"], outputs, body, opsets))
    output = run("check", written(tmp_path / "a.onnx", model)).stdout
    assert output.startswith("error[graph.D6]: 7 of 8 nodes are outside the profile\n")


def test_operators_whose_long_names_begin_alike_are_counted_apart(tmp_path: Path) -> None:
    nodes = [helper.make_node("A" * 60 + str(n), ["x"], [f"y{n}"]) for n in range(7)]
    model = model_of(nodes, [tensor("x", FLOAT, [2])], [tensor(f"y{n}", FLOAT, [2]) for n in range(7)])
    rows = [
        line
        for line in run("check", written(tmp_path / "a.onnx", model)).stdout.splitlines()
        if "AAA " in line
    ]
    assert [re.split(r" {2,}", row)[2] for row in rows] == ["1"] * 7


# the last line


def last(path: Path, *options: str) -> str:
    return run("check", path, *options).stdout.splitlines()[-1]


def test_a_model_that_normalizing_does_nothing_for_is_told_where_to_read_on(tmp_path: Path) -> None:
    node = helper.make_node("Unheard", ["x"], ["y"])
    model = model_of([node], [tensor("x", FLOAT, [2])], [tensor("y", FLOAT, [2])])
    told = "help: `sonnx normalize` mends none of this; `sonnx explain graph.D6` says why it is asked for"
    assert last(written(tmp_path / "a.onnx", model)) == told


def test_a_list_of_findings_that_was_cut_has_a_next_command_too(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "MOST_FINDINGS", 50)
    monkeypatch.setattr(summary, "_MOST_FINDINGS", 40)
    output = run("check", net).stdout
    assert f"{net}: 50 findings or more, 2 rules broken\n" in output
    made = net.with_name("net-conforming.onnx")
    assert f"help: `sonnx normalize {net} -o {made}` mends what it can; it writes the model where " in output


def test_an_old_operator_set_has_a_command_that_converts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(Path("it's $HOME.onnx"), network(1, 12, ("Relu", "Add")))
    line = last(path)
    assert line.startswith("help: `python -c 'import onnx, ")
    assert line.endswith("` writes it with operator set 13")
    command = shlex.split(line.partition("`")[2].rpartition("`")[0])
    subprocess.run([sys.executable, *command[1:]], check=True, timeout=60)
    assert dict(load("it's $HOME-opset13.onnx").opsets)[""] == 13


def test_no_command_is_told_that_an_operator_of_nobody_ends(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", network(1, 12, ("NobodysRelu", "Add")))
    assert last(path) == "help: `sonnx explain graph.D9` says why"


def test_axes_of_one_name_are_offered_one_by_one(tmp_path: Path) -> None:
    model = two_clips()
    model.graph.input[0].CopyFrom(tensor("x", FLOAT, ["n", "n"]))
    line = last(written(tmp_path / "a.onnx", model))
    assert line == (
        "help: open sizes of the inputs can be fixed with --dim n=SIZE, and axes of one name one by one: "
        "--dim 'x[0]=SIZE' --dim 'x[1]=SIZE'"
    )


# what others refuse


def test_what_normalizing_leaves_is_told_by_operator_and_rule_too(net: Path, tmp_path: Path) -> None:
    result = run("normalize", net, "-o", tmp_path / "out.onnx")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "rule        changes  first change"
    assert result.stderr.startswith("error[graph.D6]: 25 of 37 nodes are outside the profile\n")
    assert "infers it" not in result.stderr
    assert len(result.stderr.splitlines()) < 30
    everything = run("normalize", net, "-o", tmp_path / "out.onnx", "--all")
    assert everything.stderr.count("error[") == 60
    assert everything.stdout.count("wrote strides = ") == 12


# several models


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A model that conforms, one that does not, and a file that is none."""
    monkeypatch.chdir(tmp_path)
    written(Path("good.onnx"), two_clips())
    written(Path("bad.onnx"), conv_model(bare=True))
    Path("none.onnx").write_bytes(b"\xff" * 100)
    return ["good.onnx", "bad.onnx", "none.onnx"]


def test_the_exit_code_is_that_of_the_worst(three: list[str]) -> None:
    good, bad, none = three
    asked = {(good, good): 0, (good, bad): 1, (bad, good): 1, (none, bad): 2, (good, none): 2, (none, "x"): 2}
    assert {models: run("check", *models).exit_code for models in asked} == asked


def test_each_file_has_its_report_and_an_unreadable_one_its_line(three: list[str]) -> None:
    result = run("check", *three)
    good, bad = (run("check", name).stdout.rstrip("\n") for name in three[:2])
    tally = "3 files: 1 conforming, 1 with findings, 1 unreadable"
    assert result.stdout == f"{good}\n\n{bad}\n\n{tally}\n"
    assert result.stderr == run("check", three[2]).stderr


def test_a_file_that_is_named_twice_is_judged_once(three: list[str]) -> None:
    assert run("check", three[0], f"./{three[0]}").stdout == run("check", three[0]).stdout


def test_several_models_are_one_document_of_json(three: list[str]) -> None:
    document = json.loads(run("check", *three, "--format", "json").stdout)
    assert [document[key] for key in ("tool", "conforms")] == ["sonnx", False]
    alone = [json.loads(run("check", name, "--format", "json").stdout) for name in three[:2]]
    assert document["files"][:2] == alone
    problem = run("check", three[2]).stderr.removeprefix("error: ").rstrip("\n")
    assert document["files"][2:] == [{"file": "none.onnx", "error": problem}]
    both = json.loads(run("check", three[0], "./" + three[0], "--format", "json").stdout)
    assert both == alone[0]


def test_several_models_are_one_run_of_sarif(three: list[str]) -> None:
    (log,) = json.loads(run("check", *three, "--format", "sarif").stdout)["runs"]
    artifacts = [each["location"] for each in log["artifacts"]]
    assert [(each["uri"], each["index"]) for each in artifacts] == [("good.onnx", 0), ("bad.onnx", 1)]
    (result,) = log["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == artifacts[1]
    (invocation,) = log["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "none.onnx"
    assert told["message"]["text"] in run("check", three[2]).stderr


def test_one_report_of_several_models_goes_to_one_file(three: list[str]) -> None:
    result = run("check", *three, "-o", "report")
    assert result.stdout.splitlines() == [
        "good.onnx conforms to the profile",
        "bad.onnx: 1 finding, 1 rule broken",
        "3 files: 1 conforming, 1 with findings, 1 unreadable",
    ]
    assert Path("report").read_text() == run("check", *three).stdout
    before = Path("bad.onnx").read_bytes()
    assert run("check", *three, "-o", "bad.onnx").exit_code == 2
    assert Path("bad.onnx").read_bytes() == before


def test_grouped_reports_print_nothing_raw(tmp_path: Path) -> None:
    model = network(3)
    for node in model.graph.node:
        node.name = f"\x1b[31m{node.name}\n"
        node.op_type = f"{node.op_type}\x1b" if node.op_type == "Another" else node.op_type
    for form in ("text", "json", "sarif"):
        path = written(tmp_path / "a.onnx", model)
        assert shown_raw(run("check", path, path.with_name("b"), "--format", form).stdout) == [], form
