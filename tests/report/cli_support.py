"""Models and arrays as files, and the command run on them."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from sonnx.cli import main

FLOAT, BOOL, STRING, BFLOAT16 = (
    TensorProto.FLOAT,
    TensorProto.BOOL,
    TensorProto.STRING,
    TensorProto.BFLOAT16,
)

FORMATS = ("text", "json", "sarif")

# Title of the window, colour, both directions overridden, the one-byte form of the escape, and new lines.
HOSTILE = "\x1b]0;x\x07\x1b[31mred\u202e\x9b1m\r\nforged\u2028line\x00"


def run(*arguments: object, color: bool = False) -> Result:
    """Run the command in this process; a traceback fails the test."""
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False, color=color)


def program(
    *arguments: object, env: Mapping[str, str] | None = None, **how: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "sonnx", *map(str, arguments)]
    how = {"capture_output": True, **how} if "stdout" not in how else how
    return subprocess.run(command, env={**os.environ, **(env or {})}, check=False, timeout=120, **how)


def shown_raw(text: str) -> list[str]:
    """The characters of an output that a terminal could obey; lines end with a plain new line."""
    return [character for character in text if not character.isprintable() and character != "\n"]


def tensor(name: str, kind: int, shape: Sequence[Any]) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Mapping[str, Any] | None = None,
    **more: Any,
) -> ModelProto:
    constants = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "example", list(inputs), list(outputs), constants, **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)


def written(path: Path, model: ModelProto) -> Path:
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def saved(path: Path, array: Any) -> Path:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
    return path


def where_model(kind: int = FLOAT, shape: Sequence[int] = (2, 3)) -> ModelProto:
    """One Where that conforms, with inputs c, x and y and output z."""
    inputs = [tensor("c", BOOL, shape), tensor("x", kind, shape), tensor("y", kind, shape)]
    node = helper.make_node("Where", ["c", "x", "y"], ["z"], name="choose")
    return model_of([node], inputs, [tensor("z", kind, shape)])


def two_clips(first: str = "clip", output: str = "y", size: Any = 2) -> ModelProto:
    """Two Clips one after the other; conforms as long as names and size do."""
    bounds = {
        "low": np.array(0, np.float32),
        "high": np.array(6, np.float32),
        "one": np.array(1, np.float32),
    }
    nodes = [
        helper.make_node("Clip", ["x", "low", "high"], ["t"], name=first),
        helper.make_node("Clip", ["t", "low", "one"], [output], name="last"),
    ]
    ends = [tensor("x", FLOAT, [size])], [tensor(output, FLOAT, [size])]
    return model_of(nodes, *ends, bounds, value_info=[tensor("t", FLOAT, [size])])


def conv_model(bare: bool = False, W: tuple[float, float] = (1 / 3, 3), B: float = 1 / 7) -> ModelProto:
    """A Conv over two columns: W[0] x[0] + W[1] x[1] + B in floats; bare, it leaves all to defaults."""
    weights = {"W": np.array([[[W]]], np.float32), "B": np.array([B], np.float32)}
    attributes: dict[str, Any] = {
        "strides": [1, 1],
        "pads": [0, 0, 0, 0],
        "dilations": [1, 1],
        "group": 1,
        "kernel_shape": [1, 2],
        "auto_pad": "NOTSET",
    }
    node = helper.make_node("Conv", ["x", "W", "B"], ["y"], name="conv", **({} if bare else attributes))
    return model_of([node], [tensor("x", FLOAT, [1, 1, 1, 2])], [tensor("y", FLOAT, [1, 1, 1, 1])], weights)


def columns(*values: float) -> Any:
    """What such a Conv takes."""
    return np.array([[[values]]], np.float32)
