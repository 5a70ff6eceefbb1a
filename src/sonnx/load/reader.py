"""ONNX file → Graph."""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import IR_VERSION, GraphProto, ModelProto, NodeProto

from sonnx.load.files import open_plain
from sonnx.load.limits import GIB, Budget, Limits, LoadError
from sonnx.load.nodes import NodeReader, opsets_of
from sonnx.load.strings import pairs_of, path_text, text_of
from sonnx.load.tensors import constant_of, sparse_of
from sonnx.load.types import value_of
from sonnx.load.wire import has_more_fields, table_of
from sonnx.model.graph import Graph, Provenance

# The parts of a file that say something about how a model computes and that the profile does not have.
_FOREIGN_PARTS = ("training_info", "configuration")
_LARGEST_FILE = 2 * GIB
# In so small a file no number of fields takes much memory.
_UNCOUNTED = 2**20
_AGAIN = "export the model again"


def load(path: str | Path, limits: Limits | None = None) -> Graph:
    """Read an ONNX file; whatever is wrong with the model itself is left for the check to find.

    Raises LoadError where the file holds no model at all.
    """
    content = _content(path)
    digest, size = sha256(content).hexdigest(), len(content)
    model = _parsed(content, str(path), limits or Limits())
    # The bytes need not stay in memory beside what was made of them.
    del content
    graph = from_proto(model, str(path), Path(path).parent, limits)
    return replace(graph, file_sha256=digest, file_size=size)


def _content(path: str | Path) -> bytes:
    try:
        file, size = open_plain(Path(path))
        with file:
            if size > _LARGEST_FILE:
                problem = f"{size} bytes are more than protobuf can hold"
                raise _error(path, problem, "let the tensors lie in a file of their own (external data)")
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise _error(path, "no such file", "give the path of an ONNX file") from None
    except IsADirectoryError:
        raise _error(path, "a folder, not a file", "give the path of an ONNX file") from None
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}", "give a file that can be read") from None
    except ValueError as error:
        if isinstance(error, LoadError):
            raise
        # A path with a NUL, or with characters that the file system's encoding lacks.
        raise _error(path, "no such file", "give the path of an ONNX file") from None


def from_bytes(content: bytes, source: str, folder: Path, limits: Limits | None = None) -> Graph:
    """Read the bytes of an ONNX file; external data is looked for in `folder`."""
    return from_proto(_parsed(content, source, limits or Limits()), source, folder, limits)


def _parsed(content: bytes, source: str, limits: Limits) -> ModelProto:
    if not content:
        raise _error(source, "not an ONNX file: it is empty", _AGAIN)
    if len(content) > _UNCOUNTED and has_more_fields(content, table_of(ModelProto.DESCRIPTOR), limits.fields):
        raise _error(source, f"it has more entries than the limit of {limits.fields}", "split the model")
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, RuntimeError, ValueError):
        problem = "not an ONNX file: its bytes are no protobuf message"
        raise _error(source, problem, _AGAIN) from None
    return model


def from_proto(model: ModelProto, source: str, folder: Path, limits: Limits | None = None) -> Graph:
    """Read a model that has been parsed already."""
    limits = limits or Limits()
    if not model.HasField("graph"):
        raise _error(source, "not an ONNX model: it holds no graph", _AGAIN)
    _count(model, source, limits)
    graph, budget = model.graph, Budget(limits)
    reader = NodeReader(folder, budget)
    opsets = opsets_of(model.opset_import)
    return Graph(
        text_of(graph.name),
        tuple(map(value_of, graph.input)),
        tuple(map(value_of, graph.output)),
        reader.nodes(graph.node, opsets),
        (
            *(constant_of(tensor, folder, budget) for tensor in graph.initializer),
            *map(sparse_of, graph.sparse_initializer),
        ),
        tuple(map(value_of, graph.value_info)),
        tuple(map(reader.function, model.functions)),
        opsets,
        int(model.ir_version),
        source,
        tuple(_extras(model, graph)),
        pairs_of(model.metadata_props),
        text_of(graph.doc_string),
        pairs_of(graph.metadata_props),
        Provenance(
            text_of(model.producer_name),
            text_of(model.producer_version),
            text_of(model.domain),
            int(model.model_version),
            text_of(model.doc_string),
        ),
        external_files=tuple(sorted(budget.external)),
    )


def _count(model: ModelProto, source: str, limits: Limits) -> None:
    """Refuse a model of more parts than could be judged in reasonable time and memory."""
    graph, functions = model.graph, model.functions
    lists = [graph.input, graph.output, graph.value_info, graph.initializer, graph.sparse_initializer]
    for function in functions:
        lists += [function.input, function.output, function.value_info]
    nodes = len(graph.node) + sum(len(function.node) for function in functions)
    for number, most, what in (
        (len(functions), limits.functions, "functions"),
        (nodes, limits.nodes, "nodes"),
        (sum(map(len, lists)), limits.tensors, "tensors"),
    ):
        if number > most:
            raise _error(source, f"it has {number} {what}; the limit is {most}", "split the model")


def _extras(model: ModelProto, graph: GraphProto) -> Iterable[str]:
    """Parts that change how the model computes, or may do so."""
    yield from (part for part in _FOREIGN_PARTS if len(getattr(model, part, ())))
    if len(graph.quantization_annotation):
        yield "quantization_annotation"
    if any(map(_has_devices, graph.node)) or any(
        _has_devices(node) for function in model.functions for node in function.node
    ):
        yield "device_configurations"
    if model.ir_version > IR_VERSION:
        yield f"ir_version {model.ir_version}: newer than {IR_VERSION}, so it may hold what nobody here knows"


def _has_devices(node: NodeProto) -> bool:
    return len(getattr(node, "device_configurations", ())) > 0


def _error(source: str | Path, problem: str, advice: str) -> LoadError:
    return LoadError(f"{path_text(source)}: {problem}; {advice}")
