"""The matrix says what is there and changes when that does; the pages show the package's own tables."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from docs.build import Inputs, Places, build, main, make_sources
from docs.counting import count_tests, named_by_tests
from docs.folders import folders
from docs.laws import comment, laws_path, statement
from docs.markup import DocsError
from docs.matrix import assumptions_table, driver_table, matrix, read_evidence, reports_table

from docs import build as docs_build
from sonnx import __version__
from sonnx.prove.assumptions import DRIVER_LINES, assumptions
from sonnx.prove.mlw import read_theory
from sonnx.prove.reporting import proofs_json, proofs_text
from sonnx.prove.result import Attempt, Goal, Proofs

ROOT = Path(__file__).parents[2]
THEORY = """module Clip
  (* One law. *)
  goal first: true
  goal second: true

  let lemma third (a: int)
    ensures { true }
  = ()
end
"""
MODEL = """/* Node 0 `a`: Clip
     input */
static void node_0_a(void)
/* Node 1: Conv
*/
"""


def cells(text: str) -> Mapping[str, Mapping[str, str]]:
    """The cells of a Markdown table by the words of their first cell and their column."""
    heads, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines())
    named = {re.sub(r"^\[([^\]]*)\].*|<[^>]*>", r"\1", row[0]): row for row in rows}
    return {name: dict(zip(heads, row, strict=True)) for name, row in named.items()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the sources of Clip alone, and reports on its theory and on an emitted project."""
    for part in ("onnx/clip", "onnx/conv"):
        there = tmp_path / "src" / "sonnx" / "operators" / part
        there.mkdir(parents=True)
        (there / "meaning.py").write_text("")
    there = tmp_path / "src" / "sonnx" / "operators" / "onnx" / "clip"
    (there / "theory.mlw").write_text(THEORY)
    (there / "plain.c").write_text("a\nb\nc\n")
    (there / "fast.c").write_text("a\n")
    (there / "fast_more.c").write_text("a\nb\n")
    tests = tmp_path / "tests" / "operators"
    tests.mkdir(parents=True)
    (tests / "test_one.py").write_text("import sonnx\ndef test_a():\n    sonnx.clip(1)\n")
    reports = tmp_path / "build" / "prove"
    (reports / "example").mkdir(parents=True)
    (reports / "example" / "model.c").write_text(MODEL)
    goals = [Goal("onnx/clip", "Clip", f"{law}.{part}", "proved", law=law) for law, part in LAWS]
    smoke = Goal("onnx/clip", "Clip", "false does not follow", "unknown", kind="smoke")
    write_report(reports / "operators.json", [*goals, smoke])
    units = ("node_0_a", "node_0_a_element", "node_1_conv", "net_run", "the whole program")
    write_report(reports / "example.json", [Goal("example", unit, "ensures", "proved") for unit in units])
    return tmp_path


LAWS = (("first", 1), ("second", 1), ("second", 2), ("third", 1))


def write_report(path: Path, goals: list[Goal], time: float = 2e9) -> None:
    path.write_text(proofs_json(Proofs(tuple(goals), (("why3", "1.5.1"),)), __version__))
    os.utime(path, (time, time))


def of(project: Path) -> Mapping[str, Mapping[str, str]]:
    wanted = [
        folder for folder in folders() if folder.title in {"Clip", "Conv", "xla.Clamp", "General rules"}
    ]
    return cells(matrix(wanted, read_evidence(project)))


def test_every_cell_is_counted(project: Path) -> None:
    clip = of(project)["Clip"]
    assert list(clip.values())[4:] == [
        "3",
        "3",
        "[3](operators/clip-laws.md)",
        "4",
        "2; kernels: not run; fused: not run",
        "1",
    ]
    folder = next(folder for folder in folders() if folder.title == "Clip")
    assert clip["rules"] == f"[{len(folder.rules)}](operators/clip.md#rules)"
    assert clip["cases"] == f"[{len(folder.cases)}](operators/clip-cases.md)"
    assert clip["meaning"] == "[definition](operators/clip.md#definition)"


def test_goals_of_no_node_have_a_line_of_their_own(project: Path) -> None:
    beside = of(project)["emitted projects, beside their nodes"]
    assert beside["WP goals"].startswith("2; ")


def test_an_operator_without_theory_kernel_or_meaning_shows_it(project: Path) -> None:
    conv = of(project)["Conv"]
    assert (conv["theory laws"], conv["theory goals"], conv["plain kernel"], conv["WP goals"]) == ("-",) * 4
    there = project / "src" / "sonnx" / "operators" / "onnx" / "clip"
    for name in ("theory.mlw", "meaning.py", "plain.c", "fast.c", "fast_more.c"):
        (there / name).unlink()
    clip = of(project)["Clip"]
    assert list(clip.values())[4:] == ["-", "-", "-", "-", "-", "1"]
    assert clip["meaning"] == "missing"


def test_an_operation_of_xla_has_a_dash_for_its_kernels(project: Path) -> None:
    clamp = of(project)["xla.Clamp"]
    assert (clamp["plain kernel"], clamp["fast kernel"], clamp["WP goals"]) == ("-", "-", "-")


def test_general_rules_have_nothing_but_rules(project: Path) -> None:
    row = list(of(project)["General rules"].values())
    assert row[1] == "[5](operators/general.md)"
    assert set(row[2:]) == {"-"}


def test_a_missing_report_is_said(project: Path) -> None:
    shutil.rmtree(project / "build")
    clip = of(project)["Clip"]
    assert (clip["theory goals"], clip["WP goals"]) == ("not run", "not run")
    assert reports_table(read_evidence(project)).count("not run") == 4


def test_a_goal_that_is_not_proved_is_said(project: Path) -> None:
    path = project / "build" / "prove" / "operators.json"
    goals = [
        Goal("onnx/clip", "Clip", law, "timeout" if law == "third" else "proved", law=law) for law, _ in LAWS
    ]
    write_report(path, goals)
    assert of(project)["Clip"]["theory goals"] == "**3 of 4**"
    write_report(
        project / "build" / "prove" / "example.json",
        [Goal("example", "node_0_a", "ensures", "unknown"), Goal("example", "node_0_a", "assigns", "proved")],
    )
    assert of(project)["Clip"]["WP goals"].startswith("**1 of 2**; ")


@pytest.mark.parametrize("laws", [("first", "second"), ("first", "second", "third", "fourth")])
def test_a_report_on_other_laws_is_out_of_date(project: Path, laws: tuple[str, ...]) -> None:
    goals = [Goal("onnx/clip", "Clip", law, "proved", law=law) for law in laws]
    write_report(project / "build" / "prove" / "operators.json", goals)
    assert of(project)["Clip"]["theory goals"] == "out of date"


def test_a_report_older_than_its_theory_is_out_of_date(project: Path) -> None:
    path = project / "build" / "prove" / "operators.json"
    os.utime(path, (1, 1))
    assert of(project)["Clip"]["theory goals"] == "out of date"


def test_a_report_on_another_project_is_out_of_date(project: Path) -> None:
    model = project / "build" / "prove" / "example" / "model.c"
    model.write_text(MODEL.replace("Node 1:", "Node 2:"))
    assert of(project)["Clip"]["WP goals"].startswith("example: out of date")
    model.unlink()
    assert of(project)["Clip"]["WP goals"].startswith("example: out of date")


def test_a_project_without_such_a_node_says_so(project: Path) -> None:
    model = project / "build" / "prove" / "example" / "model.c"
    model.write_text(MODEL.replace(": Clip", ": Where"))
    assert of(project)["Clip"]["WP goals"].startswith("no node; ")


@pytest.mark.parametrize("text", ["", "[]", '{"goals": [{}]}', '{"goals": 7}'])
def test_a_damaged_report_is_a_problem_and_no_number(project: Path, text: str) -> None:
    (project / "build" / "prove" / "operators.json").write_text(text)
    with pytest.raises(DocsError, match=r"operators\.json is no report"):
        read_evidence(project)


def test_the_command_says_that_a_report_is_damaged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read() -> Inputs:
        raise DocsError("operators.json is no report of proofs: run make prove")

    monkeypatch.setattr(docs_build, "read_inputs", read)
    assert main() == 1
    assert "error: operators.json is no report" in capsys.readouterr().err


def test_reports_are_told_with_their_tools(project: Path) -> None:
    text = reports_table(read_evidence(project))
    line = next(
        line for line in text.splitlines() if "operators&#46;json" in line or "operators.json" in line
    )
    assert "| 4 | 4 | 1 of 1 | why3 1.5.1 |" in line


def test_tests_are_counted_by_what_they_name() -> None:
    text = """
import numpy as np
import sonnx
from sonnx import xla
from sonnx.operators import CONV
from sonnx.xla import clamp

def helper():
    return sonnx.clip(1)

def test_by_function(): sonnx.where(1)
def test_by_helper(): helper()
def test_by_constant(): CONV.contract
def test_by_name(): f("Expand")
def test_by_rule(): f("conv.pads.C2")
def test_by_ruling(): f("D-BCAST-1")
def test_of_xla(): xla.conv(1)
def test_imported(): clamp(1)
def test_of_numpy(): np.where(1), np.clip(1), "where it is", call(2)
"""
    assert named_by_tests(text) == {
        "test_by_function": {"where"},
        "test_by_helper": {"clip"},
        "test_by_constant": {"conv"},
        "test_by_name": {"expand"},
        "test_by_rule": {"conv"},
        "test_by_ruling": {"broadcast"},
        "test_of_xla": {"xla.conv"},
        "test_imported": {"xla.clamp"},
        "test_of_numpy": frozenset(),
    }


def test_every_operator_of_the_package_has_tests() -> None:
    assert all(count_tests(ROOT / "tests" / "operators").values())


def test_a_law_is_shown_with_its_comment_and_without_its_proof() -> None:
    lines = THEORY.split("\n")
    laws = read_theory("onnx/clip/theory.mlw", THEORY).modules[0].laws
    assert [comment(lines, law.line) for law in laws] == ["One law.", "One law.", ""]
    assert [list(statement(lines, law.line, 9)) for law in laws] == [
        ["goal first: true"],
        ["goal second: true"],
        ["let lemma third (a: int)", "  ensures { true }"],
    ]
    assert laws_path("onnx/clip") == "operators/clip-laws.md"
    assert laws_path("xla/clamp") == "operators/xla-clamp-laws.md"


def test_the_page_has_every_assumption_and_every_line_of_the_driver(small: Inputs, places: Places) -> None:
    assert build(small, places) == ()
    page = (places.site / "trust.html").read_text(encoding="utf-8")
    for each in assumptions():
        assert f'id="assumption-{each.identifier}"' in page
    assert assumptions_table().count("\n") == len(assumptions()) + 1
    assert driver_table().count("\n") == len(DRIVER_LINES) + 1


@pytest.mark.parametrize("name", ["assumptions", "driver", "matrix", "reports"])
def test_a_page_on_trust_without_a_table_fails(small: Inputs, name: str) -> None:
    text = small.pages["trust.md"].replace(f"{{{{ {name} }}}}", "")
    problems = make_sources(replace(small, pages={**small.pages, "trust.md": text})).problems
    assert problems == (f"docs/trust.md: needs {{{{ {name} }}}} once, has it 0 times",)


def test_the_pages_have_no_number_of_goals_or_laws_by_hand() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    bare = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not re.search(r"\d+ (?:goals|laws|tests|rules|of \d)", bare)


def test_the_wrong_kernel_of_the_page_is_reported_in_today_s_form() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    shown = text.partition("```text\n")[2].partition("```")[0]
    attempts = (
        Attempt("z3nofp 4.8.12", "timeout", 40.0),
        Attempt("z3new 5.4.0", "failed", detail="Failed out of memory"),
        Attempt("cvc4nofp 1.8", "timeout", 40.0),
    )
    goal = Goal(
        "wrong", "node_0_limit_element", "ensures", "timeout", place="wrong/model.c:47", attempts=attempts
    )
    digest = re.findall(r"^sha256 (\w+)  model\.c$", shown, re.MULTILINE)
    made = proofs_text(Proofs((goal,), seconds=1.0, sources=(("model.c", *digest),)))
    assert made.splitlines()[-1] in shown.splitlines()
    assert made.partition("\n\n")[2].partition("\n\nNOT PROVED")[0] in shown
    assert made.splitlines()[0].split() == shown.splitlines()[0].split()
