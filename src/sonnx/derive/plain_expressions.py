"""The two languages of plain kernels: C99, and ACSL in which its contracts are written."""

from fractions import Fraction
from math import copysign, isfinite, isnan
from typing import Any

from sonnx.derive.c_types import C_TYPES, hexadecimal
from sonnx.derive.conversion_steps import BITS
from sonnx.derive.plain_pieces import (
    ADDITIVE,
    CHOICE,
    EQUALITY,
    ORDER,
    PRIMARY,
    PRODUCT,
    UNARY,
    Piece,
    binary,
    call,
    cast,
    choice,
    prefixed,
)
from sonnx.derive.plain_terms import COMPARISONS, Writer
from sonnx.model.dtype import DType
from sonnx.terms.term import Sort, Term

_SIGNS = {
    "add": ("+", ADDITIVE),
    "subtract": ("-", ADDITIVE),
    "multiply": ("*", PRODUCT),
    "divide": ("/", PRODUCT),
    "truncated": ("/", PRODUCT),
}
_SHIFTS = {"shifted_left": "<<", "shifted_right": ">>"}
_BITS = {"bits_and": "&", "bits_or": "|", "bits_xor": "^"}
# Types whose numbers C calculates with in `int`, so that what comes out is cast back.
_PROMOTED = (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)
_FUNCTIONS = {"absolute": "fabs", "root": "sqrt", "plus_product": "fma"}
# The operations of IEEE 754 as ACSL has them; the driver of proofs says what they are.
_LOGIC = {
    "add": "sum",
    "subtract": "difference",
    "multiply": "product",
    "divide": "quotient",
    "negate": "opposite",
    "absolute": "absolute",
    "root": "root",
    "left_over": "left_over",
    "rounded_down": "rounded_down",
    "plus_product": "fused",
}
# The types in which C calculates, where that is not `int`: sums and products of two elements fit, or wrap as
# unsigned numbers do.
_THROUGH = {
    DType.UINT16: "uint32_t",
    DType.INT32: "int64_t",
    DType.INT64: "uint64_t",
}
# Those of them in which results wrap: contracts spell the same casts.
_WRAPPED = {DType.UINT16: "uint32_t", DType.INT64: "uint64_t"}
_NATIVE = (DType.UINT32, DType.UINT64)
# What floats of few bits are called, which C holds as integers.
_FEW_BITS = {DType.FLOAT16: "half", DType.BFLOAT16: "bfloat16"}
_MOST_DIGITS = 10


def _decimal(value: float) -> str:
    """A finite float in decimals where those are few and exact, else hexadecimal."""
    text = repr(value)
    return (
        text
        if "e" not in text and len(text) <= _MOST_DIGITS and Fraction(text) == value
        else hexadecimal(value)
    )


def _bitwise(word: str, dtype: DType, arguments: list[Piece]) -> Piece:
    """Bits of integers in both languages; operators on bits stand in brackets, as few know how they bind."""
    if word == "bits_not":  # of unsigned numbers ACSL's is negative
        return cast(C_TYPES[dtype].name, prefixed("~", *arguments))
    a, b = arguments
    if word in _SHIFTS:  # to the left in an unsigned type of C's, which loses what it has no bits for
        through = "uint64_t" if dtype is DType.UINT64 else "uint32_t"
        made = Piece(f"{cast(through, a).text} {_SHIFTS[word]} {b.within(UNARY)}", CHOICE)
        return cast(C_TYPES[dtype].name, made)
    made = Piece(f"{a.within(UNARY)} {_BITS[word]} {b.within(UNARY)}", CHOICE)
    return cast(C_TYPES[dtype].name, made) if dtype in _PROMOTED else made


def _without_overflow(writer: Writer, a: Piece, b: Piece) -> Piece:
    """A quotient in the widest type: the smallest by -1 has none there, but a difference that wraps."""
    opposite = writer.counted("subtract", DType.INT64, Piece("0"), a)
    return choice(binary("==", EQUALITY, b, Piece("-1", UNARY)), opposite, binary("/", PRODUCT, a, b))


class CWriter(Writer):
    """C99: the operators of the language, the functions of <math.h>, and the package's own for float16."""

    def literal(self, value: Any, dtype: DType) -> Piece:
        """Floats in decimals where these are exact; integers as bare as their type allows."""
        if dtype in BITS:
            return Piece(f"0x{value:04x}u")
        if dtype in (DType.FLOAT, DType.DOUBLE):
            return self._real(value, C_TYPES[dtype].suffix)
        if value == -(2**63):  # C has no literal for it: the minus sign is an operator
            return Piece("-9223372036854775807 - 1", ADDITIVE)
        suffix = "u" if dtype in (DType.UINT32, DType.UINT64) else ""
        return Piece(f"{value}{suffix}", PRIMARY if value >= 0 else UNARY)

    def _real(self, value: float, suffix: str) -> Piece:
        if not isfinite(value):
            one = "0.0" if isnan(value) else "-1.0" if value < 0 else "1.0"
            return Piece(f"{one}{suffix} / 0.0{suffix}", PRODUCT)
        text = _decimal(value)
        return Piece(f"{text}{suffix}", UNARY if text.startswith("-") else PRIMARY)

    def widened(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """By the package's function."""
        return self._by(f"float_of_{_FEW_BITS[dtype]}", a)

    def narrowed(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """By the package's function."""
        return self._by(f"{_FEW_BITS[dtype]}_of_float", a)

    def odd(self, a: Piece) -> Piece:
        """By the package's function."""
        return self._by("odd_float", a)

    def _by(self, name: str, *arguments: Piece) -> Piece:
        self.helpers.add(name)
        return call(name, *arguments)

    def whole(self, dtype: DType, a: Piece) -> Piece:
        """By a cast, which is asked only for what the type holds."""
        return self.cast(dtype, a)

    def calculated(self, term: Term, real: str, arguments: list[Piece]) -> Piece:
        """An operator of the language, a function of <math.h> that rounds once, or one of the package."""
        if term.word == "negate":
            return prefixed("-", *arguments)
        if term.word == "rounded_down":
            return self._by(f"floor_of_{real}", *arguments)
        if term.word == "left_over":
            return self._by(f"left_over_of_{real}", *arguments)
        if term.word in _FUNCTIONS:
            self.helpers.add("<math.h>")
            name = _FUNCTIONS[term.word] + ("f" if real == "float" else "")
            total, *factors = arguments
            return call(name, *factors, total)
        return binary(*_SIGNS[term.word], *arguments)

    def counted(self, word: str, dtype: DType, a: Piece, b: Piece) -> Piece:
        """In a type that holds the result or wraps; the way back wraps as well."""
        name, through = C_TYPES[dtype].name, _THROUGH.get(dtype)
        if word == "truncated":  # one alone is larger than both: the smallest by -1, which wraps
            if dtype is DType.INT64:
                return _without_overflow(self, a, b)
            through = through if dtype is DType.INT32 else None
        if through:
            a, b = cast(through, a), cast(through, b)
        made = binary(*_SIGNS[word], a, b)
        whole = dtype in _NATIVE or (through is None and dtype in _THROUGH and dtype is not DType.UINT16)
        return made if whole else cast(name, made)

    def bitwise(self, word: str, dtype: DType, arguments: list[Piece]) -> Piece:
        """By an operator of the language."""
        return _bitwise(word, dtype, arguments)

    def compared(self, word: str, real: str, a: Piece, b: Piece) -> Piece:
        """By an operator of the language."""
        return binary(*COMPARISONS[word], a, b)

    def unordered(self, real: str, a: Piece) -> Piece:
        """A NaN alone differs from itself."""
        return binary("!=", EQUALITY, a, a)

    def decided(self, *, holds: bool) -> Piece:
        """As a number."""
        return Piece("1" if holds else "0")

    def negated(self, condition: Term) -> Piece:
        """By the opposite operator where there is one; a comparison of floats has none."""
        match condition.word:
            case "value" | "read" | "read_flat":
                return binary("==", EQUALITY, self.byte(condition), Piece("0"))
            case "equal":
                return binary("!=", EQUALITY, *self.operands(condition)[1:])
            case "is_nan":
                _, x = self.looked_at(condition)
                return binary("==", EQUALITY, x, x)
            case "less" if condition.arguments[0].sort is Sort.INDEX:
                return binary(">=", ORDER, *self.operands(condition)[1:])
        return prefixed("!", self.truth(condition))

    def masked(self, sign: str, bits: int, a: Piece) -> Piece:
        """By an operator on bits."""
        return cast("uint16_t", Piece(f"{a.within(UNARY)} {sign} 0x{bits:04x}u", CHOICE))

    def cast(self, dtype: DType, a: Piece) -> Piece:
        """By a cast, which wraps."""
        return cast(C_TYPES[dtype].name, a)


class LogicWriter(Writer):
    """ACSL: its own operators on floats are those of the reals, so others are named; casts wrap integers."""

    def literal(self, value: Any, dtype: DType) -> Piece:
        """Floats in their type; an infinity is a quotient, as in C."""
        if dtype in (DType.FLOAT, DType.DOUBLE):
            return self._real(value, str(dtype))
        return Piece(str(value), PRIMARY if value >= 0 else UNARY)

    def _real(self, value: float, real: str) -> Piece:
        if not isfinite(value):
            one = self._real(0.0 if isnan(value) else 1.0, real)
            above = call(f"opposite_{real}", one) if value < 0 else one
            return call(f"quotient_{real}", above, self._real(0.0, real))
        if copysign(1.0, value) < 0:
            return call(f"opposite_{real}", self._real(-value, real))
        return cast(real, Piece(_decimal(value)))

    def widened(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """By name; what it is nobody says but the function's own contract."""
        return call(f"value_of_{_FEW_BITS[dtype]}", a)

    def narrowed(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """By name (same)."""
        return call(f"nearest_{_FEW_BITS[dtype]}", a)

    def odd(self, a: Piece) -> Piece:
        """By name (same)."""
        return call("beside_double", a)

    def whole(self, dtype: DType, a: Piece) -> Piece:
        """Towards zero; what is said around it says where that is within the type."""
        return call("\\truncate", a)

    def calculated(self, term: Term, real: str, arguments: list[Piece]) -> Piece:
        """By the name of the operation."""
        if term.word == "plus_product":
            total, *factors = arguments
            arguments = [*factors, total]
        return call(f"{_LOGIC[term.word]}_{real}", *arguments)

    def counted(self, word: str, dtype: DType, a: Piece, b: Piece) -> Piece:
        """The exact result in the element's type; through the type of C's calculation where that wraps."""
        if word == "truncated" and dtype is DType.INT64:
            return _without_overflow(self, a, b)
        if word == "truncated" or dtype not in _WRAPPED:
            return cast(C_TYPES[dtype].name, binary(*_SIGNS[word], a, b))
        through = _WRAPPED[dtype]
        if dtype is DType.INT64:
            a, b = cast(through, a), cast(through, b)
        return cast(C_TYPES[dtype].name, cast(through, binary(*_SIGNS[word], a, b)))

    def bitwise(self, word: str, dtype: DType, arguments: list[Piece]) -> Piece:
        """As C has it: operators on integers of any length, and the same casts."""
        return _bitwise(word, dtype, arguments)

    def compared(self, word: str, real: str, a: Piece, b: Piece) -> Piece:
        """By the name of the comparison."""
        return call(f"{word}_{real}", a, b)

    def unordered(self, real: str, a: Piece) -> Piece:
        """By name."""
        return call(f"nan_{real}", a)

    def decided(self, *, holds: bool) -> Piece:
        """As a truth, which is no number."""
        return Piece("\\true" if holds else "\\false")

    def negated(self, condition: Term) -> Piece:
        """Not what is said."""
        return prefixed("!", self.truth(condition))

    def masked(self, sign: str, bits: int, a: Piece) -> Piece:
        """By an operator on bits."""
        return cast("uint16_t", Piece(f"{a.within(UNARY)} {sign} {bits}", CHOICE))

    def cast(self, dtype: DType, a: Piece) -> Piece:
        """By a cast, which wraps."""
        return cast(C_TYPES[dtype].name, a)
