"""Open sizes of a model replaced by numbers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import Size, TensorType
from sonnx.normalize.changes import Change
from sonnx.operators.graph.structure import no_axes
from sonnx.operators.rules.wording import LONGEST_TEXT, written

_MOST_SHOWN = 20
_ONE_AXIS = re.compile(r"(?P<tensor>.*)\[(?P<axis>[^\[\]]*)\]", re.DOTALL)
# No tensor has as many axes that more digits were needed.
_LONGEST_AXIS = 4

# An input's name and the number of one of its axes.
Axis = tuple[str, int]


def open_sizes(graph: Graph) -> list[str]:
    """The names of open sizes of the inputs: their own, or `input[axis]` where they have none."""
    return list(dict.fromkeys(_name(axis, size) for axis, size in _open_axes(graph)))


def repeated_sizes(graph: Graph) -> list[str]:
    """Axes, as `input[axis]`, whose name another axis of the same input has: it may mean nothing."""
    found: dict[tuple[str, str], list[str]] = {}
    for axis, size in _open_axes(graph):
        if isinstance(size, str):
            found.setdefault((axis[0], size), []).append(_axis_name(axis))
    return [name for names in found.values() if len(names) > 1 for name in names]


def _open_axes(graph: Graph) -> Iterator[tuple[Axis, Size]]:
    for value in graph.inputs:
        for axis, size in enumerate(value.type.shape or ()):
            if not isinstance(size, int):
                yield (value.name, axis), size


def _name(axis: Axis, size: Size) -> str:
    return size if isinstance(size, str) else _axis_name(axis)


def _axis_name(axis: Axis) -> str:
    return f"{axis[0]}[{axis[1]}]"


@dataclass
class _Given:
    """The numbers that somebody gives: for all axes of one name, and for single axes of inputs."""

    named: dict[str, int]
    single: dict[Axis, int]
    # Names of which not every axis has one and the same number: what they mean elsewhere is then open.
    divided: frozenset[str] = frozenset()


def fix_sizes(graph: Graph, dims: Mapping[str, int]) -> tuple[Graph, list[Change]]:
    """Write the given numbers for open sizes; raises ValueError for a name or number that cannot be meant.

    What is given for a name holds wherever the model writes the name; `input[axis]` means that axis alone,
    whether it has a name or not.
    """
    if not dims:
        return graph, []
    given, changes = _read(graph, dims)

    def fixed(values: tuple[Value, ...], inputs: bool) -> tuple[Value, ...]:
        return tuple(replace(value, type=_fixed(value, given, inputs)) for value in values)

    return (
        replace(
            graph,
            inputs=fixed(graph.inputs, True),
            values=fixed(graph.values, False),
            outputs=fixed(graph.outputs, False),
        ),
        changes,
    )


def _read(graph: Graph, dims: Mapping[str, int]) -> tuple[_Given, list[Change]]:
    """What the given numbers are for, and each as a change."""
    axes = dict(_open_axes(graph))
    names = {size for size in axes.values() if size is not None}
    given = _Given({}, {})
    changes = []
    for name, size in dims.items():
        axis = _meant(graph, name, names, axes)
        _require_size(name, size)
        note = ""
        if axis is None:
            given.named[name] = size
        elif axis not in axes:
            _require_same(graph, axis, size)
            continue
        elif given.single.setdefault(axis, size) != size:
            raise ValueError(f"{written(_axis_name(axis))} is given as {given.single[axis]} and as {size}")
        else:
            called = axes[axis]
            note = f", which the model calls {_cut(called)}" if isinstance(called, str) else ""
        changes.append(_change(graph, f"fixed the size {_cut(name)} = {size}{note}"))
    divided = _divided(given, axes)
    changes += [
        _change(graph, f"dropped the name {_cut(name)}, whose axes differ, at other tensors")
        for name in divided
    ]
    given.divided = frozenset(divided)
    return given, changes


def _change(graph: Graph, what: str) -> Change:
    return Change(graph.location, what, "given by you", "general.R2")


def _require_size(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**31:
        said = f"the size of {written(name)} must be an integer from 0 up and below 2^31, not {size!r}"
        raise ValueError(said)


def _meant(graph: Graph, name: str, names: set[str | int], axes: Mapping[Axis, Size]) -> Axis | None:
    """The axis that is meant; None where it is a size that the model calls so."""
    match = _ONE_AXIS.fullmatch(name) if isinstance(name, str) else None
    inputs: dict[str, TensorType] = {}
    for value in graph.inputs:
        inputs.setdefault(value.name, value.type)
    if name in names:
        digits = match["axis"] if match else ""
        axis = (match["tensor"], int(digits)) if match and _is_number(digits) else None
        if axis is not None and axes.get(axis, name) != name:
            said = "is a size that the model calls so, and an axis of an input as well"
            raise ValueError(f"{written(name)} {said}")
        return None
    if match is None or (match["tensor"] not in inputs and not _is_number(match["axis"])):
        open_ones = open_sizes(graph)
        known = f"there are: {_shown(open_ones)}" if open_ones else "the model has none"
        raise ValueError(f"no open size is called {written(name)}; {known}")
    tensor, digits = match["tensor"], match["axis"]
    if tensor not in inputs:
        there = _shown(list(inputs))
        raise ValueError(f"{written(name)}: no input is called {written(tensor)}; there are: {there}")
    shape = inputs[tensor].shape
    if shape is None:
        raise ValueError(f"{written(name)}: {no_axes(written(tensor))}")
    if not _is_number(digits) or int(digits) >= len(shape):
        last = f"its axes are 0 to {len(shape) - 1}" if shape else "it has none"
        raise ValueError(f"{written(name)}: {written(tensor)} has no such axis; {last}")
    return tensor, int(digits)


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and len(digits) <= _LONGEST_AXIS


def _require_same(graph: Graph, axis: Axis, size: int) -> None:
    """Refuse another number for an axis that the model itself fixes."""
    fixed = next(value.type.shape or () for value in graph.inputs if value.name == axis[0])[axis[1]]
    if fixed != size:
        said = f"is {fixed} in the model, which cannot be made {size}"
        raise ValueError(f"{written(_axis_name(axis))} {said}")


def _divided(given: _Given, axes: Mapping[Axis, Size]) -> list[str]:
    """Take numbers for single axes into account that have a name; answers which names fall apart."""
    divided = []
    for name in dict.fromkeys(axes[axis] for axis in given.single):
        if not isinstance(name, str):
            continue
        numbers = {axis: given.single.get(axis) for axis, size in axes.items() if size == name}
        for axis, size in numbers.items():
            if size is not None and given.named.get(name, size) != size:
                other = f"by its name {written(name)} as {given.named[name]}"
                raise ValueError(f"{written(_axis_name(axis))} is given as {size}, and {other}")
        if name in given.named:
            continue
        one, *others = set(numbers.values())
        if one is not None and not others:
            given.named[name] = one
        else:
            divided.append(name)
    return divided


def _fixed(value: Value, given: _Given, is_input: bool) -> TensorType:
    if value.type.shape is None:
        return value.type
    sizes: list[Size] = []
    for axis, size in enumerate(value.type.shape):
        if not isinstance(size, int) and is_input and (value.name, axis) in given.single:
            sizes.append(given.single[value.name, axis])
        elif isinstance(size, str):
            open_here = None if size in given.divided and not is_input else size
            sizes.append(given.named.get(size, open_here))
        else:
            sizes.append(size)
    return replace(value.type, shape=tuple(sizes))


def _shown(names: list[str]) -> str:
    """Names for a message, some of them; unprintable ones as escapes."""
    few = [_cut(name) for name in names[:_MOST_SHOWN]]
    return ", ".join([*few, "..."] if len(names) > _MOST_SHOWN else few) or "none"


def _cut(name: str) -> str:
    return name if name.isprintable() and len(name) <= LONGEST_TEXT else written(name)


def ranked(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> Graph:
    """The model with as many open axes as arrays of these shapes have where it writes no axes at all."""
    inputs = (
        replace(value, type=replace(value.type, shape=(None,) * len(shapes[value.name])))
        if value.type.shape is None and value.name in shapes
        else value
        for value in graph.inputs
    )
    return replace(graph, inputs=tuple(inputs))


def sizes_of(
    graph: Graph, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The open sizes of the inputs that arrays of these shapes have, but for those that are given already.

    Of axes with one name the first counts: that the others do not fit is for who looks at the arrays to say.
    """
    given = given or {}
    axes = [entry for entry in _open_axes(graph) if entry[0][1] < len(shapes.get(entry[0][0], ()))]
    # Where one axis of a name is given by itself, the others are taken by themselves too.
    single = {size for axis, size in _open_axes(graph) if _axis_name(axis) in given}
    found: dict[str, int] = {}
    for axis, size in axes:
        name = _axis_name(axis) if size in single else _name(axis, size)
        if name not in given and _axis_name(axis) not in given and size not in given:
            found.setdefault(name, shapes[axis[0]][axis[1]])
    return found


def sizes_apart(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, dict[str, int]]:
    """Names that an input gives to several axes, of which its array's differ; with the size of each axis."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for axis, size in _open_axes(graph):
        if isinstance(size, str) and axis[1] < len(shapes.get(axis[0], ())):
            found.setdefault((axis[0], size), {})[_axis_name(axis)] = shapes[axis[0]][axis[1]]
    return {name: axes for (_, name), axes in found.items() if len(set(axes.values())) > 1}
