"""Element types in C, and arrays as initialisers that keep every bit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonnx.emit.errors import EmitError
from sonnx.emit.names import shown
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array

_WIDTH = 100


@dataclass(frozen=True)
class CType:
    """How elements are held: `parts` numbers of `width` bytes each, written in C as `name`.

    `infinity` are the bits of the positive infinity of a float type: larger ones, the sign apart, are NaNs.
    """

    name: str
    width: int
    parts: int = 1
    infinity: int = 0
    # What ends the literals of its numbers, or how their bits are written.
    suffix: str = ""
    # The numbers themselves are C's floats, so they are written as such; float16 has no type in C.
    computed: bool = False

    def spelled(self, prefix: str) -> str:
        """The type as a project writes it; its structures begin with the project's prefix."""
        return self.name.replace("struct ", f"struct {prefix}_")

    @property
    def bytes(self) -> int:
        """What one element takes."""
        return self.width * self.parts


_FLOAT16 = 0x7C00
_BFLOAT16 = 0x7F80
_FLOAT = 0x7F800000
_DOUBLE = 0x7FF0000000000000

C_TYPES = {
    DType.FLOAT16: CType("uint16_t", 2, infinity=_FLOAT16, suffix="bits"),
    DType.BFLOAT16: CType("uint16_t", 2, infinity=_BFLOAT16, suffix="bits"),
    DType.FLOAT: CType("float", 4, infinity=_FLOAT, suffix="f", computed=True),
    DType.DOUBLE: CType("double", 8, infinity=_DOUBLE, computed=True),
    DType.INT8: CType("int8_t", 1),
    DType.INT16: CType("int16_t", 2),
    DType.INT32: CType("int32_t", 4, suffix="L"),
    DType.INT64: CType("int64_t", 8, suffix="LL"),
    DType.UINT8: CType("uint8_t", 1),
    DType.UINT16: CType("uint16_t", 2, suffix="U"),
    DType.UINT32: CType("uint32_t", 4, suffix="UL"),
    DType.UINT64: CType("uint64_t", 8, suffix="ULL"),
    DType.BOOL: CType("uint8_t", 1),
    DType.COMPLEX64: CType("struct complex64", 4, parts=2, infinity=_FLOAT, suffix="f", computed=True),
    DType.COMPLEX128: CType("struct complex128", 8, parts=2, infinity=_DOUBLE, computed=True),
}

C_NAMES = {kind.name: kind for kind in C_TYPES.values()}


def c_type(kind: TensorType, tensor: str) -> CType:
    """The C type of a tensor's elements; raises EmitError where there is none."""
    found = C_TYPES.get(kind.dtype) if kind.dtype else None
    if found is None:
        raise EmitError(f"`{shown(tensor)}` is {kind}: elements of that type have no place in C")
    return found


def words(array: Array, kind: CType) -> Array:
    """The bits of an array's numbers, parts of complex ones one after the other, in C order."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{kind.width}")


def little_endian(array: Array, kind: CType) -> bytes:
    """The bytes of an array's numbers, the least significant first, on any machine."""
    found = words(array, kind)
    return found.astype(found.dtype.newbyteorder("<")).tobytes()


def has_nan(array: Array, kind: CType) -> bool:
    """Tell whether there are NaNs among numbers that C would write as floats; no literal has their bits."""
    if not kind.computed:
        return False
    magnitude = words(array, kind) & np.array(2 ** (8 * kind.width - 1) - 1, f"u{kind.width}")
    return bool((magnitude > kind.infinity).any())


def initialiser(array: Array, kind: CType) -> str:
    """The elements between braces, several on a line."""
    found = [_literal(value, kind) for value in _numbers(array, kind)]
    if kind.parts == 2:
        found = [f"{{{real}, {imaginary}}}" for real, imaginary in zip(found[::2], found[1::2], strict=True)]
    return _lines(found)


def bit_initialiser(array: Array, kind: CType) -> str:
    """The bits of the elements between braces, as unsigned integers."""
    return _lines([f"0x{word:0{2 * kind.width}x}u" for word in words(array, kind).tolist()])


def _lines(found: Sequence[str]) -> str:
    lines, line = [], ""
    for text in found or ["0"]:
        if line and len(line) + len(text) > _WIDTH:
            lines.append(line)
            line = ""
        line += f"{' ' if line else '    '}{text},"
    return "{\n" + "\n".join([*lines, line]) + "\n}"


def _numbers(array: Array, kind: CType) -> Iterator[Any]:
    if kind.suffix == "bits" or array.dtype == np.dtype(bool):
        return iter(words(array, kind).tolist())
    if kind.parts == 2:
        return iter(np.ascontiguousarray(array).reshape(-1).view(f"f{kind.width}").tolist())
    return iter(array.reshape(-1).tolist())


def _literal(value: Any, kind: CType) -> str:
    if kind.computed:
        return _float_literal(value, kind.suffix)
    if kind.suffix == "bits":
        return f"0x{value:04x}u"
    if value == -(2**63):  # C has no literal for it: the minus sign is an operator
        return "(-9223372036854775807LL - 1)"
    return f"{value}{kind.suffix}"


def _float_literal(value: float, suffix: str) -> str:
    """Hexadecimal, so that exactly the value is meant; infinity as IEC 60559 makes it."""
    if value in (float("inf"), float("-inf")):
        return f"({'-' if value < 0 else ''}1.0{suffix} / 0.0{suffix})"
    digits, exponent = value.hex().split("p")
    whole, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{'.' if fraction else ''}{fraction}p{int(exponent)}{suffix}"
