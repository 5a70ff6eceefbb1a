"""The matrix says what is there and changes when that does; the pages show the package's own tables."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from docs.build import Inputs, main, make_sources
from docs.counting import count_tests, named_by_tests
from docs.folders import folders
from docs.laws import comment, laws_path, statement
from docs.markup import DocsError
from docs.matrix import (
    assumptions_table,
    driver_table,
    matrix,
    read_evidence,
    standing_table,
    tools_table,
)
from proofs.lock import Entry, Lock, lock_text
from tests.docs.support import Site

from docs import build as docs_build
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.prove.assumptions import DRIVER_LINES, assumptions
from sonnx.prove.mlw import read_theory
from sonnx.prove.reporting import proofs_text
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
MODEL = """/* Written by sonnx */
/*@ assigns \\nothing; */
static int node_0_a_element(void)
{
}
/* Node 0 `a`: Clip
     input */
/*@ assigns t; */
static void node_0_a(void)
{
}
/* Node 1: Conv
*/
/*@ assigns t; */
static void node_1_conv(void)
{
}
/*@ assigns t; */
int32_t net_run(void)
{
}
"""
TOOLS = "a" * 64


def cells(text: str) -> Mapping[str, Mapping[str, str]]:
    """The cells of a Markdown table by the words of their first cell and their column."""
    heads, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines())
    named = {re.sub(r"^\[([^\]]*)\].*|<[^>]*>", r"\1", row[0]): row for row in rows}
    return {name: dict(zip(heads, row, strict=True)) for name, row in named.items()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the sources of Clip alone, and a lock on its theory and on an emitted project."""
    for part in ("onnx/clip", "onnx/conv"):
        there = tmp_path / "src" / "sonnx" / "operators" / part
        there.mkdir(parents=True)
        (there / "meaning.py").write_text("")
    there = tmp_path / "src" / "sonnx" / "operators" / "onnx" / "clip"
    (there / "theory.mlw").write_text(THEORY)
    tests = tmp_path / "tests" / "operators"
    tests.mkdir(parents=True)
    (tests / "test_one.py").write_text("import sonnx\ndef test_a():\n    sonnx.clip(1)\n")
    write_lock(tmp_path)
    return tmp_path


def emitted(model: str = MODEL) -> Mapping[str, Mapping[str, str]]:
    others = MODEL.replace("Clip", "Where").replace("Conv", "Where")
    return {"example": {"model.c": model}, "kernels": {"model.c": others}, "fused": {"model.c": others}}


def write_lock(root: Path, lost: str = "", changed: str = "", **stamp: Any) -> None:
    """A lock on all that is there, but for a unit that is lost, and one with another text."""
    evidence = read_evidence(root, emitted())
    entry = Entry("", TOOLS, "proved", 2, 1, ("cvc4nofp", "Qed"), 1.5, "0123456789ab", "2026-01-02")
    entries = {
        unit.name: replace(entry, text=unit.text)
        for units in evidence.units.values()
        for unit in units
        if unit.name != lost
    }
    if changed:
        entries[changed] = replace(entries[changed], text="f" * 64)
    if stamp:
        entries["example net_run"] = replace(entries["example net_run"], **stamp)
    lock = Lock({TOOLS: ("why3 1.5.1", "cvc4 1.8")}, entries)
    (root / "proofs.lock").write_text(lock_text(lock))


def of(project: Path, model: str = MODEL) -> Mapping[str, Mapping[str, str]]:
    wanted = [
        folder for folder in folders() if folder.title in {"Clip", "Conv", "xla.Clamp", "General rules"}
    ]
    return cells(matrix(wanted, read_evidence(project, emitted(model))))


def standing(project: Path) -> Mapping[str, Mapping[str, str]]:
    return cells(standing_table(read_evidence(project, emitted())).rpartition("\n\n")[2])


def test_every_cell_is_counted(project: Path) -> None:
    clip = of(project)["Clip"]
    assert list(clip.values())[4:] == [
        "derived",
        "derived",
        "[3](operators/clip-laws.md)",
        "2",
        "4",
        "1",
    ]
    folder = next(folder for folder in folders() if folder.title == "Clip")
    assert clip["rules"] == f"[{len(folder.rules)}](operators/clip.md#rules)"
    assert clip["cases"] == f"[{len(folder.cases)}](operators/clip-cases.md)"
    assert clip["meaning"] == "[definition](operators/clip.md#definition)"


def test_goals_of_no_node_have_a_line_of_their_own(project: Path) -> None:
    beside = of(project)["emitted projects, beside their nodes"]
    assert beside["WP goals"] == "12"  # the entry point and the whole program of three projects


def test_an_operator_without_theory_kernel_or_meaning_shows_it(project: Path) -> None:
    conv = of(project)["Conv"]
    assert (conv["theory laws"], conv["theory goals"], conv["plain kernel"]) == ("-", "-", "derived")
    assert conv["fast kernel"] == "by hand"
    there = project / "src" / "sonnx" / "operators" / "onnx" / "clip"
    for name in ("theory.mlw", "meaning.py"):
        (there / name).unlink()
    clip = of(project)["Clip"]
    assert list(clip.values())[4:] == ["derived", "derived", "-", "-", "4", "1"]
    assert clip["meaning"] == "missing"


def test_an_operation_of_xla_has_a_dash_for_its_kernels(project: Path) -> None:
    clamp = of(project)["xla.Clamp"]
    assert (clamp["plain kernel"], clamp["fast kernel"], clamp["WP goals"]) == ("-", "-", "-")


def test_general_rules_have_nothing_but_rules(project: Path) -> None:
    row = list(of(project)["General rules"].values())
    assert row[1] == "[5](operators/general.md)"
    assert set(row[2:]) == {"-"}


def test_a_missing_lock_is_said(project: Path) -> None:
    (project / "proofs.lock").unlink()
    clip = of(project)["Clip"]
    assert (clip["theory goals"], clip["WP goals"]) == ("not proved", "not proved")
    assert {row["goals proved"] for row in standing(project).values()} == {"not proved"}
    absent = read_evidence(project, emitted())
    assert "not proved" in tools_table(absent)
    assert standing_table(absent).startswith("There is no `proofs.lock`")


def test_what_has_no_entry_or_another_text_is_out_of_date(project: Path) -> None:
    write_lock(project, changed="onnx/clip Clip")
    assert of(project)["Clip"]["theory goals"] == "out of date"
    assert standing(project)["onnx/clip"]["goals proved"] == "out of date"
    write_lock(project, lost="onnx/clip Clip")
    assert of(project)["Clip"]["theory goals"] == "not proved"
    for name in ("node_0_a", "node_0_a_element"):
        write_lock(project, changed=f"example {name}")
        assert of(project)["Clip"]["WP goals"] == "example: out of date"
    write_lock(project, lost="example node_0_a")
    assert of(project)["Clip"]["WP goals"] == "example: out of date"
    write_lock(project, lost="kernels kernels_run", changed="fused net_run")
    assert of(project)["emitted projects, beside their nodes"]["WP goals"] == "8; fused: out of date"


def test_a_changed_theory_or_project_is_out_of_date(project: Path) -> None:
    theory = project / "src" / "sonnx" / "operators" / "onnx" / "clip" / "theory.mlw"
    theory.write_text(THEORY.replace("goal second: true", "goal second: 1 = 1"))
    assert of(project)["Clip"]["theory goals"] == "out of date"
    other = MODEL.replace("assigns \\nothing", "assigns a")
    assert of(project, other)["Clip"]["WP goals"] == "example: out of date"


def test_a_project_without_such_a_node_says_so(project: Path) -> None:
    assert of(project, MODEL.replace(": Clip", ": Where"))["Clip"]["WP goals"] == "no node"


def test_what_stands_by_the_lock_is_told_with_commit_and_day(project: Path) -> None:
    rows = standing(project)
    clip = rows["onnx/clip"]
    assert [*clip.values()][1:5] == ["1", "2", "1", "Qed, cvc4nofp"]
    assert clip["since"] == "2026-01-02, commit <code>0123456789ab</code>"
    write_lock(project, commit="", date="2026-01-03")
    once = "2026-01-02, commit <code>0123456789ab</code> (4)"
    assert standing(project)["example"]["since"] == f"{once}<br>2026-01-03 (1)"
    write_lock(project, commit="ffffffffffff+", date="2026-01-03")
    later = "2026-01-03, commit <code>ffffffffffff</code> and what was not committed then (1)"
    assert standing(project)["example"]["since"] == f"{once}<br>{later}"
    tools = tools_table(read_evidence(project, emitted()))
    assert "| why3 1.5.1, cvc4 1.8 | 16 |" in tools


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', "\udc80"])
def test_a_damaged_lock_is_a_problem_and_no_number(project: Path, text: str) -> None:
    (project / "proofs.lock").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DocsError, match=r"proofs\.lock is not believed: .*ALL=1 writes it anew"):
        read_evidence(project, emitted())


def test_the_command_says_that_the_lock_is_damaged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read() -> Inputs:
        raise DocsError("proofs.lock is not believed")

    monkeypatch.setattr(docs_build, "read_inputs", read)
    assert main() == 1
    assert "error: proofs.lock is not believed" in capsys.readouterr().err


def test_tests_are_counted_by_what_they_name() -> None:
    text = """
import numpy as np
import sonnx
from sonnx import xla
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.xla import clamp

def helper():
    return sonnx.clip(1)

def test_by_function(): sonnx.where(1)
def test_by_helper(): helper()
def test_by_constant(): CONV.contract
def test_by_name(): f("Expand")
def test_by_rule(): f("conv.pads.C2")
def test_by_ruling(): f("D-BCAST-1")
def test_by_its_one_ruling(): f("D-RELU")
def test_by_a_ruling_on_another(): f("D-CONVT")
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
        "test_by_ruling": {"broadcast", "expand"},
        "test_by_its_one_ruling": {"relu"},
        "test_by_a_ruling_on_another": frozenset(),
        "test_of_xla": {"xla.conv"},
        "test_imported": {"xla.clamp"},
        "test_of_numpy": frozenset(),
    }


def test_every_operator_of_the_package_has_tests_or_cases() -> None:
    # What follows from a definition is tested for all operators at once; cases by hand are its own.
    counts = count_tests(ROOT / "tests" / "operators")
    assert all(counts[op.identifier] or load_cases(op.identifier) for op in OPERATORS)


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


def test_the_page_has_every_assumption_and_every_line_of_the_driver(site: Site) -> None:
    assert site.problems == ()
    page = (site.root / "trust.html").read_text(encoding="utf-8")
    for each in assumptions():
        assert f'id="assumption-{each.identifier}"' in page
    assert assumptions_table().count("\n") == len(assumptions()) + 1
    assert driver_table().count("\n") == len(DRIVER_LINES) + 1


@pytest.mark.parametrize("name", ["assumptions", "driver", "matrix", "standing", "tools"])
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
