"""Bodies of C functions and of logic functions: what is used twice has a name, and cases stand one by one."""

import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator

from sonnx.derive.c_types import REALS
from sonnx.derive.plain_expressions import LogicWriter
from sonnx.derive.plain_pieces import EQUALITY, OR, ORDER, Piece
from sonnx.derive.plain_terms import ARITHMETIC, Writer
from sonnx.derive.ranges import range_of
from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import asks_indices, parts
from sonnx.terms.words import Clause

WIDTH = 110
_STEP = "    "
# So many cases may stand on one line.
_FEW = 2
_NAMES = {
    "add": "sum",
    "subtract": "difference",
    "multiply": "product",
    "divide": "quotient",
    "truncated": "quotient",
    "left_over": "rest",
    "rounded_down": "below",
    "bits_and": "bits",
    "bits_or": "bits",
    "bits_xor": "bits",
    "bits_not": "bits",
    "shifted_left": "shifted",
    "shifted_right": "shifted",
    "negate": "opposite",
    "absolute": "magnitude",
    "root": "root",
    "plus_product": "sum",
    "narrow": "rounded",
    "converted": "converted",
}
_COMPARING = frozenset(("less", "less_equal", "equal", "is_nan"))
# What looks at the value of a float16, not at its bits.
_VALUED = (ARITHMETIC - {"truncated"}) | _COMPARING | {"wide"}
_UNNAMED = frozenset(("literal", "lowest", "value", "carried", "wide", "stated"))
# Words of C and ACSL, and names that emitted C has anyway.
_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int "
    "long register restrict return short signed sizeof static struct switch typedef union unsigned void "
    "volatile while"
)
_ACSL = "asm bool boolean complex integer logic main predicate real result"
_CALLED = (
    "fabs fabsf fma fmaf sqrt sqrtf floor_of_float floor_of_double float_of_half half_of_float "
    "nearest_half value_of_half float_of_bfloat16 "
    "bfloat16_of_float nearest_bfloat16 value_of_bfloat16 odd_float beside_double left_over_of_float "
    "left_over_of_double"
)
_TAKEN = frozenset(f"{_C} {_ACSL} {_CALLED}".split())
_INT32 = range(-(2**31), 2**31)


class Names:
    """Names of one function, each given once."""

    def __init__(self) -> None:
        """Begin with the names that nobody may have."""
        self._used: set[str] = set(_TAKEN)

    def fresh(self, wanted: str) -> str:
        """A name that nobody has, like the wanted one."""
        name, number = wanted, 1
        while name in self._used:
            number += 1
            name = f"{wanted}_" if wanted in _TAKEN and number == 2 else f"{wanted}_{number}"
        self._used.add(name)
        return name


def comment(clause: Clause | None, kind: DType, pad: str) -> list[str]:
    """What decides a case of elements of a type, as a comment."""
    if clause is None:
        return []
    text = clause.integers if kind in INTEGERS and clause.integers else clause.text
    return remark(f"{clause.ruling}: {text}", pad)


def remark(text: str, pad: str = "") -> list[str]:
    """A sentence as a comment."""
    said = f"/* {ascii_text(text)} */"
    return textwrap.wrap(said, WIDTH, initial_indent=pad, subsequent_indent=f"{pad}   ")


def said_of(function: Callable[..., object] | None) -> list[str]:
    """What a definition says of itself, as a comment."""
    text = " ".join((inspect.getdoc(function) or "").split())
    return remark(text) if text else []


# Signs of sentences that have a spelling in ASCII.
_SPELLED = {
    0x2212: "-",
    0x2013: "-",
    0x221E: "infinity",
    0xB7: "*",
    0xD7: "x",
    0x2264: "<=",
    0x2265: ">=",
    0x2260: "!=",
}


def ascii_text(text: str) -> str:
    """A sentence as a comment can hold it: nothing ends the comment, and every character is ASCII."""
    spelled = "".join(c if c.isascii() else _SPELLED.get(ord(c), f"<U+{ord(c):04X}>") for c in text)
    return spelled.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def head(kind: str, name: str, parameters: list[str]) -> list[str]:
    """The beginning of a logic function, on several lines where it is long; brackets only with parameters."""
    if not parameters:
        return [f"/*@ logic {kind} {name} ="]
    lines = [f"/*@ logic {kind} {name}("]
    for each in parameters:
        end = ") =" if each is parameters[-1] else ", "
        if len(lines[-1]) + len(each) + len(end) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * 8)
        lines[-1] += each + end
    return lines


class Body:
    """Writes bodies of C, or of ACSL; the writer learns what gets a name. `index` is the type of indices."""

    def __init__(
        self, writer: Writer, names: Names, *, is_logic: bool = False, index: str = "int32_t"
    ) -> None:
        """Begin a body, in which a name is given once."""
        self.writer, self.names, self._logic, self._index = writer, names, is_logic, index

    def returned(self, term: Term, wanted: DType, pad: str) -> list[str]:
        """The statements of a function that returns an element."""
        return self._block(term, wanted, pad, lambda text: f"return {text};", ends=True)

    def assigned(self, name: str, term: Term, wanted: DType, pad: str) -> list[str]:
        """The statements that give a variable another value."""
        return self._block(term, wanted, pad, lambda text: f"{name} = {text};", ends=False)

    def defined(self, term: Term, wanted: DType, pad: str) -> list[str]:
        """The text of a logic function, without the semicolon."""
        while term.word == "stated":
            (term,) = term.arguments
        lines = self._shared(term, wanted, pad)
        text = f"({self.writer.truth(term).text}) ? 1 : 0" if term.sort is Sort.TRUTH else ""
        if text:
            return [*lines, pad + text]
        cases = []
        while term.word in ("select", "stated") and term not in self.writer.known:
            if term.word == "select":
                condition, a, b = term.arguments
                chosen = self.writer.held(a, wanted).within(OR)
                cases.append(f"{self.writer.truth(condition).within(OR)} ? {chosen}")
                term = b
            else:
                (term,) = term.arguments
        cases.append(self.writer.held(term, wanted).text)
        few = len(cases) <= _FEW and len(" : ".join(cases)) < WIDTH - len(pad)
        return [*lines, pad + (" : " if few else f"\n{pad}: ").join(cases)]

    def _block(
        self, term: Term, wanted: DType, pad: str, finish: Callable[[str], str], *, ends: bool
    ) -> list[str]:
        kind = self.writer.setting.element
        if term.word == "stated":
            inner = self._block(term.arguments[0], wanted, pad, finish, ends=ends)
            return [*comment(term.data, kind, pad), *inner]
        lines = [*self._apart(term, pad), *self._shared(term, wanted, pad)]
        if term.sort is Sort.TRUTH:
            return [*lines, pad + finish(f"{self.writer.truth(term).within(OR)} ? 1 : 0")]
        text = pad + finish(self.writer.held(term, wanted).text)
        if term.word != "select" or term in self.writer.known or not self._branches(term, text):
            return [*lines, text]
        condition, a, b = term.arguments
        first, last = term.data or (None, None)
        lines += comment(first, kind, pad)
        lines.append(f"{pad}if ({self.writer.truth(condition).text}) {{")
        lines += [*self._inner(a, wanted, pad + _STEP, finish, ends=ends)]
        if ends:
            lines.append(f"{pad}}}")
            return [*lines, *comment(last, kind, pad), *self._inner(b, wanted, pad, finish, ends=ends)]
        lines.append(f"{pad}}} else {{")
        lines += comment(last, kind, pad + _STEP)
        return [*lines, *self._inner(b, wanted, pad + _STEP, finish, ends=ends), f"{pad}}}"]

    def _apart(self, term: Term, pad: str) -> list[str]:
        """That divisors are not 0, as a choice: analyses by intervals know that of either side alone."""
        kind = self.writer.setting.element
        if kind in UNSIGNED or not _divides(term):
            return []
        divisors = [each.arguments[1] for each in self.always(term) if each.word == "truncated"]
        held = [self.writer.held(each, kind).within(ORDER) for each in divisors]
        return [f"{pad}//@ assert apart: {each} < 0 || {each} > 0;" for each in dict.fromkeys(held)]

    def _inner(
        self, term: Term, wanted: DType, pad: str, finish: Callable[[str], str], *, ends: bool
    ) -> list[str]:
        """A block of its own: what it names is known in it alone."""
        known, values = dict(self.writer.known), dict(self.writer.values)
        lines = self._block(term, wanted, pad, finish, ends=ends)
        self.writer.known, self.writer.values = known, values
        return lines

    def _branches(self, term: Term, text: str) -> bool:
        """Whether cases are written one by one: those with rulings, chains, and what fits on no line."""
        branches = term.arguments[1:]
        chain = any(each.word in ("select", "stated") and each not in self.writer.known for each in branches)
        products = any(self._is_sealed(each, part) for each in self._parts(term) for part in each.arguments)
        return term.data is not None or chain or products or len(text) > WIDTH

    def always(self, term: Term) -> set[Term]:
        """The parts that are calculated whatever conditions say."""
        return {*self._parts(term, always=True)}

    def _parts(self, term: Term, *, always: bool = False) -> Iterator[Term]:
        """The parts that have no name yet, arguments first; those that are asked for in any case."""
        seen: set[Term] = set()

        def walk(each: Term) -> Iterator[Term]:
            if each in seen or each in self.writer.known:
                return
            seen.add(each)
            for argument in each.arguments[:1] if always and _guards(each) else each.arguments:
                yield from walk(argument)
            yield each

        return walk(term)

    def _shared(self, term: Term, wanted: DType, pad: str) -> list[str]:
        """Lines that name what is used twice, or had better stand alone."""
        uses: Counter[Term] = Counter()
        held: Counter[Term] = Counter({term: 1})
        valued: set[Term] = set()
        alone: set[Term] = set()
        for each in self._parts(term):
            for part in each.arguments:
                uses[part] += 1
                if each.word in _VALUED:
                    valued.add(part)
                else:
                    held[part] += 1
                if self._is_sealed(each, part):
                    alone.add(part)
        lines = []
        for each in [*self._parts(term)]:
            if each.sort is Sort.INDEX and each.arguments and uses[each] > 1:
                lines += self._declare(each, self._index, self.writer.index(each), pad, self.writer.known)
        for each in [*self._parts(term, always=not self._logic)]:
            if each.sort is not Sort.NUMBER or each.word in ("literal", "lowest", "wide", "stated"):
                continue
            kind = self.writer.kind(each) or wanted
            calculated = each.word not in _UNNAMED and each.word != "fold"
            half = kind is DType.FLOAT16
            often = held[each] + (each in valued) > 1 if half else uses[each] > 1
            nested = self._logic and half and each.word in ARITHMETIC
            if (
                calculated
                and each is not term
                and (often or (each in alone and (self._logic or not half)) or nested)
            ):
                name = self.writer.setting.c_name(kind)
                lines += self._declare(each, name, self.writer.held(each, kind), pad, self.writer.known)
            if half and each in valued and each not in self.writer.values and not self._logic:
                lines += self._declare(each, "float", self.writer.value(each, kind), pad, self.writer.values)
        return lines

    def _is_sealed(self, each: Term, part: Term) -> bool:
        """A product in a sum stands alone, so that no compiler contracts them, and so does a choice."""
        if each.sort is not Sort.NUMBER or (self.writer.kind(each) or DType.FLOAT) not in REALS:
            return False
        product = part.word == "multiply" and each.word in ("add", "subtract") and not self._logic
        return product or (part.word == "select" and each.word in ARITHMETIC | {"wide"})

    def _declare(self, term: Term, kind: str, piece: Piece, pad: str, into: dict[Term, Piece]) -> list[str]:
        name = self.names.fresh(self._hint(term, is_value=into is self.writer.values))
        into[term] = Piece(name)
        if self._logic:
            return [f"{pad}\\let {name} = {piece.text};"]
        return [f"{pad}const {kind} {name} = {piece.text};", *self._meant(term, name, pad)]

    def _meant(self, term: Term, name: str, pad: str) -> list[str]:
        """That what was made of a long quotient is what the contract says: provers do not see it by parts."""
        kind = self.writer.setting.element
        if kind is not DType.INT64 or all(each.word != "truncated" for each in parts(term)):
            return []
        meant = LogicWriter(self.writer.setting).held(term, kind).within(EQUALITY)
        return [f"{pad}//@ assert meant: {name} == {meant};"]

    def _hint(self, term: Term, *, is_value: bool) -> str:
        """What a reader would call it."""
        if is_value and term in self.writer.known:
            return f"{self.writer.known[term].text}_value"
        if term.sort is Sort.INDEX:
            first = next(each for each in parts(term) if each.word == "index")
            return f"at_{first.data}"
        if term.word in _NAMES:
            return _NAMES[term.word]
        if term.word == "named":
            return str(term.data.name)
        sources = {each.data for each in self._every(term) if each.word in ("value", "read", "read_flat")}
        if term.word == "select" and len(sources) != 1:
            return "chosen"
        (name,) = sources or {term.data}
        shorter = str(name).lower()
        return shorter if shorter != name else f"{name}_value" if is_value else f"{name}_element"

    def _every(self, term: Term) -> Iterator[Term]:
        if term.word == "select":
            for branch in term.arguments[1:]:
                yield from self._every(branch)
        else:
            yield term


def _guards(term: Term) -> bool:
    """Whether a choice keeps something from being calculated that must not be: a read outside, a quotient."""
    if term.word != "select":
        return False
    condition, *branches = term.arguments
    return asks_indices(condition) or any(map(_divides, branches))


def _divides(term: Term) -> bool:
    return term.word == "truncated" or any(map(_divides, term.arguments))


def index_type(term: Term, ranges: dict[str, tuple[int, int]]) -> str:
    """The C type that holds every index of a term, wherever it lies."""
    waiting, seen = [term], set()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        waiting += each.arguments
        if each.sort is Sort.INDEX:
            low, high = range_of(each, ranges)
            if low not in _INT32 or high not in _INT32:
                return "int64_t"
    return "int32_t"
