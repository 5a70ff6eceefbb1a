"""Element types in C: how elements are held, and in which float C calculates with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from sonnx.model.dtype import DType


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

# The C float in which elements are compared and calculated with.
REALS = {DType.FLOAT16: "float", DType.FLOAT: "float", DType.DOUBLE: "double"}


def same(name: str) -> str:
    """The predicate that two elements of a C type are one and the same."""
    return f"same_{name.removeprefix('struct ')}"


def hexadecimal(value: float) -> str:
    """A finite float as C99 and ACSL write it, without digits that say nothing."""
    digits, exponent = value.hex().split("p")
    whole, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{'.' if fraction else ''}{fraction}p{int(exponent)}"


def place(flat: str, sizes: Sequence[int], axis: int) -> str:
    """The index on one axis of the element at `flat` in C order.

    Nothing is divided by 1, and the first axis that counts needs no remainder.
    """
    inner = prod(sizes[axis + 1 :])
    quotient = flat if inner == 1 else f"{flat} / {inner}"
    return quotient if prod(sizes[:axis]) == 1 else f"{quotient} % {sizes[axis]}"


def choice(condition: str, chosen: str, otherwise: str) -> str:
    """One of two expressions; clang warns of `a & b ? c : d`, which may not say what was meant."""
    joined = " & " in condition or " | " in condition
    return f"{f'({condition})' if joined else condition} ? {chosen} : {otherwise}"
