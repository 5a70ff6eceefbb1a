"""One element of an element-wise definition as statements in C that have no branches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sonnx.derive.c_numbers import Bits, Calculated, NoWordError, Numbers, Statements
from sonnx.derive.c_types import choice
from sonnx.derive.tracing import suited
from sonnx.derive.walking import methods
from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.literals import format_float
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import compares, parts, without_names

# Names that the text around the statements has, and those of C that an operand may be called.
_TAKEN = frozenset(
    (
        *("to", "count", "i", "p", "operands", "task", "rank", "begin", "done", "part", "word", "element"),
        *("some", "default", "register", "double", "float", "int", "long", "short", "signed", "unsigned"),
    )
)


def statements(term: Term, kind: DType, made: DType, scalars: Sequence[str]) -> Statements:
    """The element of a term over operands of one type `kind`, where the result is of the type `made`.

    Raises NoWordError where a word has no form for the type.
    """
    return _statements(term, kind, made, scalars, "to", is_chosen_by_masks=True)


def answering(term: Term, kind: DType, made: DType, names: Sequence[str], *, in_bits: bool) -> Statements:
    """The same as the inside of a function of the elements `names`, which returns the result.

    `in_bits` says that elements come as words of bits where the tree only chooses among them. Raises
    NoWordError where a word has no form for the type, or an element has several words.
    """
    found = _statements(term, kind, made, names, "return", is_chosen_by_masks=in_bits or kind not in _WRITERS)
    if found.words > 1:
        raise NoWordError("elements of several words")
    return found


def chooses(tree: Term) -> bool:
    """Whether elements are only chosen, whatever numbers they are: a sign that is flipped is more."""
    known = methods(Bits)
    return not compares(tree) and all(each.word in known for each in parts(tree))


def _statements(
    term: Term, kind: DType, made: DType, scalars: Sequence[str], to: str, *, is_chosen_by_masks: bool
) -> Statements:
    tree = without_names(term)
    tree = suited(tree, kind)
    names = {
        each.data: f"{each.data}_" if each.data in _TAKEN else each.data
        for each in parts(tree)
        if each.word == "value"
    }
    if is_chosen_by_masks and chooses(tree):
        writer: Numbers = Bits(kind, names, scalars)
    elif kind in _WRITERS:
        writer = _WRITERS[kind](kind, names, scalars)
    else:
        raise NoWordError(kind)
    if tree.sort is Sort.NUMBER and made is not kind:
        raise NoWordError("a result of another type")
    writer.answer_to(to)
    return writer.statements(tree)


class Integers(Calculated):
    """Integers wrap (D-ALL-6): sums and products are those of an unsigned type as wide as int or wider."""

    @property
    def _unsigned(self) -> str:
        return "uint64_t" if numpy_dtype(self.kind).itemsize == 8 else "uint32_t"

    def number(self, value: Any) -> str:
        """A number that a macro gives its type."""
        kind = str(self.kind).upper()
        if self.kind not in UNSIGNED and value == np.iinfo(value.dtype).min:
            return f"{kind}_MIN"
        return f"{kind}_C({value})"

    def calculated(self, term: Term, noun: str, sign: str) -> str:
        """The result modulo a power of two."""
        first, second = self.both(term)
        wide = self._unsigned
        return self.said(noun, f"({self.type})(({wide}){first} {sign} ({wide}){second})")

    def _negate(self, term: Term) -> str:
        return self.said("negative", f"({self.type})(0 - ({self._unsigned}){self(term.arguments[0])})")

    def _absolute(self, term: Term) -> str:
        x = self(term.arguments[0])
        if self.kind in UNSIGNED:
            return x
        negative = f"({self.type})(0 - ({self._unsigned}){x})"
        return self.said("magnitude", f"{x} < 0 ? {negative} : {x}")

    def bitwise(self, term: Term, sign: str) -> str:
        """The bits of two numbers together; C calculates in int at least."""
        return self.said("bits", f"({self.type})({f' {sign} '.join(self.both(term))})")

    def _bits_and(self, term: Term) -> str:
        return self.bitwise(term, "&")

    def _bits_or(self, term: Term) -> str:
        return self.bitwise(term, "|")

    def _bits_xor(self, term: Term) -> str:
        return self.bitwise(term, "^")

    def shifted(self, term: Term, sign: str) -> str:
        """All is calculated, needed or not: no number may be shifted by as many places as C calculates in."""
        x, places = self.both(term)
        width = 8 * numpy_dtype(self.kind).itemsize
        lost = self.said("lost", f"{places} >= {width}", "int")
        fewer = self.said("places", f"{lost} ? 0 : {places}")
        moved = self.said("moved", f"({self.type})(({self._unsigned}){x} {sign} {fewer})")
        return self.said("shifted", f"{lost} ? 0 : {moved}")

    def _shifted_left(self, term: Term) -> str:
        return self.shifted(term, "<<")

    def _shifted_right(self, term: Term) -> str:
        return self.shifted(term, ">>")

    def _bits_not(self, term: Term) -> str:
        return self.said("bits", f"({self.type})~{self(term.arguments[0])}")

    def _truncated(self, term: Term) -> str:
        # All is calculated, needed or not: no divisor may trap. A definition asks for no 0.
        a, b = self.both(term)
        if self.kind in UNSIGNED:
            divisor = self.said("divisor", f"{b} == 0 ? 1 : {b}")
            return self.said("quotient", f"({self.type})({a} / {divisor})")
        divisor = self.said("divisor", choice(f"({b} == 0) | ({b} == -1)", "1", b))
        negative = f"({self.type})(0 - ({self._unsigned}){a})"  # the smallest by -1 is itself
        return self.said("quotient", f"{b} == -1 ? {negative} : ({self.type})({a} / {divisor})")

    def _wide(self, term: Term) -> str:
        return self(term.arguments[0])

    _narrow = _wide


class Floats(Calculated):
    """C's own float and double."""

    @property
    def _suffix(self) -> str:
        return "f" if self.kind is DType.FLOAT else ""

    def number(self, value: Any) -> str:
        """Every bit of it, but for a NaN, of which any will do."""
        text = format_float(value)
        if "nan" in text:
            return f'__builtin_nan{self._suffix}("")'
        return text.replace("inf", f"__builtin_inf{self._suffix}()") if "inf" in text else text + self._suffix

    def calculated(self, term: Term, noun: str, sign: str) -> str:
        """One operation, one rounding."""
        return self.said(noun, f" {sign} ".join(self.both(term)))

    def _divide(self, term: Term) -> str:
        return self.calculated(term, "quotient", "/")

    def _negate(self, term: Term) -> str:
        return self.said("negative", f"-({self(term.arguments[0])})")

    def _absolute(self, term: Term) -> str:
        return self.said("magnitude", f"__builtin_fabs{self._suffix}({self(term.arguments[0])})")

    def _root(self, term: Term) -> str:
        return self.said("root", f"__builtin_sqrt{self._suffix}({self(term.arguments[0])})")

    def _left_over(self, term: Term) -> str:
        return self.said("rest", f"__builtin_fmod{self._suffix}({', '.join(self.both(term))})")

    def _rounded_down(self, term: Term) -> str:
        self.include("shared/rounding.h")
        return self.said("below", f"rounded_down_{self.kind}({self(term.arguments[0])})")

    def _is_nan(self, term: Term) -> str:
        x = self(term.arguments[0])
        return self.truth(term, f"{x} != {x}")

    def _is_minus_zero(self, term: Term) -> str:
        x = self(term.arguments[0])
        return self.truth(term, f"({x} == 0) & (__builtin_signbit({x}) != 0)")

    def _wide(self, term: Term) -> str:
        return self(term.arguments[0])

    _narrow = _wide


class Halves(Calculated):
    """binary16 as bits: each number is converted once to a float, and every operation rounds back.

    With the 24 bits of a float, the second rounding of a sum, product, quotient or root changes nothing.
    """

    includes = ('#include "shared/elements.h"', '#include "shared/half.h"')

    def __init__(self, kind: DType, names: dict[str, str], scalars: Sequence[str]) -> None:
        """Begin with no statement."""
        super().__init__(kind, names, scalars)
        self._floats: dict[Term, str] = {}
        self._wides: dict[Term, bool] = {}

    def number(self, value: Any) -> str:
        """The bits."""
        return f"{int(value.view('u2')):#06x}"

    def float(self, term: Term) -> str:
        """A number as a float: what is wide is one already."""
        if term not in self._floats:
            held = self(term)
            if not self._is_wide(term):
                noun = f"{held}_wide" if held.isidentifier() else "wide"
                held = self.said(noun, f"half_to_float({held})", "float")
            self._floats[term] = held
        return self._floats[term]

    def _is_wide(self, term: Term) -> bool:
        """Whether a number stays wide; what is shared is asked once, as it may occur twice at every level."""
        found = self._wides.get(term)
        if found is None:
            numbers = (each for each in term.arguments if each.sort is Sort.NUMBER)
            by_word = term.word == "wide" if term.word in ("wide", "narrow") else None
            found = any(map(self._is_wide, numbers)) if by_word is None else by_word
            self._wides[term] = found and term.sort is Sort.NUMBER
        return self._wides[term]

    def rounded(self, term: Term, noun: str, expression: str) -> str:
        """The result of an operation on floats: rounded to a half, unless it is to stay wide."""
        if self._is_wide(term):
            return self.said(noun, expression, "float")
        return self.said(noun, f"float_to_half({expression})")

    def compared(self, term: Term, sign: str) -> str:
        """Compare floats."""
        return f" {sign} ".join(map(self.float, term.arguments))

    def calculated(self, term: Term, noun: str, sign: str) -> str:
        """One operation of floats."""
        return self.rounded(term, noun, f" {sign} ".join(map(self.float, term.arguments)))

    def _select(self, term: Term) -> str:
        if not self._is_wide(term):
            return super()._select(term)
        condition, chosen, otherwise = term.arguments
        text = choice(self(condition), self.float(chosen), self.float(otherwise))
        return self.said("chosen", text, "float")

    def _divide(self, term: Term) -> str:
        return self.calculated(term, "quotient", "/")

    def _negate(self, term: Term) -> str:
        (x,) = term.arguments
        if self._is_wide(x):
            return self.said("negative", f"-{self(x)}", "float")
        return self.said("negative", f"{self(x)} ^ 0x8000")

    def _absolute(self, term: Term) -> str:
        (x,) = term.arguments
        if self._is_wide(x):
            return self.said("magnitude", f"__builtin_fabsf({self(x)})", "float")
        return self.said("magnitude", f"{self(x)} & 0x7fff")

    def _root(self, term: Term) -> str:
        return self.rounded(term, "root", f"__builtin_sqrtf({self.float(term.arguments[0])})")

    def _left_over(self, term: Term) -> str:
        given = ", ".join(map(self.float, term.arguments))
        return self.rounded(term, "rest", f"__builtin_fmodf({given})")

    def _rounded_down(self, term: Term) -> str:
        self.include("shared/rounding.h")
        return self.rounded(term, "below", f"rounded_down_float({self.float(term.arguments[0])})")

    def _is_nan(self, term: Term) -> str:
        x = self.float(term.arguments[0])
        return self.truth(term, f"{x} != {x}")

    def _is_minus_zero(self, term: Term) -> str:
        x = self.float(term.arguments[0])
        return self.truth(term, f"({x} == 0) & (__builtin_signbit({x}) != 0)")

    def _wide(self, term: Term) -> str:
        return self.said("wide", f"half_to_float({self(term.arguments[0])})", "float")

    def _narrow(self, term: Term) -> str:
        return self.said("narrow", f"float_to_half({self.float(term.arguments[0])})")


_WRITERS: dict[DType, type[Numbers]] = {
    DType.FLOAT16: Halves,
    DType.FLOAT: Floats,
    DType.DOUBLE: Floats,
    **dict.fromkeys(INTEGERS, Integers),
}
