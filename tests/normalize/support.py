"""Models written as text (ONNX's own notation), read and normalized."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
from numpy.typing import NDArray
from onnx import ModelProto, checker, helper, numpy_helper

from sonnx.check.models import check_graph
from sonnx.load.reader import from_proto
from sonnx.load.writer import to_bytes, to_proto
from sonnx.model.graph import Graph
from sonnx.normalize.passes import Normalized, normalize_graph

Array = NDArray[Any]
NOWHERE = Path("no folder")


def proto(graph: str, *functions: str, ir: int = 8, opset: int = 22, more: str = "") -> ModelProto:
    """A model: the graph without its heading, functions in the domain `own`, more operator sets as text."""
    own = ', "own": 1' if functions else ""
    heading = f'<ir_version: {ir}, opset_import: ["": {opset}{own}{more}]>'
    head = f'<domain: "own", opset_import: ["": {opset}, "own": 1]>'
    model: ModelProto = onnx.parser.parse_model("\n".join([heading, graph, *(head + f for f in functions)]))
    return model


def with_arrays(model: ModelProto, **arrays: Array) -> ModelProto:
    """The model with initializers of these elements."""
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    return model


def read(model: ModelProto) -> Graph:
    return from_proto(model, "net.onnx", NOWHERE)


def graph(text: str, *functions: str, **how: Any) -> Graph:
    return read(proto(text, *functions, **how))


def normalized(text: str, *functions: str, dims: dict[str, int] | None = None, **how: Any) -> Normalized:
    return normalize(graph(text, *functions, **how), dims)


def normalize(given: Graph, dims: dict[str, int] | None = None) -> Normalized:
    """Normalize a graph, and see that the laws hold that every normalizing must keep."""
    before = content(given)
    done = normalize_graph(given, dims)
    assert content(given) == before, "what is given is left as it was"
    assert done.findings == check_graph(done.graph), "what is left is what the check finds"
    again = normalize_graph(done.graph)
    assert again.changes == (), "a second time there is nothing left to change"
    assert content(again.graph) == content(done.graph)
    if not done.findings:
        saved = to_proto(done.graph)
        checker.check_model(saved, full_check=True)  # ONNX itself takes the result for a model
        assert check_graph(read(saved)) == ()
    return done


def content(graph: Graph) -> object:
    """All that a graph holds; as bytes of a file, where a file can hold it."""
    try:
        return to_bytes(graph)
    except ValueError:
        return repr(graph)


def rules(found: Normalized | Sequence[Any]) -> list[str]:
    """The identifiers of what is still broken."""
    findings = found.findings if isinstance(found, Normalized) else found
    return [finding.rule for finding in findings]


def changes(done: Normalized) -> list[tuple[str, str]]:
    """Every change: where, in short, and what was done."""
    return [(where(change.location), change.what) for change in done.changes]


def where(location: Any) -> str:
    """A place in short: `1 Conv`, `0 Call > 2 Clip`, `output y`, or nothing for the model."""
    parts = []
    for part in location.path:
        if part.kind == "node":
            parts.append(f"{part.index} {part.operator}")
        elif part.kind != "model":
            parts.append(f"{part.kind} {part.name}")
    return " > ".join(parts)


def types(found: Graph | Normalized) -> dict[str, str]:
    """The types of all tensors, as text."""
    graph = found.graph if isinstance(found, Normalized) else found
    return {name: str(kind) for name, kind in graph.types.items()}


def expanding(done: Normalized) -> dict[str, list[int]]:
    """What each Expand takes, and the shape to which it brings that."""
    data = done.graph.data
    expands = [node for node in done.graph.nodes if node.operator == "Expand"]
    return {node.inputs[0]: data[node.inputs[1]].tolist() for node in expands}


def tensor(name: str, array: Array) -> Any:
    return numpy_helper.from_array(array, name)


def attribute(name: str, value: Any) -> Any:
    return helper.make_attribute(name, value)


def float32(values: Any) -> Array:
    return np.array(values, np.float32)
