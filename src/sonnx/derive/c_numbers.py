"""What statements in C are made of: an expression for each word, over elements of any type or their bits.

Each select and each operation is a statement of its own: what it compares is there before, so compilers make
vectors of the loop; and no product stands beside a sum, so none contracts them.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.derive.c_types import choice
from sonnx.derive.literals import literal
from sonnx.derive.pieces import element_bytes, word_bytes
from sonnx.derive.walking import methods
from sonnx.model.dtype import INTEGERS, DType
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import parts

C_TYPES = {
    DType.FLOAT16: "uint16_t",
    DType.FLOAT: "float",
    DType.DOUBLE: "double",
    **{dtype: f"{dtype}_t" for dtype in INTEGERS},
}


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
