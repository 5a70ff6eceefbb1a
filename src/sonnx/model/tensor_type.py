"""What is known of a tensor without its data: element type, shape, denotation, storage."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import Literal

from sonnx.model.dtype import XLA_NAMES, XLA_TYPES, DType

# A size that is not a number is a symbol of the model ("batch") or unknown (None).
Size = int | str | None
# Whose spelling of element types a text uses.
Dialect = Literal["onnx", "xla"]

_LONGEST_NAME = 80

_TEXT = re.compile(r"(?P<sparse>sparse )?(?P<dtype>[a-z0-9]+|\?)(?P<shape>\[[^\]]*\])?( as (?P<axes>.+))?")


@dataclass(frozen=True)
class TensorType:
    """The type of a tensor; `dtype` or `shape` is None where nobody has said it."""

    dtype: DType | None
    shape: tuple[Size, ...] | None
    sparse: bool = False
    denotation: tuple[str, ...] | None = None
    # How the caller spelled a type that is not one of the profile's, for messages.
    foreign: str | None = None
    dialect: Dialect = field(default="onnx", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Take a type by its spelling and sizes in a list; anything else that is no type is refused."""
        if self.dtype is not None and type(self.dtype) is not DType:
            object.__setattr__(self, "dtype", DType(self.dtype))
        # Most shapes are in their form already; to make them anew takes longer than to see that.
        if self.shape is not None and not (
            type(self.shape) is tuple and {int}.issuperset(map(type, self.shape))
        ):
            sizes = (size if isinstance(size, str | None) else index(size) for size in self.shape)
            object.__setattr__(self, "shape", tuple(sizes))

    def __str__(self) -> str:
        """Print the form that messages and examples use, such as `float[1,3,8,8]`."""
        head = "sparse " if self.sparse else ""
        name = self.foreign or (self.spell(self.dtype) if self.dtype else "?")
        sizes = (
            ""
            if self.shape is None
            else f"[{','.join('?' if s is None else _cut(str(s)) for s in self.shape)}]"
        )
        axes = "" if self.denotation is None else f" as {','.join(map(_cut, self.denotation))}"
        return f"{head}{name}{sizes}{axes}"

    def spell(self, dtype: DType) -> str:
        """An element type as the documents spell it to which this type belongs."""
        return XLA_NAMES.get(dtype, dtype.value) if self.dialect == "xla" else dtype.value

    @cached_property
    def extents(self) -> tuple[int | None, ...] | None:
        """The shape with None for every size that is no number from 0 up; None where there is no shape."""
        if self.shape is None:
            return None
        return tuple(size if isinstance(size, int) and size >= 0 else None for size in self.shape)

    @cached_property
    def sizes(self) -> tuple[int, ...] | None:
        """The shape where every size is a number from 0 up, else None."""
        if self.shape is None:
            return None
        sizes = tuple(size for size in self.shape if isinstance(size, int) and size >= 0)
        return sizes if len(sizes) == len(self.shape) else None


def _cut(name: str) -> str:
    """Names of sizes and axes may be as long as a file; messages repeat them."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def tensor_type(text: str) -> TensorType:
    """Read the form that `str(TensorType)` prints: `float[1,3,8,8]`, `f32[3]`, `real[]`, `?[batch,3]`."""
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None or re.search(r"\[,|,,|,\]|\d{20}", text):
        raise ValueError(f"not a tensor type: {str(text)[:60]!r}; write for example float[1,3,8,8]")
    name, shape, axes = match["dtype"], match["shape"], match["axes"]
    dtype = XLA_TYPES.get(name) or (DType(name) if name in set(DType) else None)
    return TensorType(
        dtype=dtype,
        shape=None if shape is None else tuple(_size(s) for s in shape[1:-1].split(",") if s),
        sparse=match["sparse"] is not None,
        denotation=None if axes is None else tuple(axes.split(",")),
        foreign=None if dtype or name == "?" else name,
        dialect="xla" if name in XLA_TYPES else "onnx",
    )


def _size(text: str) -> Size:
    if text == "?":
        return None
    return int(text) if text.isascii() and text.isdecimal() else text
