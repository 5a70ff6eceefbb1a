"""Terms as expressions: what C and ACSL have in common, word by word."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sonnx.derive.c_types import C_TYPES, REALS
from sonnx.derive.conversion_steps import BITS
from sonnx.derive.literals import literal
from sonnx.derive.plain_pieces import (
    ADDITIVE,
    AND,
    EQUALITY,
    OR,
    ORDER,
    PRODUCT,
    Piece,
    binary,
    call,
    choice,
    joined,
)
from sonnx.derive.ranges import Ranges, followed, range_of
from sonnx.derive.tracing import suited
from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.numeric.convert import PART
from sonnx.terms.term import Sort, Term, Truth, lift, make
from sonnx.terms.walking import rebuilt
from sonnx.terms.words import Named, select

_INDEX_SIGNS = {
    "subtract": ("-", ADDITIVE),
    "multiply": ("*", PRODUCT),
    "floor": ("/", PRODUCT),
    "remainder": ("%", PRODUCT),
}
COMPARISONS = {"less": ("<", ORDER), "less_equal": ("<=", ORDER), "equal": ("==", EQUALITY)}
ARITHMETIC = frozenset(
    (
        "add",
        "subtract",
        "multiply",
        "divide",
        "root",
        "truncated",
        "left_over",
        "rounded_down",
        "plus_product",
    )
)


class NoPlainError(ValueError):
    """Something for which there is no plain C; the text says what."""


@dataclass(frozen=True)
class Setting:
    """What is known of the terms of a node: its types, the shapes and arrays of operands, its indices.

    `element` is the operator's type, `result` that of the output. Values and indices are written as they are
    called, unless `called` has another name.
    """

    element: DType
    result: DType
    prefix: str = ""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    arrays: Mapping[str, str] = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)

    def c_name(self, dtype: DType) -> str:
        """The type of elements in C."""
        return C_TYPES[dtype].spelled(self.prefix)

    def logic_name(self, dtype: DType) -> str:
        """The same in logic functions, where what C holds as an integer is any integer.

        WP takes for granted that a function with a result of a type of C's stays within it, whatever it is
        given: for one that hands on what it finds in memory that is a contradiction.
        """
        kind = C_TYPES[dtype]
        return kind.spelled(self.prefix) if kind.computed else "integer"


def plainly(term: Term, element: DType, *, fused: bool) -> Term:
    """The same element by words that C has for a type: sums are wide where float16 is, and fused if asked."""

    def change(each: Term, made: tuple[Any, ...]) -> Truth:
        # What decides a case is said where cases stand, not within what is calculated.
        arguments = made if each.word in ("select", "stated") else tuple(map(_unstated, made))
        if each.word in ("wide", "narrow") and element is not DType.FLOAT16:
            found: Term = arguments[0]
            return found
        if each.word == "plus_product" and (not fused or element in INTEGERS):
            total, a, b = arguments
            return make("add", (total, make("multiply", (a, b))))
        return followed(each, arguments)

    found = rebuilt(suited(term, element, named=True), change)
    assert isinstance(found, Term)  # what is decided is no element
    return found


def _unstated(made: Any) -> Any:
    return made.arguments[0] if isinstance(made, Term) and made.word == "stated" else made


class Writer(ABC):
    """Writes terms as expressions; `known` has those that are written otherwise, by name or as a call.

    An element of float16 is held as bits and calculated with as a float: `values` has floats that are known.
    `words` and `helpers` collect what the expressions call.
    """

    def __init__(self, setting: Setting, carried: DType | None = None) -> None:
        """Begin with nothing known; `carried` is the type of a fold's running value."""
        self.setting = setting
        self.carried = carried
        self.known: dict[Term, Piece] = {}
        self.values: dict[Term, Piece] = {}
        self.words: dict[str, Named] = {}
        self.helpers: set[str] = set()

    # What the languages say differently.
    @abstractmethod
    def literal(self, value: Any, dtype: DType) -> Piece:
        """A number of a type; bits for float16."""

    @abstractmethod
    def widened(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """The float that bits stand for."""

    @abstractmethod
    def narrowed(self, a: Piece, dtype: DType = DType.FLOAT16) -> Piece:
        """The bits of the nearest number to a float."""

    @abstractmethod
    def odd(self, a: Piece) -> Piece:
        """A double as a float that lies on its side of every number with fewer bits."""

    @abstractmethod
    def whole(self, dtype: DType, a: Piece) -> Piece:
        """A float, cut off, as an integer."""

    @abstractmethod
    def calculated(self, term: Term, real: str, arguments: list[Piece]) -> Piece:
        """An operation on floats."""

    @abstractmethod
    def counted(self, word: str, dtype: DType, a: Piece, b: Piece) -> Piece:
        """An operation on integers, which wrap (D-ALL-6)."""

    @abstractmethod
    def bitwise(self, word: str, dtype: DType, arguments: list[Piece]) -> Piece:
        """Integers bit by bit, in two's complement."""

    @abstractmethod
    def compared(self, word: str, real: str, a: Piece, b: Piece) -> Piece:
        """A comparison of floats."""

    @abstractmethod
    def unordered(self, real: str, a: Piece) -> Piece:
        """Whether a float is a NaN."""

    @abstractmethod
    def decided(self, *, holds: bool) -> Piece:
        """A condition that is known beforehand."""

    @abstractmethod
    def negated(self, condition: Term) -> Piece:
        """That a condition does not hold."""

    @abstractmethod
    def masked(self, sign: str, bits: int, a: Piece) -> Piece:
        """The bits of a float16 with its sign changed."""

    @abstractmethod
    def cast(self, dtype: DType, a: Piece) -> Piece:
        """A number in another type of C's."""

    def kind(self, term: Term) -> DType | None:
        """The type of a number; None for one that takes that of its neighbours, as literals do."""
        match term.word:
            case "literal" | "lowest":
                return None
            case "carried":
                return self.carried
            case "wide":
                found = self.kind(term.arguments[0]) or self.setting.element
                return DType.FLOAT if found is DType.FLOAT16 else found
            case "narrow" | "value" | "read" | "read_flat" | "named":
                return self.setting.element
            case "converted":
                step_to: DType = term.data
                return step_to
            case "select":
                among = term.arguments[1:]
            case _:
                among = term.arguments
        return next((kind for each in among if (kind := self.kind(each))), None)

    def held(self, term: Term, wanted: DType) -> Piece:
        """An element as it lies in memory, of the type `wanted` where nothing else decides."""
        if term in self.known:
            return self.known[term]
        kind = self.kind(term) or wanted
        found: Piece = getattr(self, f"_number_{term.word}")(term, kind)
        return found

    def value(self, term: Term, wanted: DType) -> Piece:
        """The same in the type in which it is compared and calculated with."""
        if (self.kind(term) or wanted) is not DType.FLOAT16:
            return self.held(term, wanted)
        if term in self.values:
            return self.values[term]
        if term.word in ("literal", "lowest"):
            return self.literal(float(literal(term, DType.FLOAT16)), DType.FLOAT)
        return self.widened(self.held(term, DType.FLOAT16))

    def truth(self, term: Term) -> Piece:
        """A condition."""
        found: Piece = getattr(self, f"_truth_{term.word}")(term)
        return found

    def index(self, term: Term) -> Piece:
        """An index."""
        if term in self.known:
            return self.known[term]
        if term.word == "whole":
            return Piece(str(term.data)) if term.data >= 0 else Piece(str(term.data), ADDITIVE)
        if term.word == "index":
            return Piece(self.setting.called.get(term.data, term.data))
        a, b = term.arguments
        if term.word in ("floor", "remainder"):
            low, _ = range_of(a, self.setting.ranges)
            if low < 0:  # `/` and `%` round towards zero, indices are divided downwards
                steps = -(low // b.data)
                moved = a + steps * b.data
                return self.index(moved // b - steps if term.word == "floor" else moved % b)
        first, second = self.index(a), self.index(b)
        if term.word == "add":  # sums of indices are exact in any order
            return Piece(f"{first.within(ADDITIVE)} + {second.within(ADDITIVE)}", ADDITIVE)
        return binary(*_INDEX_SIGNS[term.word], first, second)

    # Numbers, one method a word.
    def _number_literal(self, term: Term, kind: DType) -> Piece:
        made = literal(term, kind)
        return self.literal(made.view("u2").item() if kind in BITS else made.item(), kind)

    _number_lowest = _number_literal

    def _number_value(self, term: Term, kind: DType) -> Piece:
        return Piece(self.setting.called.get(term.data, term.data))

    def _number_read(self, term: Term, kind: DType) -> Piece:
        place = lift(0, Sort.INDEX)
        for each, size in zip(term.arguments, self.setting.shapes[term.data], strict=True):
            place = place * size + each
        return self._at(term.data, place)

    def _number_read_flat(self, term: Term, kind: DType) -> Piece:
        return self._at(term.data, term.arguments[0])

    def _at(self, name: str, place: Term) -> Piece:
        return Piece(f"{self.setting.arrays[name]}[{self.index(place).text}]")

    def _number_select(self, term: Term, kind: DType) -> Piece:
        condition, a, b = term.arguments
        return choice(self.truth(condition), self.held(a, kind), self.held(b, kind))

    def _number_stated(self, term: Term, kind: DType) -> Piece:
        return self.held(term.arguments[0], kind)

    def _number_named(self, term: Term, kind: DType) -> Piece:
        said: Named = term.data
        self.words.setdefault(said.name, said)
        return call(word_name(said, kind), *(self.held(each, kind) for each in term.arguments))

    def _number_wide(self, term: Term, kind: DType) -> Piece:
        (x,) = term.arguments
        return self._number_literal(x, kind) if x.word == "literal" else self.value(x, self.setting.element)

    def _number_narrow(self, term: Term, kind: DType) -> Piece:
        return self.narrowed(self.held(term.arguments[0], DType.FLOAT))

    def _number_converted(self, term: Term, kind: DType) -> Piece:
        (x,) = term.arguments
        given = self.kind(x) or self.setting.element
        if PART.keys() & {given, kind}:
            raise NoPlainError(f"there is no plain C that converts {given} to {kind}")
        if given is DType.FLOAT16:  # a step to float, which may be known
            return self.value(x, given)
        made = self.held(x, given)
        if given in BITS:
            return self.widened(made, given)
        if kind in BITS:
            return self.narrowed(self.odd(made) if given is DType.DOUBLE else made, kind)
        return self.whole(kind, made) if given in REALS and kind in INTEGERS else self.cast(kind, made)

    def _operation(self, term: Term, kind: DType) -> Piece:
        if kind in REALS:
            made = self.calculated(term, REALS[kind], [self.value(each, kind) for each in term.arguments])
            return self.narrowed(made) if kind is DType.FLOAT16 else made
        if kind not in INTEGERS:
            raise NoPlainError(f"there is no plain C that calculates with {kind}")
        if term.word not in ("add", "subtract", "multiply", "truncated"):
            raise NoPlainError(f"there is no plain C for `{term.word}` of {kind}")
        a, b = (self.held(each, kind) for each in term.arguments)
        return self.counted(term.word, kind, a, b)

    _number_add = _number_subtract = _number_multiply = _number_divide = _operation
    _number_root = _number_truncated = _number_left_over = _operation
    _number_rounded_down = _number_plus_product = _operation

    def _bits(self, term: Term, kind: DType) -> Piece:
        if kind not in INTEGERS:
            raise NoPlainError(f"there is no plain C for `{term.word}` of {kind}")
        return self.bitwise(term.word, kind, [self.held(each, kind) for each in term.arguments])

    _number_bits_and = _number_bits_or = _number_bits_xor = _number_bits_not = _bits

    def _shifted(self, term: Term, kind: DType) -> Piece:
        if kind not in UNSIGNED:
            raise NoPlainError(f"there is no plain C for `{term.word}` of {kind}")
        x, places = (self.held(each, kind) for each in term.arguments)
        fewer = binary(*COMPARISONS["less"], places, self.literal(8 * C_TYPES[kind].width, kind))
        return choice(fewer, self.bitwise(term.word, kind, [x, places]), self.literal(0, kind))

    _number_shifted_left = _number_shifted_right = _shifted

    def _number_negate(self, term: Term, kind: DType) -> Piece:
        (x,) = term.arguments
        if kind is DType.FLOAT16:  # a NaN keeps its bits, but for the sign
            return self.masked("^", 0x8000, self.held(x, kind))
        if kind in REALS:
            return self.calculated(term, REALS[kind], [self.held(x, kind)])
        return self.counted("subtract", kind, self.literal(0, kind), self.held(x, kind))

    def _number_absolute(self, term: Term, kind: DType) -> Piece:
        (x,) = term.arguments
        if kind is DType.FLOAT16:
            return self.masked("&", 0x7FFF, self.held(x, kind))
        if kind in REALS:
            return self.calculated(term, REALS[kind], [self.held(x, kind)])
        return self.held(x if kind in UNSIGNED else select(x < 0, -x, x), kind)

    def _number_carried(self, term: Term, kind: DType) -> Piece:
        return Piece(self.setting.called.get(term.data, term.data))

    # Truths, one method a word.
    def byte(self, term: Term) -> Piece:
        """The byte that a truth from outside is held as."""
        found: Piece = getattr(self, f"_number_{term.word}")(term, DType.BOOL)
        return found

    def _flag(self, term: Term) -> Piece:
        return binary("!=", EQUALITY, self.byte(term), Piece("0"))  # every byte but 0 is true (D-WHERE-1)

    _truth_value = _truth_read = _truth_read_flat = _flag

    def operands(self, term: Term) -> tuple[str, Piece, Piece]:
        """What a comparison compares, and the float in which it does; empty for integers and indices."""
        a, b = term.arguments
        if a.sort is Sort.INDEX:
            return "", self.index(a), self.index(b)
        kind = self.kind(a) or self.kind(b) or self.setting.element
        if kind not in REALS and kind not in INTEGERS and kind is not DType.BOOL:
            raise NoPlainError(f"there is no plain C that compares {kind}")
        return REALS.get(kind, ""), self.value(a, kind), self.value(b, kind)

    def _comparison(self, term: Term) -> Piece:
        real, a, b = self.operands(term)
        return self.compared(term.word, real, a, b) if real else binary(*COMPARISONS[term.word], a, b)

    _truth_less = _truth_less_equal = _truth_equal = _comparison

    def looked_at(self, term: Term) -> tuple[str, Piece]:
        """What is asked whether it is a NaN, and the float in which it is."""
        (x,) = term.arguments
        kind = self.kind(x) or self.setting.element
        if kind not in REALS:
            raise NoPlainError(f"there is no plain C that looks for NaNs of {kind}")
        return REALS[kind], self.value(x, kind)

    def _truth_is_nan(self, term: Term) -> Piece:
        return self.unordered(*self.looked_at(term))

    def _truth_is_minus_zero(self, term: Term) -> Piece:
        raise NoPlainError("there is no plain C that tells -0 from +0")

    def _truth_decided(self, term: Term) -> Piece:
        return self.decided(holds=term.data)

    def _truth_both(self, term: Term) -> Piece:
        return joined("&&", AND, *map(self.truth, term.arguments))

    def _truth_either(self, term: Term) -> Piece:
        return joined("||", OR, *map(self.truth, term.arguments))

    def _truth_opposite(self, term: Term) -> Piece:
        return self.negated(term.arguments[0])


def word_name(said: Named, dtype: DType) -> str:
    """What a named word is called in C and in ACSL."""
    return f"{said.name}_{dtype}"
