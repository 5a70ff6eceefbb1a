"""Tensors read in place: what a move makes is not made where whoever takes it can read the operand instead.

This is so where elements are repeated or keep their order: Expand, or another shape of the same elements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from sonnx.derive.boxes import Read, boxes, read_strides
from sonnx.derive.tracing import traced
from sonnx.model.tensor_type import TensorType
from sonnx.terms.term import Sort
from sonnx.vocabulary.kernel import KernelRequest
from sonnx.vocabulary.operator import Operator


@dataclass(frozen=True)
class View:
    """A tensor that stands for another one: how far the next element lies there, axis by axis."""

    tensor: str
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """A run of axes that are one for all views: its size, and the stride of each view."""

    size: int
    strides: tuple[int, ...]


def view(operator: Operator, request: KernelRequest) -> View | None:
    """How to read what a node makes in place; None where that is more than its operand, with repeats."""
    unknown = operator.contract.settled - request.constants.keys()
    defined = operator.definition is not None and not operator.definition.elementwise
    if not defined or unknown or len(request.outputs) != 1:
        return None
    types = {operand: request.types[name] for operand, name in request.inputs.items()}
    trace = traced(operator, types, request.attributes, request.constants)
    (made, *others) = trace.made
    found = boxes(made) if not others and made.term.sort is Sort.NUMBER else None
    if found is None or len(found) != 1 or not isinstance(read := found[0].source, Read):
        return None
    (box,) = found
    strides = read.along(read_strides(read, trace.operands), box)
    elements = prod(trace.operands[read.operand].shape)
    if any(read.first(box)) or not _keeps_order(box.sizes, strides, elements):
        return None
    return View(request.inputs[read.operand], strides)


def _keeps_order(sizes: Sequence[int], strides: Sequence[int], elements: int) -> bool:
    """Whether all of so many elements come in their order, axes along which they come again aside."""
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size > 1 and stride:
            if stride != expected:
                return False
            expected *= size
    return expected == elements


def merged(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[Axis, ...]:
    """The axes of a result, neighbours as one where every view goes on from the one to the other."""
    found: list[Axis] = []
    for axis, size in enumerate(sizes):
        here = Axis(size, tuple(each[axis] for each in strides))
        if size == 1:
            continue
        before = found[-1] if found else None
        if before and all(a == b * size for a, b in zip(before.strides, here.strides, strict=True)):
            found[-1] = Axis(before.size * size, here.strides)
        else:
            found.append(here)
    return tuple(found) or (Axis(1, (0,) * len(strides)),)


def natural(kind: TensorType) -> tuple[int, ...]:
    """The strides of a tensor that lies there as it is."""
    sizes = kind.sizes or ()
    return tuple(prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def read_at(name: str, views: Mapping[str, View], types: Mapping[str, TensorType], rank: int) -> View:
    """Where an operand of a loop over so many axes is read; a scalar is one element for all."""
    found = views.get(name) or View(name, natural(types[name]))
    return found if len(found.strides) == rank else View(found.tensor, (0,) * rank)
