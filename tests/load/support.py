"""What the tests of loading share: files made by onnx's own helpers, and graphs in a form that compares."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, defs, helper, numpy_helper
from tests.operators.support import bits

from sonnx.check.models import check_graph
from sonnx.load.reader import from_bytes, load
from sonnx.model.graph import Graph
from sonnx.report.text import findings_text

NEWEST = defs.onnx_opset_version()
OPSETS = range(13, NEWEST + 1)
# What a graph tells of where it came from, which is not what it says.
_ABOUT_THE_FILE = {"source", "origin", "file_sha256", "file_size", "external_files"}


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    low, rest = number & 127, number >> 7
    return bytes([low]) if not rest else bytes([low | 128]) + varint(rest)


def part(field: int, content: bytes) -> bytes:
    """A length-delimited field as protobuf writes it."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def value(
    name: str, shape: Sequence[int | str | None] | None = (2, 3), dtype: int = TensorProto.FLOAT
) -> Any:
    """A typed tensor of the model's interface."""
    return helper.make_tensor_value_info(name, dtype, shape)


def scalar(name: str, number: float) -> TensorProto:
    """A float of empty shape."""
    return numpy_helper.from_array(np.array(number, np.float32), name)


def clip(inputs: str = "x lo hi", outputs: str = "y", **more: Any) -> NodeProto:
    """A Clip node; names in one text, separated by blanks."""
    return helper.make_node("Clip", inputs.split(), outputs.split(), **more)


def model(
    nodes: Sequence[NodeProto] | None = None,
    inputs: Sequence[ValueInfoProto] | None = None,
    outputs: Sequence[ValueInfoProto] | None = None,
    initializers: Sequence[TensorProto] = (),
    opset: int = 22,
    **more: Any,
) -> ModelProto:
    """A model that conforms, unless something else is asked for: y = Clip(x, 0, 6)."""
    graph = helper.make_graph(
        [clip()] if nodes is None else list(nodes),
        "net",
        [value("x")] if inputs is None else list(inputs),
        [value("y")] if outputs is None else list(outputs),
        [scalar("lo", 0.0), scalar("hi", 6.0), *initializers],
    )
    imports = more.pop("opset_imports", [helper.make_opsetid("", opset)])
    return helper.make_model(graph, opset_imports=imports, ir_version=more.pop("ir_version", 8), **more)


def read(made: ModelProto, folder: Path = Path("/nowhere")) -> Graph:
    """The graph of a model, through its bytes."""
    return from_bytes(made.SerializeToString(), "net.onnx", folder)


def read_file(made: ModelProto, folder: Path) -> Graph:
    """The graph of a model, through a file."""
    (folder / "net.onnx").write_bytes(made.SerializeToString())
    return load(folder / "net.onnx")


def found(graph: Graph) -> list[str]:
    """The rules that a graph breaks; their report is made too, and must be fit for a terminal."""
    findings = check_graph(graph)
    text = findings_text(findings)
    assert all(line.isprintable() for line in text.split("\n"))
    return [finding.rule for finding in findings]


def form(thing: Any) -> Any:
    """Everything a graph says, as plain values: arrays by their bits, the file it came from left out."""
    if isinstance(thing, np.ndarray):
        return bits(thing)
    if is_dataclass(thing):
        names = [field.name for field in fields(thing) if field.name not in _ABOUT_THE_FILE]
        return type(thing).__name__, *((name, form(getattr(thing, name))) for name in names)
    if isinstance(thing, Mapping):
        return [(key, form(held)) for key, held in thing.items()]
    if isinstance(thing, tuple):
        return [form(held) for held in thing]
    return type(thing).__name__, repr(thing)
