"""What the guide to models says in tables and lists is what the code does."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from docs.build import ROOT
from docs.overview import older_table, rewritings_table

import sonnx
from sonnx.check.models import MOST_FINDINGS, check_graph
from sonnx.cli import main
from sonnx.evaluate.execution import DEFAULT_MEMORY
from sonnx.load.arrays import write_array
from sonnx.load.limits import Limits
from sonnx.model.graph import Constant, Graph
from sonnx.model.location import PlaceKind
from sonnx.model.tensor_type import tensor_type
from sonnx.normalize.passes import normalize_graph
from sonnx.operators import GRAPH_RULES, NODE_OPERATORS, REWRITINGS
from sonnx.operators.graph.figures import EXPORTED
from sonnx.operators.rulebook import rules
from sonnx.report.findings_json import findings_document
from sonnx.report.sarif import sarif_document

GUIDE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
ABOUT: dict[str, Any] = {"file": "net.onnx", "sha256": "0" * 64, "size": 1, "version": "1.0.0"}


def between(start: str, end: str) -> str:
    return GUIDE.split(start, 1)[1].split(end, 1)[0]


def first_cells(text: str) -> list[str]:
    """The code in the first column of every table in a text."""
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_table_of_the_json_report_names_its_fields_in_order() -> None:
    document = findings_document(check_graph(EXPORTED), **ABOUT)
    section = between("### Reports for programs: JSON", "### Reports for code hosts: SARIF")
    whole, each = section.split("Each finding:")
    assert first_cells(whole) == list(document)
    assert first_cells(each) == list(document["findings"][0])


def test_the_parts_of_a_finding_in_json_are_named() -> None:
    finding = findings_document(check_graph(EXPORTED), **ABOUT)["findings"][-1]
    each = between("Each finding:", "### Reports for code hosts: SARIF")
    for part in (finding["location"], finding["location"]["parts"][0], finding["values"][0]):
        assert all(f"`{name}`" in each for name in part)


def test_the_kinds_of_places_are_those_of_the_code() -> None:
    (listed,) = re.findall(r"A `kind` is one of ([\w, ]+);", GUIDE)
    assert set(listed.split(", ")) == set(PlaceKind.__args__)  # type: ignore[attr-defined]  # a Literal has them


def test_the_table_of_the_sarif_report_names_fields_that_are_there() -> None:
    (run,) = sarif_document(check_graph(EXPORTED), rules(), **ABOUT)["runs"]
    paths = [name for name in first_cells(between("SARIF\n", "### In Python")) if name[0].islower()]
    assert len(paths) == 7
    for path in paths:
        value = run
        for step in path.replace("[]", ".0").split("."):
            value = value[int(step) if step.isdecimal() else step]
        assert value


def test_the_table_of_exact_results_names_the_fields_of_the_file(tmp_path: Path) -> None:
    write_array(tmp_path, "y", sonnx.real(["1/3", 2]))
    document = json.loads((tmp_path / "y.json").read_text())
    assert first_cells(between("### In the reals", "So one sees")) == list(document)
    assert document["elements"] == ["1/3", "2"]


def untouched(graph: Graph) -> bool:
    """Tell whether normalizing leaves a graph alone even where there is something to remove."""
    idle = Constant("idle", tensor_type("float[]"), np.array(0, np.float32))
    done = normalize_graph(replace(graph, constants=(*graph.constants, idle)))
    return "idle" in {constant.name for constant in done.graph.constants}


def test_the_rules_whose_breach_stops_every_change_are_listed() -> None:
    (paragraph,) = re.findall(r"- It does not choose\..*?\n- ", GUIDE, re.DOTALL)
    listed = re.findall(r"`(graph\.D\d+)`", paragraph)
    assert listed == [rule.identifier for rule in GRAPH_RULES if untouched(rule.failing)]


def test_the_limits_are_those_of_the_code() -> None:
    limits, table = Limits(), between("## Limits and hostile files", "## ONNX backend")
    for number, what in (
        (limits.fields, "entries"),
        (limits.nodes, "nodes"),
        (limits.functions, "functions"),
        (limits.tensors, "tensors"),
    ):
        assert f"{number:,} {what}" in table
    assert f"more than {limits.tensor_bytes // 2**30} GiB (`--memory`) | a finding of `graph.D15`" in table
    assert f"more than {DEFAULT_MEMORY // 2**30} GiB (`--memory`) | refused before it begins" in table
    assert f"the first {MOST_FINDINGS:,} findings" in GUIDE


@pytest.mark.parametrize("command", ["check", "normalize", "run", "export"])
def test_every_option_of_a_command_is_in_the_guide(command: str) -> None:
    options = [option for option in main.commands[command].params if isinstance(option, click.Option)]
    assert options
    for option in options:
        assert any(re.search(rf"(?<![\w-]){name}(?![\w-])", GUIDE) for name in option.opts), option.opts


def rows(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_what_stands_in_place_of_other_operators_is_listed() -> None:
    (power,) = [row for row in rows(rewritings_table()) if row[0] == "Pow"]
    assert power[2] == "<code>Mul(X, X)</code>"
    assert "(D-POW)" in power[3]


def test_the_operators_of_old_sets_are_those_that_normalizing_takes() -> None:
    sets = {row[0]: row[1].split(", ") for row in rows(older_table())}
    assert {"Add", "Clip", "Conv", "Pow", "Relu"} <= set(sets["7 to 12"])
    assert {"Expand", "Max"} <= set(sets["8 to 12"])
    listed = [name for names in sets.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert "HardSwish" not in listed, "it came with set 14"
    # That the other operators of a table mean the same is asked of ONNX's schemas elsewhere.
    assert set(listed) <= {*NODE_OPERATORS, *REWRITINGS}
