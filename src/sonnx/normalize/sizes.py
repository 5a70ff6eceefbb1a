"""Open sizes of a model replaced by numbers."""

from collections.abc import Mapping
from dataclasses import replace

from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import Size, TensorType
from sonnx.normalize.changes import Change


def open_sizes(graph: Graph) -> list[str]:
    """The names of open sizes of the inputs: their own, or `input[axis]` where they have none."""
    names = [
        _name(value.name, axis, size)
        for value in graph.inputs
        for axis, size in enumerate(value.type.shape or ())
        if not isinstance(size, int)
    ]
    return list(dict.fromkeys(names))


def _name(tensor: str, axis: int, size: Size) -> str:
    return size if isinstance(size, str) else f"{tensor}[{axis}]"


def fix_sizes(graph: Graph, dims: Mapping[str, int]) -> tuple[Graph, list[Change]]:
    """Write the given numbers for open sizes; raises ValueError for a name or number that cannot be meant."""
    known = open_sizes(graph)
    for name, size in dims.items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise ValueError(f"no open size is called {name!r}; there are: {there}")
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**31:
            raise ValueError(
                f"the size of {name!r} must be an integer from 0 up and below 2^31, not {size!r}"
            )
    changes = [
        Change(graph.location, f"fixed the size {name} = {size}", "given by you", "general.R2")
        for name, size in dims.items()
    ]

    def fixed(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(replace(value, type=_fixed(value, dims)) for value in values)

    if not changes:
        return graph, []
    inputs, values, outputs = map(fixed, (graph.inputs, graph.values, graph.outputs))
    return replace(graph, inputs=inputs, values=values, outputs=outputs), changes


def _fixed(value: Value, dims: Mapping[str, int]) -> TensorType:
    shape = value.type.shape
    if shape is None:
        return value.type
    sizes = [
        size if isinstance(size, int) else dims.get(_name(value.name, axis, size), size)
        for axis, size in enumerate(shape)
    ]
    return replace(value.type, shape=tuple(sizes))
