"""Terms: what a definition becomes when it is called on values that write down what is done with them.

There are three sorts. A *number* is an element of the operator's type, or of the wider type in which it sums;
a *truth* is what comparisons give; an *index* is a mathematical integer. No term knows an element type:
literals are exact, and whoever prints or evaluates a term rounds them once.
"""

from collections.abc import Callable, Hashable
from enum import StrEnum
from fractions import Fraction
from math import copysign
from typing import Any, NoReturn
from weakref import WeakValueDictionary


class DefinitionError(TypeError):
    """A definition that says something the language has no word for; the text says what to write."""


class Sort(StrEnum):
    """What a term stands for."""

    NUMBER = "number"
    TRUTH = "truth"
    INDEX = "index"


_DECIDE = (
    "a definition decides by select(condition, a, b) or cases(...), not by `if`, `and`, `or`, `not`, `max`, "
    "`min`; write & | ~ between conditions, maximum(a, b) and minimum(a, b) for numbers"
)
_PYTHON = (
    "a term is no number of Python's; write root(x) or absolute(x) instead of functions of `math` or "
    "NumPy, and use sizes of shapes, not terms, where Python counts"
)


class Term:
    """A word with its arguments.

    Equal terms are one object, so `is` compares them, and what is shared stays shared. `==`, `<` and `<=`
    make terms of the sort truth, as in a formula.
    """

    __slots__ = ("__weakref__", "arguments", "data", "sort", "word")
    __array_ufunc__ = None

    word: str
    arguments: tuple["Term", ...]
    data: Any
    sort: Sort

    # By identity, as whoever defines equality anew must say.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """Print the tree in brackets, for people who look for a mistake in a definition."""
        data = "" if self.data is None else f" {self.data}"
        return f"({self.word}{data}{''.join(f' {each!r}' for each in self.arguments)})"

    def __bool__(self) -> NoReturn:
        raise DefinitionError(_DECIDE)

    def _no_number(self, *_: object) -> NoReturn:
        raise DefinitionError(_PYTHON)

    __float__ = __int__ = __complex__ = __index__ = __iter__ = __array__ = __round__ = _no_number

    def __add__(self, other: "Operand") -> "Term":
        return _arithmetic("add", self, other)

    def __radd__(self, other: "Operand") -> "Term":
        return _arithmetic("add", other, self)

    def __sub__(self, other: "Operand") -> "Term":
        return _arithmetic("subtract", self, other)

    def __rsub__(self, other: "Operand") -> "Term":
        return _arithmetic("subtract", other, self)

    def __mul__(self, other: "Operand") -> "Term":
        return _arithmetic("multiply", self, other)

    def __rmul__(self, other: "Operand") -> "Term":
        return _arithmetic("multiply", other, self)

    def __truediv__(self, other: "Operand") -> "Term":
        return _arithmetic("divide", self, other)

    def __rtruediv__(self, other: "Operand") -> "Term":
        return _arithmetic("divide", other, self)

    def __floordiv__(self, other: "Operand") -> "Term":
        return _arithmetic("floor", self, other)

    def __mod__(self, other: "Operand") -> "Term":
        return _arithmetic("remainder", self, other)

    def __neg__(self) -> "Term":
        return lift(0, Sort.INDEX) - self if self.sort is Sort.INDEX else make("negate", (number(self),))

    def __abs__(self) -> "Term":
        return make("absolute", (number(self),))

    def __lt__(self, other: "Operand") -> "Truth":
        return _compare("less", self, other)

    def __gt__(self, other: "Operand") -> "Truth":
        return _compare("less", other, self)

    def __le__(self, other: "Operand") -> "Truth":
        return _compare("less_equal", self, other)

    def __ge__(self, other: "Operand") -> "Truth":
        return _compare("less_equal", other, self)

    def __eq__(self, other: "Operand") -> "Truth":  # type: ignore[override]  # a formula's equality is a term
        return _compare("equal", self, other)

    def __ne__(self, other: "Operand") -> "Truth":  # type: ignore[override]  # (same)
        same = _compare("equal", self, other)
        return not same if isinstance(same, bool) else ~same

    def __and__(self, other: "Truth") -> "Truth":
        if isinstance(other, bool):
            return self if other else False
        return make("both", (truth(self), truth(other)), sort=Sort.TRUTH)

    __rand__ = __and__

    def __or__(self, other: "Truth") -> "Truth":
        if isinstance(other, bool):
            return True if other else self
        return make("either", (truth(self), truth(other)), sort=Sort.TRUTH)

    __ror__ = __or__

    def __invert__(self) -> "Term":
        return (
            self.arguments[0]
            if self.word == "opposite"
            else make("opposite", (truth(self),), sort=Sort.TRUTH)
        )


# What stands beside a term in arithmetic; a condition that is known already is Python's own.
Operand = Term | int | float | Fraction
Truth = Term | bool


class Size(int):
    """A size that may be any: an integer with a term, which stands in formulas, and a value as an example.

    It is equal to nothing but the same size, so a definition that asks whether it is 1 goes on as for any
    other; whatever else is asked of it is answered by the example.
    """

    term: Term

    def __new__(cls, value: int, term: Term) -> "Size":
        """The size of an example, with the term that it comes from."""
        made = super().__new__(cls, value)
        made.term = term
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.term is other.term

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.term)

    def __add__(self, other: int) -> Any:
        return _of_sizes("add", self, other)

    def __radd__(self, other: int) -> Any:
        return _of_sizes("add", other, self)

    def __sub__(self, other: int) -> Any:
        return _of_sizes("subtract", self, other)

    def __rsub__(self, other: int) -> Any:
        return _of_sizes("subtract", other, self)

    def __mul__(self, other: int) -> Any:
        return _of_sizes("multiply", self, other)

    def __rmul__(self, other: int) -> Any:
        return _of_sizes("multiply", other, self)

    def __floordiv__(self, other: int) -> Any:
        return _of_sizes("floor", self, other)

    def __rfloordiv__(self, other: int) -> Any:
        return _of_sizes("floor", other, self)

    def __mod__(self, other: int) -> Any:
        return _of_sizes("remainder", self, other)

    def __rmod__(self, other: int) -> Any:
        return _of_sizes("remainder", other, self)

    def __neg__(self) -> Any:
        return _of_sizes("subtract", 0, self)


def any_size(name: str, value: int) -> Size:
    """A size that may be any, by its name, with one that it is for example."""
    return Size(value, make("size", data=name, sort=Sort.INDEX))


def _of_sizes(word: str, a: int, b: int) -> Any:
    """What becomes of two sizes; whatever else stands beside one, such as a term, is asked itself."""
    if not (isinstance(a, int) and isinstance(b, int)):
        return NotImplemented
    first, second = lift(a, Sort.INDEX), lift(b, Sort.INDEX)
    term = _index_arithmetic(word, first, second)
    if word == "subtract" and first is second:
        term = lift(0, Sort.INDEX)
    elif word == "subtract" and first.word == "add" and first.arguments[1] is second:
        term = first.arguments[0]  # where one of several ends, less its size
    value: int = INDEX_WORDS[word](int(a), int(b))
    return value if term.word == "whole" else Size(value, term)


def integer(value: Any) -> int:
    """An integer of another library's as one of Python's; a size that may be any stays one."""
    return value if isinstance(value, Size) else int(value)


_TERMS: WeakValueDictionary[tuple[Hashable, ...], Term] = WeakValueDictionary()


def make(word: str, arguments: tuple[Term, ...] = (), data: Any = None, sort: Sort = Sort.NUMBER) -> Term:
    """The term of a word; `data` is what the word has beside its arguments."""
    # 1 and 1.0 and True are equal to Python, but not to whoever prints them.
    key = (word, *map(id, arguments), type(data), data, sort)
    found = _TERMS.get(key)
    if found is None:
        found = object.__new__(Term)
        found.word, found.arguments, found.data, found.sort = word, arguments, data, sort
        _TERMS[key] = found
    return found


def lift(value: Operand, sort: Sort = Sort.NUMBER) -> Term:
    """A number of Python's as an exact literal; a term as it is."""
    if isinstance(value, Term):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise DefinitionError(f"a definition is made of terms and numbers, not of {type(value).__name__}")
    if sort is Sort.INDEX:
        if not isinstance(value, int):
            raise DefinitionError(f"an index is an integer, not {value!r}")
        if isinstance(value, Size):
            return value.term
        return make("whole", data=value, sort=Sort.INDEX)
    if isinstance(value, Size):
        return make("counted", (value.term,))
    if isinstance(value, float) and value - value != 0:
        return make("literal", data="nan" if value != value else "inf" if value > 0 else "-inf")  # noqa: PLR0124  only a NaN differs from itself
    if isinstance(value, float) and value == 0 and copysign(1, value) < 0:
        return make("negate", (make("literal", data=Fraction(0)),))  # no fraction has the sign of -0
    return make("literal", data=Fraction(value))


def number(value: Operand) -> Term:
    """A term of the sort number; anything else is refused."""
    term = lift(value)
    if term.sort is not Sort.NUMBER:
        raise DefinitionError(f"an element is needed here, and this is of the sort {term.sort}: {term!r}")
    return term


def truth(value: Truth) -> Term:
    """A term of the sort truth; anything else is refused."""
    if not isinstance(value, Term) or value.sort is not Sort.TRUTH:
        what = f"of the sort {value.sort}" if isinstance(value, Term) else type(value).__name__
        raise DefinitionError(f"a condition is needed here, such as x < 0, and this is {what}: {value!r}")
    return value


def condition(value: Truth) -> Term:
    """A condition as a term, though it be one of Python's own, which is decided already."""
    return make("decided", data=value, sort=Sort.TRUTH) if isinstance(value, bool) else truth(value)


def _pair(a: Operand, b: Operand) -> tuple[Term, Term]:
    """Two numbers or two indices, of which a term among them decides the sort."""
    sort = next(each.sort for each in (a, b) if isinstance(each, Term))
    first, second = lift(a, sort), lift(b, sort)
    if first.sort is not second.sort or sort is Sort.TRUTH:
        raise DefinitionError(
            f"numbers go with numbers and indices with indices; here are {first.sort} and {second.sort}: "
            f"{first!r}, {second!r}"
        )
    return first, second


# What these words do, to integers as to indices.
INDEX_WORDS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
}


def _arithmetic(word: str, a: Operand, b: Operand) -> Term:
    first, second = _pair(a, b)
    if first.sort is Sort.INDEX:
        return _index_arithmetic(word, first, second)
    if word in ("floor", "remainder"):
        raise DefinitionError("// and % are for indices; write truncated(a, b) for a quotient of integers")
    return make(word, (first, second))


def _index_arithmetic(word: str, a: Term, b: Term) -> Term:
    """Known numbers are calculated at once, and what changes nothing is left out: people read the result."""
    if word == "divide":
        raise DefinitionError("indices are divided by // and %, which round down")
    x, y = (each.data if each.word == "whole" else None for each in (a, b))
    if word in ("floor", "remainder") and (not _is_known(b) or (y is not None and y <= 0)):
        raise DefinitionError("an index is divided by a positive number that is known")
    if x is not None and y is not None:
        return lift(INDEX_WORDS[word](x, y), Sort.INDEX)
    if (word in ("add", "subtract") and y == 0) or (word in ("multiply", "floor") and y == 1):
        return a
    if (word == "add" and x == 0) or (word == "multiply" and x == 1):
        return b
    if (word == "multiply" and 0 in (x, y)) or (word == "remainder" and y == 1):
        return lift(0, Sort.INDEX)
    if word == "add" and y is not None and y < 0:
        return make("subtract", (a, lift(-y, Sort.INDEX)), sort=Sort.INDEX)
    return make(word, (a, b), sort=Sort.INDEX)


def _is_known(term: Term) -> bool:
    """Whether an index is one number, however large, for all elements."""
    return term.word != "index" and all(map(_is_known, term.arguments))


def _compare(word: str, a: Operand, b: Operand) -> Truth:
    if word == "equal" and isinstance(a, Term) and isinstance(b, Term) and a.sort is b.sort is Sort.TRUTH:
        return (a & b) | (~a & ~b)
    first, second = _pair(a, b)
    x, y = first.data, second.data
    if first.word == second.word == "whole" or _are_fractions(first, second):
        return bool(x < y if word == "less" else x <= y if word == "less_equal" else x == y)
    return make(word, (first, second), sort=Sort.TRUTH)


def _are_fractions(a: Term, b: Term) -> bool:
    return a.word == b.word == "literal" and isinstance(a.data, Fraction) and isinstance(b.data, Fraction)
