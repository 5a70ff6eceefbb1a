"""Moves at the speed of memory: the boxes of a result as the table that shared/boxes.c reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from sonnx.derive.boxes import Box, Read, element_strides, read_strides
from sonnx.derive.literals import literal
from sonnx.derive.pieces import Pieces, element_bytes, variant, word_bytes
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.terms.tensors import Given
from sonnx.terms.term import Term
from sonnx.vocabulary.kernel import KernelCall, KernelRequest


@dataclass(frozen=True)
class Axis:
    """So many, and how far the next one is in the output and in what is read; counted in words."""

    size: int
    to: int
    origin: int


# In place of the rows of a run that is one line.
_ONE = Axis(1, 0, 0)


@dataclass(frozen=True)
class Entry:
    """`struct box` of boxes.c: runs of `rows` times `line`, and the axes that lead from run to run."""

    to: int
    operand: int
    origin: int
    straight: bool
    line: Axis
    rows: Axis
    axes: tuple[Axis, ...]

    @property
    def elements(self) -> int:
        """What it writes."""
        return prod(axis.size for axis in (self.line, self.rows, *self.axes))

    @property
    def read(self) -> int:
        """What of an operand it reads, each part once."""
        known = self.operand >= 0
        return known * prod(axis.size for axis in (self.line, self.rows, *self.axes) if axis.origin)

    def fields(self, number: int) -> Iterator[tuple[str, int]]:
        """The fields of the structure with their names, for people who read them in C."""
        named = {"line": self.line, "rows": self.rows}
        outside = {f"axis{m}": axis for m, axis in enumerate(reversed(self.axes))}
        listed = {
            "length": 13 + 3 * len(self.axes),
            "elements": self.elements,
            "to": self.to,
            "operand": self.operand,
            "from": self.origin,
            "straight": int(self.straight),
            **_spelled(named),
            "rank": len(self.axes),
            **_spelled(outside),
        }
        for name, value in listed.items():
            yield f"box{number}_{name}", value


def _spelled(axes: Mapping[str, Axis]) -> dict[str, int]:
    return {
        f"{name}_{field}": value
        for name, axis in axes.items()
        for field, value in (("size", axis.size), ("to", axis.to), ("from", axis.origin))
    }


def box_call(
    request: KernelRequest,
    output: str,
    tensors: Mapping[str, str],
    operands: Mapping[str, Given],
    boxes: Sequence[Box],
) -> KernelCall:
    """The call that writes all boxes of an output; `tensors` are those of the operands, by name."""
    kind = request.types[output]
    dtype = kind.dtype
    assert dtype is not None  # elements are bits in memory
    size = word_bytes(dtype)
    words = (element_bytes(dtype) or 0) // size
    names = list(operands)
    entries = [_entry(box, kind.sizes or (), operands, names, dtype, words) for box in boxes]
    fields = [field for number, entry in enumerate(entries) for field in entry.fields(number)]
    pieces = Pieces(
        source="shared/boxes.c",
        function="boxes",
        variant=variant(request, f"{size}_bytes", TYPE=f"uint{8 * size}_t"),
        elements=sum(entry.elements for entry in entries),
        element_bytes=size,
        read_bytes=sum(entry.read for entry in entries) * size,
        parameters=(("output", len(names)), *fields),
    )
    return pieces.call(tuple(tensors[name] for name in names), output)


def _entry(
    box: Box, shape: Sequence[int], operands: Mapping[str, Given], names: list[str], dtype: DType, words: int
) -> Entry:
    written = element_strides(shape)
    begin = sum(place * stride for place, stride in zip(box.begin, written, strict=True)) * words
    if isinstance(box.source, Read):
        strides = read_strides(box.source, operands)
        along = box.source.along(strides, box)
        firsts = zip(box.source.first(box), strides, strict=True)
        origin = sum(place * stride for place, stride in firsts) * words
        operand = names.index(box.source.operand)
        inside = [Axis(words, 1, 1)]
    else:
        along, operand, origin = (0,) * len(box.sizes), -1, _bits(box.source, dtype)
        inside = []
    steps = zip(box.sizes, written, along, strict=True)
    axes = [Axis(size, to * words, each * words) for size, to, each in steps]
    return _runs(begin, operand, origin, _merged((*axes, *inside)))


def _bits(term: Term, dtype: DType) -> int:
    """The bits of a literal as a number of C's int64_t."""
    return int(literal(term, dtype).reshape(1).view(f"i{numpy_dtype(dtype).itemsize}")[0])


def _merged(axes: Sequence[Axis]) -> list[Axis]:
    """Axes of one element vanish, and neighbours that continue each other on both sides are one axis."""
    found: list[Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        before = found[-1] if found else None
        if before and before.to == axis.size * axis.to and before.origin == axis.size * axis.origin:
            found[-1] = replace(axis, size=before.size * axis.size)
        else:
            found.append(axis)
    return found or [Axis(1, 1, 1)]


def _runs(begin: int, operand: int, origin: int, axes: list[Axis]) -> Entry:
    *outside, line = axes
    straight = _is_straight(axes)
    rows = _ONE
    if line.to == 1 and line.origin == 1 and outside and _repeats(outside[-1], line):
        rows = outside.pop()
    elif line.to == 1 and line.origin not in (0, 1):
        across = next((axis for axis in outside if axis.origin == 1), None)
        if across is not None:
            outside.remove(across)
            rows, straight = across, False
    return Entry(begin, operand, origin, straight, line, rows, tuple(outside))


def _repeats(axis: Axis, line: Axis) -> bool:
    return axis.origin == 0 and axis.to == line.size


def _is_straight(axes: Sequence[Axis]) -> bool:
    """Whether the elements follow one another in the output."""
    return all(axis.to == prod(inner.size for inner in axes[m + 1 :]) for m, axis in enumerate(axes))
