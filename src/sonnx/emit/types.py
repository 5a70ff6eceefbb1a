"""Element types in C, and arrays as initialisers that keep every bit."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sonnx.derive.c_types import C_TYPES, CType, hexadecimal
from sonnx.emit.errors import EmitError
from sonnx.emit.names import shown
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array

_WIDTH = 100


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
    """A number as C writes it, with all of its bits; of a type that C has not, the bits."""
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
    return f"{hexadecimal(value)}{suffix}"
