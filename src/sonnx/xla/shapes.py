"""Shapes as the XLA documents speak of them: an element type and dimensions."""

import re
from dataclasses import dataclass
from math import prod

from sonnx.model.dtype import XLA_NAMES, XLA_TYPES
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.limits import MOST_AXES, MOST_ELEMENTS
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.wording import written

_SIZE = r"\s*+[0-9]{1,10}\s*+"
_SIZES = rf"{_SIZE}(,{_SIZE})*|{_SIZE}(x{_SIZE})*|\s*"
_TEXT = re.compile(rf"\s*+(?P<type>\w++)\s*+(\[(?P<sizes>{_SIZES})\])?\s*+", re.ASCII)


@dataclass(frozen=True)
class Shape:
    """The element type of an array, such as "f32", and its sizes; `Shape("f32", (2, 3))` is f32[2,3]."""

    element_type: str
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no shape."""
        if not isinstance(self.element_type, str) or self.element_type not in XLA_TYPES:
            known = ", ".join(XLA_TYPES)
            raise ValueError(f"Shape: no element type {written(self.element_type)}; there are {known}")
        sizes = integers(list(self.dimensions) if isinstance(self.dimensions, range) else self.dimensions)
        if sizes is None or any(size < 0 for size in sizes):
            raise ValueError(f"Shape: dimensions {written(self.dimensions)}; write integers from 0 up")
        if len(sizes) > MOST_AXES or prod(size or 1 for size in sizes) > MOST_ELEMENTS:
            raise ValueError(
                f"Shape: dimensions {written(sizes)}; stay below 2^31 elements and at most {MOST_AXES} axes"
            )
        object.__setattr__(self, "dimensions", sizes)

    def __str__(self) -> str:
        """Print the form of the documents."""
        return f"{self.element_type}[{','.join(map(str, self.dimensions))}]"

    @property
    def type(self) -> TensorType:
        """The type of a tensor that says the same."""
        return TensorType(XLA_TYPES[self.element_type], self.dimensions, dialect="xla")

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)


def shape_of(kind: TensorType) -> Shape:
    """The shape that a type of a computation says."""
    if kind.dtype is None or kind.sizes is None:
        raise ValueError(f"Shape: {kind} has no known type or sizes")
    return Shape(XLA_NAMES.get(kind.dtype, str(kind.dtype)), kind.sizes)


def as_shape(value: object) -> Shape:
    """A shape, or the text of one such as `f32[2,3]`, `f32[2x3]` or `f32`."""
    if isinstance(value, Shape):
        return value
    match = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if match is None or match["type"] not in XLA_TYPES:
        raise ValueError(f'Shape: {written(value)} is none; write Shape("f32", (2, 3)) or "f32[2,3]"')
    sizes = re.split(r"[,x]", match["sizes"] or "")
    return Shape(match["type"], tuple(int(size) for size in sizes if size.strip()))
