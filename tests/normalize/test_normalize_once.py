"""What is asked of a model is asked once, however the commands go on from there: it may be very large."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper
from tests.report.cli_support import FLOAT, model_of, run, tensor, two_clips, written

from sonnx.check import models
from sonnx.model import graph as model
from sonnx.model import inline
from sonnx.model.graph import Graph
from sonnx.operators import GRAPH_RULES
from sonnx.vocabulary.rule import Fault, GraphRule

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


def bounded_in_a_function() -> ModelProto:
    """A call of a function, which writes the type of what its caller gives; the model conforms."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    clip = helper.make_node("Clip", ["x", "low", "high"], ["y"])
    function = helper.make_function("own", "F", ["x", "low", "high"], ["y"], [clip], opsets)
    function.value_info.append(tensor("x", FLOAT, [3]))
    call = helper.make_node("F", ["a", "l", "h"], ["b"], domain="own")
    bounds = [helper.make_tensor(name, FLOAT, [], [value]) for name, value in (("l", 0.0), ("h", 6.0))]
    model = model_of([call], [tensor("a", FLOAT, [3])], [tensor("b", FLOAT, [3])])
    model.graph.initializer.extend(bounds)
    model.opset_import.append(opsets[1])
    model.functions.append(function)
    return model


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

    monkeypatch.setattr(models, "GRAPH_RULES", tuple(map(counting, GRAPH_RULES)))
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


@pytest.mark.parametrize("command", ["check", "run", "export", "emit"])
@pytest.mark.parametrize("normalizing", [[], ["--normalize"]])
def test_functions_are_replaced_by_their_bodies_once_a_run(
    command: str, normalizing: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def counting(graph: Graph) -> inline.Flat:
        flattened.append(graph.name)
        return once(graph)

    flattened: list[str] = []
    once = inline._flattened
    monkeypatch.setattr(inline, "_flattened", counting)
    path = written(tmp_path / "net.onnx", bounded_in_a_function())
    np.save(tmp_path / "a.npy", np.zeros(3, np.float32))
    options = [f"--input=a={tmp_path / 'a.npy'}"] if command == "run" else ["-o", tmp_path / "out"]
    result = run(command, path, *(normalizing if command != "check" else []), *options)
    assert (result.exit_code, flattened) == (0, ["example"]), result.output
