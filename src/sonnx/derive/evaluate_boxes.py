"""Boxes of a result made ready for operands of known shapes: then each is one copy, or one view."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from sonnx.derive.boxes import Box, Read, boxes, element_strides
from sonnx.numeric.arrays import Array
from sonnx.numeric.views import strided
from sonnx.terms.tensors import Made
from sonnx.terms.term import DefinitionError, Term

# The shapes of operands, by name.
Shapes = tuple[tuple[str, tuple[int, ...]], ...]


def shapes_of(arrays: Mapping[str, Array]) -> Shapes:
    """The shapes of arrays."""
    return tuple((name, array.shape) for name, array in arrays.items())


@dataclass(frozen=True, eq=False)
class Elements:
    """What a box reads: an operand from the index `first` on, and how far each axis of the box leads there.

    `flat` reads the operand as a line in C order. `in_order`: all its elements, one after the other.
    """

    operand: str
    sizes: tuple[int, ...]
    first: tuple[int, ...]
    factors: tuple[tuple[int, ...], ...]
    flat: bool
    in_order: bool

    def of(self, arrays: Mapping[str, Array]) -> Array:
        """The elements where they lie."""
        array = arrays[self.operand]
        if self.in_order:
            found = array.reshape(self.sizes)
            found.flags.writeable = False
            return found
        array = array.reshape(-1) if self.flat else array
        strides = [
            sum(factor * stride for factor, stride in zip(each, array.strides, strict=True))
            for each in self.factors
        ]
        return strided(array, self.first, self.sizes, strides)


@dataclass(frozen=True, eq=False)
class Patch:
    """One box of a result: where it lies, and what is read there, or the literal that stands there."""

    place: tuple[Any, ...]
    source: Elements | Term


@lru_cache(1024)
def parts_of(made: Made, shapes: Shapes) -> tuple[Patch, ...] | None:
    """The parts of a result; None where it is more than a move, or no affine one."""
    found, by_name = boxes(made), dict(shapes)
    return None if found is None else tuple(_part(box, by_name) for box in found)


def _part(box: Box, shapes: Mapping[str, tuple[int, ...]]) -> Patch:
    places = [slice(first, first + size) for first, size in zip(box.begin, box.sizes, strict=True)]
    source = box.source
    # Without the dots, an array of no axes would become its element.
    return Patch((*places, ...), _elements(box, source, shapes) if isinstance(source, Read) else source)


def _elements(box: Box, read: Read, shapes: Mapping[str, tuple[int, ...]]) -> Elements:
    whole = shapes[read.operand]
    shape = (prod(whole),) if read.flat else whole
    for (least, most), size in zip(read.extremes(box), shape, strict=True):
        if least < 0 or most >= size:
            raise DefinitionError(f"{read.operand} is read at {least} to {most} on an axis of {size}")
    first = read.first(box)
    factors = tuple(tuple(each.factors.get(name, 0) for each in read.indices) for name in box.names)
    steps = zip(read.along(element_strides(shape), box), element_strides(box.sizes), box.sizes, strict=True)
    neighbours = all(step == next_one for step, next_one, size in steps if size > 1)
    in_order = neighbours and not any(first) and prod(shape) == prod(box.sizes)
    return Elements(read.operand, box.sizes, first, factors, read.flat, in_order)
