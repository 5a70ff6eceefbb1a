"""The way of a value through the house, as CONTRIBUTING tells it: module by module, in this order."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import helper, save

from sonnx.cli import main
from sonnx.derive import evaluate as walk
from sonnx.derive import tracing

ROOT = Path(__file__).resolve().parents[2]
MOST_MODULES = 20


def told() -> list[str]:
    """The modules of the table, in its order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## A value's way")[1].split("\n## ")[0]
    paths = re.findall(r"^\| `([\w/]+)\.py`", section, re.MULTILINE)
    return [f"sonnx.{path.replace('/', '.')}" for path in paths]


def a_model(folder: Path) -> list[str]:
    """The arguments that run a Clip on an array."""
    value = helper.make_tensor_value_info
    bounds = [helper.make_tensor("lo", 1, [], [-1.0]), helper.make_tensor("hi", 1, [], [1.0])]
    node = helper.make_node("Clip", ["x", "lo", "hi"], ["y"])
    graph = helper.make_graph([node], "way", [value("x", 1, [4])], [value("y", 1, [4])], bounds)
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
        folder / "m.onnx",
    )
    np.save(folder / "x.npy", np.array([-2, 0.5, 3, np.nan], np.float32))
    return ["run", str(folder / "m.onnx"), "--input", f"x={folder / 'x.npy'}", "--engine", "reference"]


def visited(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules whose functions are called, call by call."""
    names: list[str] = []

    def called(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            names.append(frame.f_globals.get("__name__", ""))

    runner = CliRunner()
    runner.invoke(main, arguments, catch_exceptions=False)  # what is imported late has been by then
    walk._prepared.cache_clear()  # traces are remembered: here each is made where it is asked for
    monkeypatch.setattr(tracing, "_traced", tracing._traced.__wrapped__)
    before = sys.getprofile()
    sys.setprofile(called)
    try:
        found = runner.invoke(main, arguments, catch_exceptions=False)
    finally:
        sys.setprofile(before)
    assert found.exit_code == 0, found.output
    return names


def test_a_value_takes_the_way_that_contributing_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = told()
    assert 10 < len(way) <= MOST_MODULES
    seen = visited(a_model(tmp_path), monkeypatch)
    # Each is called after the one before it; what lies in between is left out of the table.
    calls = iter(seen)
    assert [name for name in way if name not in calls] == []
