"""Elements in another type as statements in C that have no branches: conversions of D-XLA-3 on vectors.

Nothing is converted that the new type does not hold, as C leaves that open: floats are limited before.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sonnx.derive.c_elements import answering, statements
from sonnx.derive.c_numbers import C_TYPES as NUMBERS
from sonnx.derive.c_numbers import NoWordError, Numbers, Statements
from sonnx.derive.c_types import choice
from sonnx.derive.conversion_steps import BITS, EXACT, LONG, SHORT, UNITS
from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS
from sonnx.terms.term import Term
from sonnx.terms.walking import without_statements

_C_TYPES = {**NUMBERS, DType.BOOL: "uint8_t", DType.BFLOAT16: "uint16_t"}
_NAMES = {DType.FLOAT16: "half", DType.BFLOAT16: "bfloat16"}


def conversion(term: Term, kind: DType, made: DType, *, answers: bool = False) -> Statements | None:
    """The element of an operator that converts and does nothing else; None of any other.

    With `answers` it is the inside of a function of the operand, which returns the result. Raises
    NoWordError where a type has no form here.
    """
    tree = without_statements(term)
    if tree.word != "converted" or tree.arguments[0].word != "value":
        return None
    (operand,) = tree.arguments
    if kind is made:
        name = [operand.data]
        return (
            answering(operand, kind, made, name, in_bits=False)
            if answers
            else statements(operand, kind, made, ())
        )
    if PART.keys() & {kind, made}:
        raise NoWordError(kind)
    # The names that the loop has are not in the way of an operand's, which has one of its own here.
    writer = _Conversion(kind, made, {operand.data: "x"}, [operand.data] if answers else [])
    writer.answer_to("return" if answers else "to")
    return writer.statements(tree)


class _Conversion(Numbers):
    """One operand, and steps from its type to the other one."""

    includes = (*Numbers.includes, '#include "shared/half.h"', '#include "shared/conversions.h"')

    def __init__(self, kind: DType, made: DType, names: dict[str, str], scalars: Sequence[str]) -> None:
        """Begin with no statement."""
        super().__init__(kind, names, scalars)
        self.type, self.made = _C_TYPES[kind], made
        self.held = _C_TYPES[made]

    @property
    def name(self) -> str:
        """From which type to which."""
        return f"{self.kind}_to_{self.made}"

    def number(self, value: Any) -> str:
        """An integer that some float is compared with, exactly."""
        return f"{float(value).hex()}{'f' if self._float is DType.FLOAT else ''}"

    @property
    def _float(self) -> DType:
        """The type in which a float is compared."""
        return DType.FLOAT if self.kind in BITS else self.kind

    def _converted(self, term: Term) -> str:
        x, made = self(term.arguments[0]), self.made
        if self.kind in BITS:
            x = self.said("value", f"{_NAMES[self.kind]}_to_float({x})", "float")
        if made is DType.BOOL:
            return f"(uint8_t)({x} != 0)"
        if self.kind is DType.BOOL:
            x = f"({x} != 0)"
        if made in INTEGERS and self.kind in FORMATS:
            return self._limited(x)
        if made in BITS:
            return f"float_to_{_NAMES[made]}({self._near(x)})"
        return f"({self.held}){x}"

    def _near(self, x: str) -> str:
        """A float from which the nearest number of few bits is the one nearest to the element."""
        if self._float is DType.FLOAT:
            return x
        size = numpy_dtype(self.kind).itemsize
        if self.kind is not DType.DOUBLE and (self.made is DType.FLOAT16 or size <= SHORT):
            return f"(float){x}"
        return f"double_to_odd((double){self._gathered(x) if self.kind in LONG else x})"

    def _gathered(self, x: str) -> str:
        """A long integer whose last bits are one, so that a double holds it."""
        rest = self.said("rest", f"{x} & {2 * UNITS - 1}")
        middle = self.said("middle", f"{x} - {rest} + ({rest} != 0 ? {UNITS} : 0)")
        inside = f"{x} <= {EXACT}" if self.kind in UNSIGNED else f"({x} >= -{EXACT}) & ({x} <= {EXACT})"
        return self.said("held", choice(inside, x, middle))

    def _limited(self, x: str) -> str:
        """Cut off towards zero, within the ends of the type; a NaN compares false and is 0."""
        info, real = np.iinfo(numpy_dtype(self.made)), _C_TYPES[self._float]
        least, greatest = int(info.min), int(info.max)
        if info.bits < FORMATS[self._float].precision:
            number = self.said("number", f"{x} == {x} ? {x} : 0", real)
            low, end = self.number(least), self.number(greatest)
            above = self.said("above", f"{number} > {low} ? {number} : {low}", real)
            inside = self.said("inside", f"{above} < {end} ? {above} : {end}", real)
            through = "int64_t" if greatest > np.iinfo(np.int32).max else "int32_t"
            return f"({self.held})({through}){inside}"
        low, beyond = self.number(least), self.number(greatest + 1)
        above = self.said("above", f"{x} < {low} ? {low} : {x}", real)
        inside = self.said("inside", f"{above} < {beyond} ? {above} : 0", real)
        # Beside zeros alone stands what is beyond: to join bits costs less than to choose.
        end = self.said("end", f"{x} >= {beyond} ? {self.held.upper()[:-2]}_MAX : 0", self.held)
        return f"({self.held})(({self.held}){inside} | {end})"
