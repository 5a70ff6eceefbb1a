"""Open sizes of a model replaced by numbers."""

from collections.abc import Mapping
from dataclasses import replace

from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import Size, TensorType
from sonnx.normalize.changes import Change
from sonnx.operators.shared.predicates import LONGEST_TEXT, written

_MOST_SHOWN = 20


def open_sizes(graph: Graph) -> list[str]:
    """The names of open sizes of the inputs: their own, or `input[axis]` where they have none."""
    return list(_open_sizes(graph))


def _open_sizes(graph: Graph) -> dict[str, set[bool]]:
    """The same, and whether it is the model's own name for the size, or ours, or both."""
    names: dict[str, set[bool]] = {}
    for value in graph.inputs:
        for axis, size in enumerate(value.type.shape or ()):
            if not isinstance(size, int):
                names.setdefault(_name(value.name, axis, size), set()).add(isinstance(size, str))
    return names


def _name(tensor: str, axis: int, size: Size) -> str:
    return size if isinstance(size, str) else f"{tensor}[{axis}]"


def fix_sizes(graph: Graph, dims: Mapping[str, int]) -> tuple[Graph, list[Change]]:
    """Write the given numbers for open sizes; raises ValueError for a name or number that cannot be meant."""
    known = _open_sizes(graph) if dims else {}
    for name, size in dims.items():
        if name not in known:
            raise ValueError(f"no open size is called {written(name)}; there are: {_shown(list(known))}")
        if len(known[name]) > 1:
            raise ValueError(f"{written(name)} is a size that the model calls so, and an unnamed one as well")
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**31:
            raise ValueError(
                f"the size of {written(name)} must be an integer from 0 up and below 2^31, not {size!r}"
            )
    changes = [
        Change(graph.location, f"fixed the size {_shown([name])} = {size}", "given by you", "general.R2")
        for name, size in dims.items()
    ]

    if not changes:
        return graph, []
    own = {name: size for name, size in dims.items() if True in known[name]}
    ours = {name: size for name, size in dims.items() if name not in own}

    def fixed(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(replace(value, type=_fixed(value, own, ours)) for value in values)

    inputs, values, outputs = map(fixed, (graph.inputs, graph.values, graph.outputs))
    return replace(graph, inputs=inputs, values=values, outputs=outputs), changes


def _shown(names: list[str]) -> str:
    """Names for a message, some of them; unprintable ones as escapes."""
    few = [
        name if name.isprintable() and len(name) <= LONGEST_TEXT else written(name)
        for name in names[:_MOST_SHOWN]
    ]
    return ", ".join([*few, "..."] if len(names) > _MOST_SHOWN else few) or "none"


def _fixed(value: Value, own: Mapping[str, int], ours: Mapping[str, int]) -> TensorType:
    if value.type.shape is None:
        return value.type
    sizes: list[Size] = []
    for axis, size in enumerate(value.type.shape):
        if isinstance(size, str):
            sizes.append(own.get(size, size))
        else:
            sizes.append(ours.get(_name(value.name, axis, size)) if size is None else size)
    return replace(value.type, shape=tuple(sizes))
