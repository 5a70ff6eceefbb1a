"""Whatever a model, a file or a user is called, no terminal is made to obey it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.report.cli_support import (
    FLOAT,
    FORMATS,
    HOSTILE,
    conv_model,
    model_of,
    run,
    saved,
    shown_raw,
    tensor,
    two_clips,
    written,
)


def hostile_models(text: str = HOSTILE) -> dict[str, onnx.ModelProto]:
    """Models with an escape sequence, or another text, in one place each."""
    models = {"node": two_clips(first=text), "output": two_clips(output=text)}
    models["size"] = two_clips(size=text)
    changed: dict[str, Any] = {
        "operator": lambda m: setattr(m.graph.node[0], "op_type", text),
        "domain": lambda m: setattr(m.graph.node[0], "domain", text),
        "operator set": lambda m: m.opset_import.add(domain=text, version=1),
        "undefined input": lambda m: m.graph.node[0].input.__setitem__(0, text),
        "initializer": lambda m: setattr(m.graph.initializer[0], "name", text),
        "attribute": lambda m: m.graph.node[0].attribute.append(helper.make_attribute(text, 1)),
        "attribute's text": lambda m: m.graph.node[0].attribute.append(helper.make_attribute("a", text)),
        "graph": lambda m: setattr(m.graph, "name", text),
        "documentation": lambda m: setattr(m.graph, "doc_string", text),
        "metadata": lambda m: m.metadata_props.add(key=text, value=text),
        "producer": lambda m: setattr(m, "producer_name", text),
        "denotation": lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "denotation", text),
        "external data": lambda m: _external(m, text),
        "function": lambda m: m.functions.append(
            helper.make_function(
                text,
                text,
                [text],
                ["b"],
                [helper.make_node(text, [text], ["b"], name=text)],
                [helper.make_opsetid("", 21)],
            )
        ),
    }
    for name, change in changed.items():
        models[name] = two_clips()
        change(models[name])
    return models


def _external(model: onnx.ModelProto, text: str) -> None:
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=text)


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


# Every name is shorter in a message; a line holds a few of them.
LONG, LONGEST_LINE = "n" * 100_000, 3000


def long_models() -> dict[str, onnx.ModelProto]:
    """Models with a long name in one place each; the last of them with it in all that conform or can."""
    models = hostile_models(LONG)
    clip = helper.make_node("Clip", [f"x{LONG}", "low", "high"], [f"t{LONG}"], name=f"c{LONG}")
    call = helper.make_node(f"F{LONG}", [f"t{LONG}"], [f"y{LONG}"], name=f"f{LONG}", domain=f"d{LONG}")
    ends = [tensor(f"x{LONG}", FLOAT, [f"s{LONG}"])], [tensor(f"y{LONG}", FLOAT, [2])]
    bounds = {"low": np.float32(0), "high": np.float32(1), f"i{LONG}": np.float32(1)}
    calling = model_of([clip, call], *ends, {name: np.array(value) for name, value in bounds.items()})
    calling.opset_import.add(domain=f"d{LONG}", version=1)
    constant = helper.make_node("Constant", [], [f"k{LONG}"], value_float=0.0)
    body = [constant, helper.make_node("Clip", ["a", f"k{LONG}"], ["b"], name=f"b{LONG}")]
    sets = [helper.make_opsetid("", 21)]
    calling.functions.append(helper.make_function(f"d{LONG}", f"F{LONG}", ["a"], ["b"], body, sets))
    return {**models, "everywhere": calling, "nowhere": two_clips()}


def test_no_name_of_a_model_fills_the_terminal(tmp_path: Path) -> None:
    image = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    other = saved(tmp_path / "other.npy", np.zeros(3, np.float32))
    complaints, codes = [], set()
    for place, model in long_models().items():
        path = written(tmp_path / "a.onnx", model)
        name = f"x{LONG}" if place == "everywhere" else "x"
        size = f"s{LONG}=2" if place == "everywhere" else f"{LONG}=2"
        sized = ["--normalize", "--dim", size] if place in ("everywhere", "size") else ["--normalize"]
        out = tmp_path / place
        commands: list[list[object]] = [
            ["check", path],
            ["check", path, "--brief"],
            ["normalize", path, "-o", f"{out}.onnx"],
            ["normalize", path, "-o", f"{out}.onnx", "--brief", *sized[1:]],
            ["normalize", path, "-o", f"{out}.onnx", *sized[1:]],
            ["normalize", path, "-o", f"{out}.onnx", "--dim", f"{LONG}no=2"],
            ["export", path, "-o", f"{out}.mlir", *sized],
            ["emit", path, "-o", f"{out}.c", *sized],
            ["emit", path, "-o", f"{out}.fast", "--kernels", "fast", *sized],
            ["run", path, *sized],
            ["run", path, *sized, "--input", f"{name}={image}"],
            ["run", path, *sized, "--input", f"{name}={image}", "--trace", "--output-dir", f"{out}.d"],
            ["run", path, *sized, "--input", f"{name}={image}", "--domain", "real"],
            ["run", path, *sized, "--input", f"{name}={image}", "--memory", 1e-9],
            ["run", path, *sized, "--input", f"{name}={other}"],
            ["run", path, *sized, "--input", f"{LONG}no={image}"],
            ["run", path, *sized, "--input", f"{name}={image}", "--input", f"{name}={image}"],
            ["run", path, *sized, "--input", f"{name}={tmp_path / 'missing.npy'}"],
        ]
        for command in commands:
            result = run(*command)
            codes.add((place, result.exit_code))
            longest = max(map(len, result.output.splitlines()), default=0)
            if longest > LONGEST_LINE:
                short = " ".join(str(part).replace(LONG, "LONG") for part in command)
                complaints.append(f"{place}: {short}: a line of {longest} characters")
    assert complaints == []
    assert {("everywhere", 0), ("everywhere", 2), ("nowhere", 0)} <= codes


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
