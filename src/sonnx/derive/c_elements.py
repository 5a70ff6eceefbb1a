"""One element of an element-wise definition as statements in C that have no branches.

Each select and each operation is a statement of its own: what it compares is there before, so compilers make
vectors of the loop; and no product stands beside a sum, so none contracts them.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonnx.derive.c_types import choice
from sonnx.derive.literals import literal
from sonnx.derive.pieces import element_bytes, word_bytes
from sonnx.derive.tracing import suited
from sonnx.derive.walking import methods
from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.literals import format_float
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import compares, parts, without_names

C_TYPES = {
    DType.FLOAT16: "uint16_t",
    DType.FLOAT: "float",
    DType.DOUBLE: "double",
    **{dtype: f"{dtype}_t" for dtype in INTEGERS},
}
# Names that the text around the statements has, and those of C that an operand may be called.
_TAKEN = frozenset(
    (
        *("to", "count", "i", "p", "operands", "task", "rank", "begin", "done", "part", "word", "element"),
        *("some", "default", "register", "double", "float", "int", "long", "short", "signed", "unsigned"),
    )
)


class NoWordError(Exception):
    """A definition says something that has no fast form here."""


@dataclass(frozen=True)
class Statements:
    """The inside of the loop over elements, and what stands around it.

    `element` is the type of the output's words, of which an element has `words`; `number` that of operands.
    `name` says for which elements all this is; `names` are those of operands in C.
    """

    name: str
    element: str
    number: str
    words: int
    names: dict[str, str]
    includes: tuple[str, ...]
    lines: tuple[str, ...]

    def type_of(self, sort: Sort) -> str:
        """The type in which the elements of an operand lie in memory."""
        return "uint8_t" if sort is Sort.TRUTH else self.number


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
        for each in parts(term)
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


class Numbers(ABC):
    """Statements over one element type; one method a word, which answers an expression in C."""

    words = 1
    includes: tuple[str, ...] = ('#include "shared/elements.h"',)

    def __init__(self, kind: DType, names: dict[str, str], scalars: Sequence[str]) -> None:
        """Begin with no statement."""
        self.kind = kind
        self.names = names
        self.scalars = scalars
        # The types of a number in statements and in memory.
        self.type = self.held = C_TYPES.get(kind, "")
        self.lines: list[str] = []
        self.to = "to"
        self._known: dict[Term, str] = {}
        self._uses: Counter[Term] = Counter()
        self._nouns: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """For which elements the statements are."""
        return str(self.kind)

    def answer_to(self, to: str) -> None:
        """Say where the result goes: `to` an array of that name, or by a `return`."""
        self.to = to

    def put(self, place: str, result: str) -> None:
        """The statement behind which nothing follows."""
        self.lines.append(f"return {result};" if self.to == "return" else f"{self.to}[{place}] = {result};")

    def statements(self, tree: Term) -> Statements:
        """All statements, the last of which writes the element."""
        everything = list(parts(tree))
        self._uses = Counter(argument for each in everything for argument in each.arguments)
        is_truth = tree.sort is Sort.TRUTH
        for each in everything:
            if each.word == "value" and each.data not in self.scalars:
                self.load(each)
        self.write(self(tree), is_truth)
        return self.finished(is_truth)

    def finished(self, is_truth: bool) -> Statements:
        """Everything together, indented as the inside of a loop."""
        return Statements(
            self.name,
            "uint8_t" if is_truth else self.held,
            self.type,
            self.words,
            self.names,
            self.includes,
            tuple(f"        {line}" for line in self.lines),
        )

    def load(self, value: Term) -> None:
        """Read an element at the present place; of scalars there is one, which the loop is given."""
        name = self.names[value.data]
        held = "uint8_t" if value.sort is Sort.TRUTH else self.type
        self.lines.append(f"const {held} {name} = from_{name}[i];")

    def write(self, result: str, is_truth: bool) -> None:
        """The last statement; a condition becomes a byte."""
        self.put("i", f"(uint8_t)({result})" if is_truth else result)

    def __call__(self, term: Term) -> str:
        """The expression of a term, after statements for what it is made of."""
        if term not in self._known:
            method = methods(type(self)).get(term.word)
            if method is None:
                raise NoWordError(term.word)
            self._known[term] = method(self, term)
        return self._known[term]

    def both(self, term: Term) -> tuple[str, str]:
        """The two arguments of a word."""
        first, second = map(self, term.arguments)
        return first, second

    def said(self, noun: str, expression: str, held: str | None = None) -> str:
        """A statement that gives an expression a name."""
        self._nouns[noun] += 1
        name = noun if self._nouns[noun] == 1 else f"{noun}{self._nouns[noun]}"
        if name in self.names.values():
            return self.said(noun, expression, held)
        self.lines.append(f"const {held or self.type} {name} = {expression};")
        return name

    def include(self, header: str) -> None:
        """Ask for a header beside those that every kernel has."""
        line = f'#include "{header}"'
        if line not in self.includes:
            self.includes = (*self.includes, line)

    def truth(self, term: Term, expression: str) -> str:
        """A condition; one that is asked for more than once has a name."""
        return self.said("is", expression, "int") if self._uses[term] > 1 else expression

    # --- what stands for something else -----------------------------------------------------------------

    def _value(self, term: Term) -> str:
        name = self.names[term.data]
        return f"{name} != 0" if term.sort is Sort.TRUTH else name

    def _stated(self, term: Term) -> str:
        return self(term.arguments[0])

    def _literal(self, term: Term) -> str:
        return self.number(literal(term, self.kind)[()])

    _lowest = _literal

    @abstractmethod
    def number(self, value: Any) -> str:
        """A number of the type as C writes it."""

    # --- choosing -----------------------------------------------------------------------------------------

    def _select(self, term: Term) -> str:
        condition, chosen, otherwise = map(self, term.arguments)
        return self.said("chosen", choice(condition, chosen, otherwise))

    def _less(self, term: Term) -> str:
        return self.truth(term, self.compared(term, "<"))

    def _less_equal(self, term: Term) -> str:
        return self.truth(term, self.compared(term, "<="))

    def _equal(self, term: Term) -> str:
        return self.truth(term, self.compared(term, "=="))

    def compared(self, term: Term, sign: str) -> str:
        """Two numbers compared."""
        first, second = self.both(term)
        return f"{first} {sign} {second}"

    def _both(self, term: Term) -> str:
        first, second = self.both(term)
        return self.truth(term, f"({first}) & ({second})")

    def _either(self, term: Term) -> str:
        first, second = self.both(term)
        return self.truth(term, f"({first}) | ({second})")

    def _opposite(self, term: Term) -> str:
        return self.truth(term, f"!({self(term.arguments[0])})")


class Bits(Numbers):
    """Elements that are only chosen: words of bits; conditions are masks, of which compilers make vectors.

    They do not read both of two elements where a branch would read one.
    """

    def __init__(self, kind: DType, names: dict[str, str], scalars: Sequence[str]) -> None:
        """Begin with no statement; statements on single words come behind those on the whole element."""
        super().__init__(kind, names, scalars)
        self.words = (element_bytes(kind) or 0) // word_bytes(kind)
        # `element` may be read where another type lies.
        self.type, self.held = "element", f"uint{8 * word_bytes(kind)}_t"
        self._whole: list[str] = []

    def answer_to(self, to: str) -> None:
        """Where elements are read elsewhere, they are words already."""
        super().answer_to(to)
        if to == "return":
            self.type = self.held

    @property
    def name(self) -> str:
        """The size alone matters."""
        word = word_bytes(self.kind)
        return f"{word}_bytes" if self.words == 1 else f"{self.words}x{word}_bytes"

    def load(self, value: Term) -> None:
        """Read a word of the element; conditions are read as masks, once for all words."""
        if value.sort is Sort.NUMBER:
            name = self.names[value.data]
            self.lines.append(f"const {self.type} {name} = from_{name}[{self._place}];")

    @property
    def _place(self) -> str:
        return "i" if self.words == 1 else "word"

    def finished(self, is_truth: bool) -> Statements:
        """Words of an element are an inner loop where there are several."""
        if self.words > 1:
            head = "for (int64_t word = i * WORDS; word < (i + 1) * WORDS; word++) {"
            self.lines = [head, *(f"    {line}" for line in self.lines), "}"]
        self.lines = [*self._whole, *self.lines]
        return super().finished(is_truth)

    def write(self, result: str, is_truth: bool) -> None:
        """The last statement; of a mask one bit."""
        self.put(
            self._place,
            f"(uint8_t)({result} & 1)"
            if is_truth and self.to == "return"
            else f"{result} & 1"
            if is_truth
            else result,
        )

    def _value(self, term: Term) -> str:
        name = self.names[term.data]
        if term.sort is Sort.TRUTH:
            held = name if term.data in self.scalars else f"from_{name}[i]"
            return self._mask(f"0 - ({self.type})({held} != 0)")
        if term.data in self.scalars and self.words > 1:
            return f"from_{name}[word - i * WORDS]"
        return name

    def _mask(self, expression: str) -> str:
        inner, self.lines = self.lines, self._whole
        name = self.said("is", f"({self.type})({expression})")
        self.lines = inner
        return name

    def _decided(self, term: Term) -> str:
        return self._mask("~0" if term.data else "0")

    def _select(self, term: Term) -> str:
        condition, chosen, otherwise = map(self, term.arguments)
        return self.said("chosen", f"({self.type})(({chosen} & {condition}) | ({otherwise} & ~{condition}))")

    def _both(self, term: Term) -> str:
        return self._mask(" & ".join(self.both(term)))

    def _either(self, term: Term) -> str:
        return self._mask(" | ".join(self.both(term)))

    def _opposite(self, term: Term) -> str:
        return self._mask(f"~{self(term.arguments[0])}")

    def number(self, value: Any) -> str:
        """The bits of a number."""
        return f"{int(value.view(f'u{value.dtype.itemsize}')):#x}"


class Calculated(Numbers):
    """What floats and integers have in common: an operation is a statement."""

    @abstractmethod
    def calculated(self, term: Term, noun: str, sign: str) -> str:
        """Two numbers and the sign between them."""

    def _add(self, term: Term) -> str:
        return self.calculated(term, "sum", "+")

    def _subtract(self, term: Term) -> str:
        return self.calculated(term, "difference", "-")

    def _multiply(self, term: Term) -> str:
        return self.calculated(term, "product", "*")


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
