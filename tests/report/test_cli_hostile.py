"""Whatever a model, a file or a user is called, no terminal is made to obey it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.report.cli_support import FORMATS, HOSTILE, conv_model, run, saved, shown_raw, two_clips, written


def hostile_models() -> dict[str, onnx.ModelProto]:
    """Models with an escape sequence in one place each."""
    models = {"node": two_clips(first=HOSTILE), "output": two_clips(output=HOSTILE)}
    models["size"] = two_clips(size=HOSTILE)
    changed: dict[str, Any] = {
        "operator": lambda m: setattr(m.graph.node[0], "op_type", HOSTILE),
        "domain": lambda m: setattr(m.graph.node[0], "domain", HOSTILE),
        "operator set": lambda m: m.opset_import.add(domain=HOSTILE, version=1),
        "undefined input": lambda m: m.graph.node[0].input.__setitem__(0, HOSTILE),
        "initializer": lambda m: setattr(m.graph.initializer[0], "name", HOSTILE),
        "attribute": lambda m: m.graph.node[0].attribute.append(helper.make_attribute(HOSTILE, 1)),
        "attribute's text": lambda m: m.graph.node[0].attribute.append(helper.make_attribute("a", HOSTILE)),
        "graph": lambda m: setattr(m.graph, "name", HOSTILE),
        "documentation": lambda m: setattr(m.graph, "doc_string", HOSTILE),
        "metadata": lambda m: m.metadata_props.add(key=HOSTILE, value=HOSTILE),
        "producer": lambda m: setattr(m, "producer_name", HOSTILE),
        "denotation": lambda m: setattr(
            m.graph.input[0].type.tensor_type.shape.dim[0], "denotation", HOSTILE
        ),
        "external data": _external,
        "function": lambda m: m.functions.append(
            helper.make_function(
                HOSTILE,
                HOSTILE,
                [HOSTILE],
                ["b"],
                [helper.make_node(HOSTILE, [HOSTILE], ["b"], name=HOSTILE)],
                [helper.make_opsetid("", 21)],
            )
        ),
    }
    for name, change in changed.items():
        models[name] = two_clips()
        change(models[name])
    return models


def _external(model: onnx.ModelProto) -> None:
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=HOSTILE)


@pytest.mark.parametrize("place", hostile_models())
def test_no_name_of_a_model_reaches_the_terminal_raw(tmp_path: Path, place: str) -> None:
    path = written(tmp_path / "a.onnx", hostile_models()[place])
    image = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    commands: list[list[object]] = [["check", path, "--format", form] for form in FORMATS]
    commands += [["check", path, "--brief"]]
    commands += [["normalize", path, "-o", tmp_path / "out.onnx", *brief] for brief in ([], ["--brief"])]
    commands += [["normalize", path, "-o", tmp_path / "out.onnx", "--dim", f"{HOSTILE}=2"]]
    commands += [["run", path, "--input", f"x={image}", "--trace"]]
    commands += [["run", path, "--normalize", "--input", f"{HOSTILE}={image}"]]
    for command in commands:
        result = run(*command, color=True)
        assert shown_raw(result.output) == [], command
        assert "\nforged" not in result.output
        assert result.exit_code in (0, 1, 2)


@pytest.mark.parametrize("form", ["json", "sarif"])
@pytest.mark.parametrize("place", hostile_models())
def test_reports_for_programs_are_ascii_and_can_be_read(tmp_path: Path, place: str, form: str) -> None:
    path = written(tmp_path / "a.onnx", hostile_models()[place])
    report = tmp_path / "report"
    run("check", path, "--format", form, "-o", report)
    content = report.read_bytes()
    assert all(byte == 10 or 32 <= byte < 127 for byte in content)
    assert json.loads(content)


def test_the_name_of_a_file_is_not_printed_raw_either(tmp_path: Path) -> None:
    name = "a\x1b[31m\n\u202e.onnx"
    path = written(tmp_path / name, two_clips())
    bare = written(tmp_path / f"bare{name}", conv_model(bare=True))
    image = saved(tmp_path / f"{name}.npy", np.zeros(3, np.float32))
    right = saved(tmp_path / "right.npy", np.zeros(2, np.float32))
    for command in (
        ["check", path],
        ["check", bare],
        ["check", bare, "-o", tmp_path / f"report{name}"],
        ["check", path, "-o", tmp_path / name / "report"],
        ["check", tmp_path / f"missing{name}"],
        ["check", path, "-o", path],
        ["normalize", bare, "-o", tmp_path / f"out{name}"],
        ["normalize", bare, "-o", bare],
        ["normalize", bare, "-o", tmp_path / name / "out"],
        ["run", path, "--input", f"x={image}"],
        ["run", path, "--input", f"{name}={image}"],
        ["run", path, "--input", f"x={image}{name}"],
        ["run", bare, "--input", f"x={image}"],
        ["run", path, "--input", f"x={right}", "--output-dir", tmp_path / f"d{name}"],
    ):
        result = run(*command, color=True)
        assert "a\\x1b[31m\\n\\u202e" in result.output, command
        assert shown_raw(result.output) == [], command


@pytest.mark.parametrize(
    "arguments",
    [
        ["\x1b[31m"],
        ["--\x1b[31m"],
        ["check"],
        ["check", "a", "--\x1b[31m"],
        ["check", "a", "--format", "\x1b[31m"],
        ["rules", "Clip", "b\x1b[31m"],
        ["check", "a", "--memory", "\x1b[31m"],
        ["normalize", "a", "-o", "b", "--dim", "\x1b[31m"],
        ["normalize", "a", "-o", "b", "--dim", "\x1b[31m=x"],
        ["run", "a", "--input", "\x1b[31m"],
        ["run", "a", "--seed", "\x1b[31m"],
        ["rules", "\x1b[31m"],
        ["explain", "\x1b[31m"],
    ],
)
def test_what_was_mistyped_is_repeated_without_escapes(arguments: list[str]) -> None:
    result = run(*arguments, color=True)
    assert result.exit_code == 2
    assert result.output.startswith("Usage: ")
    assert shown_raw(result.output) == []
