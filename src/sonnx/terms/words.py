"""The words of definitions that Python has no sign for, and words that are defined by other words."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sonnx.terms.term import DefinitionError, Operand, Sort, Term, Truth, condition, make, number, truth

# The least element of the type's order: -∞ for floats, the smallest integer otherwise.
LOWEST = make("lowest")
# The ruling behind maxima and minima.
_ORDER = "D-ALL-10"
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Clause:
    """Which ruling decides a case, and what it says there, as a sentence; `integers` where they differ."""

    ruling: str
    text: str
    integers: str = ""

    @property
    def every(self) -> str:
        """What it says where no type is known."""
        return f"{self.text} Of integers: {self.integers}" if self.integers else self.text


def select(condition: Truth, chosen: Operand, otherwise: Operand) -> Term:
    """`chosen` where the condition holds, else `otherwise`, bit for bit."""
    return _select(condition, number(chosen), number(otherwise), None)


def _select(
    condition: Truth, chosen: Term, otherwise: Term, clauses: tuple[Clause, Clause | None] | None
) -> Term:
    if isinstance(condition, bool):
        return chosen if condition else otherwise
    return make("select", (truth(condition), chosen, otherwise), clauses)


@dataclass(frozen=True)
class When:
    """One case of a definition by cases; without a condition it is the last one."""

    condition: Truth
    value: Term
    clause: Clause


def when(condition: Truth, value: Operand, ruling: str, text: str, *, integers: str = "") -> When:
    """A case: its condition, its value, the ruling behind it and what that says, as a sentence."""
    return When(condition, number(value), Clause(ruling, text, integers))


def holds(meant: Truth, ruling: str, text: str, *, integers: str = "") -> Term:
    """A definition that gives a truth: the condition, the ruling behind it and what that says."""
    return make("stated", (condition(meant),), Clause(ruling, text, integers), Sort.TRUTH)


def otherwise(value: Operand, ruling: str, text: str, *, integers: str = "") -> When:
    """The last case."""
    return when(True, value, ruling, text, integers=integers)


def cases(*several: When) -> Term:
    """The value of the first case whose condition holds; each carries what decides it."""
    if not several or several[-1].condition is not True:
        raise DefinitionError("cases(...) ends with otherwise(value, ruling, text)")
    *first, last = several
    term, after = last.value, last.clause if first else None
    if after is None:
        return make("stated", (term,), last.clause)
    for case in reversed(first):
        term = _select(case.condition, case.value, term, (case.clause, after))
        after = None
    return term


def is_nan(x: Operand) -> Term:
    """Whether an element is a NaN; for reals and integers never."""
    return make("is_nan", (number(x),), sort=Sort.TRUTH)


def is_minus_zero(x: Operand) -> Term:
    """Whether an element is -0, which comparisons do not tell from +0; for reals and integers never."""
    return make("is_minus_zero", (number(x),), sort=Sort.TRUTH)


def absolute(x: Operand) -> Term:
    """The element without its sign."""
    return make("absolute", (number(x),))


def root(x: Operand) -> Term:
    """The square root, correctly rounded."""
    return make("root", (number(x),))


def truncated(a: Operand, b: Operand) -> Term:
    """The quotient of integers, rounded towards zero, modulo 2^n; a definition asks for no b that is 0."""
    return make("truncated", (number(a), number(b)))


def left_over(a: Operand, b: Operand) -> Term:
    """a - b·n, n the quotient of floats or reals rounded towards zero: exact, a zero has the sign of a.

    Of floats it is C's `fmod`: a NaN where a is infinite or b is 0, and a itself where b alone is infinite.
    """
    return make("left_over", (number(a), number(b)))


def rounded_down(x: Operand) -> Term:
    """The greatest integer that is not above an element; -0 stays, and so does what is no finite number."""
    return make("rounded_down", (number(x),))


def bits_and(a: Operand, b: Operand) -> Term:
    """The integer whose bits are set where both have them set, in two's complement."""
    return make("bits_and", (number(a), number(b)))


def bits_or(a: Operand, b: Operand) -> Term:
    """The integer whose bits are set where one of both has them set, or both have."""
    return make("bits_or", (number(a), number(b)))


def bits_xor(a: Operand, b: Operand) -> Term:
    """The integer whose bits are set where two differ."""
    return make("bits_xor", (number(a), number(b)))


def bits_not(x: Operand) -> Term:
    """The integer with every bit the other way."""
    return make("bits_not", (number(x),))


def shifted_left(x: Operand, places: Operand) -> Term:
    """The bits of an unsigned integer so many places up; what leaves its type is lost, all of it at last."""
    return make("shifted_left", (number(x), number(places)))


def shifted_right(x: Operand, places: Operand) -> Term:
    """The bits of an unsigned integer so many places down; what leaves below is lost, all of it at last."""
    return make("shifted_right", (number(x), number(places)))


def wide(x: Operand) -> Term:
    """An element in the type in which sums are made: float for float16, else its own (D-CONV-6)."""
    return make("wide", (number(x),))


def narrow(x: Operand) -> Term:
    """The way back, with one rounding."""
    return make("narrow", (number(x),))


def plus_product(total: Operand, a: Operand, b: Operand) -> Term:
    """total + a·b: the product rounded, then the sum; or one rounding in the mode `fused` (D-CONV-6)."""
    return make("plus_product", (number(total), number(a), number(b)))


def converted(x: Operand) -> Term:
    """An element in the element type of the output (D-XLA-3)."""
    return make("converted", (number(x),))


@dataclass(frozen=True, eq=False)
class Named:
    """A word that is defined by others and keeps its name: a function in C, an operator name on a page.

    `calculates` says that a NaN it gives is calculated, so any NaN will do (D-ALL-4). `symbol` is LaTeX.
    """

    name: str
    parameters: tuple[str, ...]
    body: Term
    symbol: str
    calculates: bool


def word(symbol: str, *, calculates: bool = False) -> Callable[[Callable[..., Term]], Callable[..., Term]]:
    """Give a function of elements its name in trees."""

    def named(defined: Callable[..., Term]) -> Callable[..., Term]:
        parameters = tuple(inspect.signature(defined).parameters)
        body = defined(*(value(name) for name in parameters))
        said = Named(defined.__name__, parameters, body, symbol, calculates)

        def apply(*arguments: Operand) -> Term:
            if len(arguments) != len(parameters):
                raise DefinitionError(f"{said.name} takes {', '.join(parameters)}")
            return make("named", tuple(map(number, arguments)), said)

        apply.__doc__, apply.__name__ = defined.__doc__, defined.__name__
        return apply

    return named


def value(name: str, sort: Sort = Sort.NUMBER) -> Term:
    """An element that an element-wise definition takes, by the name of its operand."""
    return make("value", data=name, sort=sort)


@word(r"\max", calculates=True)
def maximum(a: Term, b: Term) -> Term:
    """The larger of two; a NaN wins, and of equal ones the later (D-ALL-10)."""
    return cases(
        when(is_nan(a), a, _ORDER, "A NaN among the elements gives a NaN."),
        when(is_nan(b), b, _ORDER, "A NaN among the elements gives a NaN."),
        when(b < a, a, _ORDER, "The larger of two elements comes out."),
        otherwise(b, _ORDER, "Of equal elements, zeros of either sign among them, the later comes out."),
    )


@word(r"\min", calculates=True)
def minimum(a: Term, b: Term) -> Term:
    """The smaller of two; a NaN wins, and of equal ones the later (D-ALL-10)."""
    return cases(
        when(is_nan(a), a, _ORDER, "A NaN among the elements gives a NaN."),
        when(is_nan(b), b, _ORDER, "A NaN among the elements gives a NaN."),
        when(a < b, a, _ORDER, "The smaller of two elements comes out."),
        otherwise(b, _ORDER, "Of equal elements, zeros of either sign among them, the later comes out."),
    )


def to_nearest(x: Term) -> Term:
    """The nearest integer, of two as near the even one; a zero keeps the sign of the element (D-ROUND)."""
    below, above = rounded_down(x), -rounded_down(-x)
    rest, half = x - below, below * _HALF
    return cases(
        when(rest < _HALF, below, "D-ROUND", "Nearer to the integer below, or an integer itself: that one."),
        when(rest > _HALF, above, "D-ROUND", "Nearer to the integer above: that one; of zeros -0."),
        when(
            rounded_down(half) == half,
            below,
            "D-ROUND",
            "As near to both, and that below is even; or infinite.",
        ),
        otherwise(above, "D-ROUND", "As near to both, and that above is even; or a NaN."),
    )
