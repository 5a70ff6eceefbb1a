"""ONNX file → Graph."""

from dataclasses import replace
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto

from sonnx.load.limits import GIB, LoadError, Limits
from sonnx.load.nodes import NodeReader, opsets_of
from sonnx.load.tensors import constant_of, sparse_of
from sonnx.load.text import text_of
from sonnx.load.types import value_of
from sonnx.model.graph import Graph

# The parts of a file that say something about how a model computes and that the profile does not have.
_FOREIGN_PARTS = ("training_info", "configuration")
_LARGEST_FILE = 2 * GIB


def load(path: str | Path, limits: Limits | None = None) -> Graph:
    """Read an ONNX file; whatever is wrong with the model itself is left for the check to find.

    Raises LoadError where the file holds no model at all.
    """
    file = Path(path)
    try:
        if not file.is_file():
            problem = "a folder, not a file" if file.is_dir() else "no such file"
            raise LoadError(_message(path, problem, "give the path of an ONNX file"))
        size = file.stat().st_size
        if size > _LARGEST_FILE:
            raise LoadError(
                _message(path, f"{size} bytes are more than protobuf can hold", "use external data")
            )
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, LoadError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise LoadError(_message(path, f"cannot be read: {reason}", "look at the path")) from None
    return replace(from_bytes(content, str(path), file.parent, limits), source=str(path))


def from_bytes(content: bytes, source: str, folder: Path, limits: Limits | None = None) -> Graph:
    """Read the bytes of an ONNX file; external data is looked for in `folder`."""
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, RuntimeError, ValueError):
        raise LoadError(
            _message(source, "not an ONNX file: its bytes are no protobuf message", "export the model again")
        ) from None
    return from_proto(model, source, folder, limits)


def from_proto(model: ModelProto, source: str, folder: Path, limits: Limits | None = None) -> Graph:
    """Read a model that has been parsed already."""
    limits = limits or Limits()
    if not model.HasField("graph"):
        raise LoadError(_message(source, "not an ONNX model: it holds no graph", "export the model again"))
    graph = model.graph
    number = len(graph.node) + sum(len(function.node) for function in model.functions)
    if number > limits.nodes:
        raise LoadError(
            _message(source, f"{number} nodes are more than the limit of {limits.nodes}", "split the model")
        )
    reader = NodeReader(folder, limits)
    opsets = opsets_of(model.opset_import)
    return Graph(
        text_of(graph.name),
        tuple(map(value_of, graph.input)),
        tuple(map(value_of, graph.output)),
        reader.nodes(graph.node, opsets),
        (
            *(constant_of(tensor, folder, limits) for tensor in graph.initializer),
            *map(sparse_of, graph.sparse_initializer),
        ),
        tuple(map(value_of, graph.value_info)),
        tuple(map(reader.function, model.functions)),
        opsets,
        int(model.ir_version),
        source,
        tuple(_extras(model, graph)),
        tuple((text_of(entry.key), text_of(entry.value)) for entry in model.metadata_props),
        text_of(graph.doc_string),
    )


def _extras(model: ModelProto, graph: GraphProto) -> list[str]:
    found = [part for part in _FOREIGN_PARTS if len(getattr(model, part, ()))]
    return found + (["quantization_annotation"] if len(graph.quantization_annotation) else [])


def _message(source: str | Path, problem: str, advice: str) -> str:
    return f"{source}: {problem}; {advice}"
