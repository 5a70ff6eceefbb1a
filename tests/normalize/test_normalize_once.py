"""What is asked of a model is asked once, however the commands go on from there: it may be very large."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto, helper
from tests.report.cli_support import FLOAT, model_of, run, tensor, two_clips, written

from sonnx.check import graphs
from sonnx.model import graph as model
from sonnx.model.graph import Graph
from sonnx.model.rule import Fault, GraphRule
from sonnx.operators import GRAPH_RULES

DEPTH = 300


def nested(depth: int) -> ModelProto:
    """Functions that each call the next one; the last one clips."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    calls = [helper.make_node(f"F{i + 1}", ["x"], ["y"], domain="own") for i in range(depth - 1)]
    bodies = [*calls, helper.make_node("Clip", ["x"], ["y"])]
    made = [
        helper.make_function("own", f"F{i}", ["x"], ["y"], [node], opsets) for i, node in enumerate(bodies)
    ]
    call = helper.make_node("F0", ["a"], ["b"], domain="own")
    outer = model_of([call], [tensor("a", FLOAT, [3])], [tensor("b", FLOAT, [3])])
    outer.opset_import.append(opsets[1])
    outer.functions.extend(made)
    return outer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each rule is asked, and how many scopes are made."""
    count = Counter[str]()

    def counting(rule: GraphRule) -> GraphRule:
        def predicate(graph: Graph) -> Iterable[Fault]:
            count[rule.identifier] += 1
            return rule.predicate(graph)

        return replace(rule, predicate=predicate)

    class Counted(model.Scope):
        def __init__(self, *arguments: Any) -> None:
            count["scopes"] += 1
            super().__init__(*arguments)

    monkeypatch.setattr(graphs, "GRAPH_RULES", tuple(map(counting, GRAPH_RULES)))
    monkeypatch.setattr(model, "Scope", Counted)
    return count


@pytest.mark.parametrize("command", ["check", "normalize", "run", "export", "emit"])
def test_calls_too_deep_to_be_replaced_are_found_by_one_look_at_each_function(
    command: str, asked: Counter[str], tmp_path: Path
) -> None:
    deep = written(tmp_path / "deep.onnx", nested(DEPTH))
    normalizing = [] if command in ("check", "normalize") else ["--normalize"]
    output = ["-o", tmp_path / "out"] if command in ("normalize", "export", "emit") else []
    result = run(command, deep, *normalizing, *output)
    assert result.exit_code == 1
    assert "graph.D14" in result.output
    assert asked.pop("scopes") == DEPTH + 1
    assert asked == dict.fromkeys(asked, 1)


def test_a_model_that_is_changed_is_looked_at_before_and_after_and_once_as_it_was_written(
    asked: Counter[str], tmp_path: Path
) -> None:
    source, target = written(tmp_path / "net.onnx", nested(3)), tmp_path / "out.onnx"
    assert run("normalize", source, "-o", target).exit_code == 0
    assert {asked[rule.identifier] for rule in GRAPH_RULES} == {3}


def test_a_model_that_conforms_is_asked_once(asked: Counter[str], tmp_path: Path) -> None:
    assert run("check", written(tmp_path / "net.onnx", two_clips())).exit_code == 0
    assert {asked[rule.identifier] for rule in GRAPH_RULES} == {1}
