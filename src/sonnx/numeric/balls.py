"""Real numbers that are no fractions: enclosures that become as narrow as somebody needs them (D-ALL-8).

A ball remembers what it was made of, so it can be calculated anew with more bits: a comparison, a rounding
or a divisor that cannot be decided doubles them, up to a limit. FLINT's arithmetic sees to it that an
enclosure always holds the real number.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from math import floor, inf, isqrt
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

DEFAULT_PRECISION = 128
# More bits are not tried: numbers that agree in so many are most likely equal, which no enclosure shows.
MOST_PRECISION = 8192
# So many bits of an enclosure may be lost before a digit is calculated anew.
_GUARD = 16
_DECIMALS_A_BIT = 0.30103
# Digits in messages.
_FEW = 12
# Behind the point more of them are not counted at a glance.
_MOST_ZEROS = 5

_precision: ContextVar[int] = ContextVar("_precision", default=DEFAULT_PRECISION)
# FLINT's precision is one for all threads.
_lock = RLock()

_Made = TypeVar("_Made")


class UndecidedError(ArithmeticError):
    """Real numbers are so close that the most bits do not tell what was asked of them; `likely` says why."""

    def __init__(self, text: str, likely: str = "both are equal") -> None:
        """Say what was asked."""
        super().__init__(text)
        self.likely = likely


class Ball:
    """A real number that is known by enclosures; it calculates and compares with fractions and its like.

    `enclosure()` gives the midpoint and the radius of one, as fractions; `str` shows digits that are certain.
    A comparison that even 8192 bits do not decide raises `sonnx.UndecidedError`.
    """

    __slots__ = ("_arguments", "_bits", "_held", "_precision", "_word")

    def __init__(self, word: str, *arguments: "Real") -> None:
        """What a word makes of real numbers, with the precision that is set just now."""
        self._word, self._arguments = word, arguments
        self._precision, self._bits, self._held = _precision.get(), 0, None
        self._to(self._precision)

    def enclosure(self, precision: int | None = None) -> tuple[Fraction, Fraction]:
        """Midpoint and radius of an enclosure, calculated with so many bits; by default those of its run."""
        held = self._to(self._precision if precision is None else require_precision(precision))
        return _fraction(held.mid()), _fraction(held.rad())

    def _to(self, bits: int) -> Any:
        """An enclosure calculated with at least so many bits; arguments come first, however deep they lie."""
        if self._bits >= bits:
            return self._held
        import flint  # noqa: PLC0415  whoever has no ball need not wait until it has loaded

        with _lock, flint.ctx.workprec(bits):
            waiting = [self]
            while waiting:
                ball = waiting[-1]
                behind = [each for each in ball._arguments if isinstance(each, Ball) and each._bits < bits]
                if behind:
                    waiting += behind
                    continue
                waiting.pop()
                if ball._bits < bits:
                    found = _WORDS[ball._word](*(_arb(each, flint) for each in ball._arguments))
                    # That more bits enclose a number more narrowly is usual, and promised by nobody.
                    ball._held = found if found.is_finite() else ball._held
                    ball._bits = bits
        return self._held

    def __copy__(self) -> "Ball":
        return self

    def __deepcopy__(self, _known: object) -> "Ball":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """What it was made of, as a list: however long that is, nothing is nested."""
        places: dict[int, int] = {}
        waiting: list[Ball] = [self]
        steps: list[tuple[str, int, tuple[Fraction | int, ...]]] = []
        while waiting:
            ball = waiting[-1]
            behind = [each for each in ball._arguments if isinstance(each, Ball) and id(each) not in places]
            if behind:
                waiting += behind
                continue
            waiting.pop()
            if id(ball) not in places:
                places[id(ball)] = len(steps)
                given = tuple(
                    places[id(each)] if isinstance(each, Ball) else each for each in ball._arguments
                )
                steps.append((ball._word, ball._precision, given))
        return _again, (steps,)

    def __repr__(self) -> str:
        return f"Ball({self})"

    def __str__(self) -> str:
        """As many digits as the precision gives, all of them certain, the last one rounded."""
        text, radius = self.decimal()
        if text == "0":
            return f"0 +- {radius}"
        digits, power, exponent = text.partition("e")
        return f"{digits}...{power}{exponent}"

    def decimal(self) -> tuple[str, str]:
        """A midpoint of so many digits and a radius, as decimals: they hang on number and precision alone.

        Of what cannot be told from 0 the midpoint is 0.
        """
        digits = max(int((self._precision - _GUARD) * _DECIMALS_A_BIT), 1)
        # Exactly between two decimals one digit less is certain.
        for count in (digits, max(digits - 1, 1)):
            try:
                top, power = settled(self, partial(_significant, digits=count))
            except UndecidedError:
                continue
            # Half a unit of the last digit.
            return _written(top, power), f"5e{power - 1}"
        return "0", _most(*self.enclosure(MOST_PRECISION))

    def _made(self, word: str, other: Any, *, turned: bool = False) -> Any:
        if isinstance(other, int):
            other = Fraction(other)
        if not isinstance(other, (Fraction, Ball)):
            return NotImplemented
        return made(word, other, self) if turned else made(word, self, other)

    def __add__(self, other: Any) -> Any:
        return self._made("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._made("add", other, turned=True)

    def __sub__(self, other: Any) -> Any:
        return self._made("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return self._made("subtract", other, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._made("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        return self._made("multiply", other, turned=True)

    def __truediv__(self, other: Any) -> Any:
        return self._made("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._made("divide", other, turned=True)

    def __neg__(self) -> "Ball":
        return Ball("negate", self)

    def __abs__(self) -> "Ball":
        return Ball("absolute", self)

    def _compared(self, other: Any, holds: Callable[[int], bool]) -> Any:
        if isinstance(other, int):
            other = Fraction(other)
        return holds(order(self, other)) if isinstance(other, (Fraction, Ball)) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda sign: sign < 0)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda sign: sign <= 0)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda sign: sign > 0)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda sign: sign >= 0)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda sign: sign == 0)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda sign: sign != 0)

    # Equal numbers may be written in many ways, and nothing finds the same hash for all of them.
    __hash__ = None  # type: ignore[assignment]  # so Python says that something has none

    def __bool__(self) -> bool:
        return order(self, Fraction(0)) != 0

    def __float__(self) -> float:
        found = settled(self, _double)
        if abs(found) == inf:
            raise OverflowError("a real number is too large for a float")
        return found

    def __trunc__(self) -> int:
        return settled(self, int)

    __int__ = __trunc__


Real = Fraction | Ball

_WORDS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "absolute": abs,
    "root": lambda a: a.sqrt(),
}


def _again(steps: list[tuple[str, int, tuple[Fraction | int, ...]]]) -> Ball:
    """The last of some balls, each made of fractions and of those before it, by their places."""
    found: list[Ball] = []
    for word, precision, given in steps:
        with precise(precision):
            found.append(Ball(word, *(found[each] if isinstance(each, int) else each for each in given)))
    return found[-1]


@contextmanager
def precise(precision: int) -> Iterator[None]:
    """Balls that are made meanwhile begin with so many bits."""
    token = _precision.set(require_precision(precision))
    try:
        yield
    finally:
        _precision.reset(token)


def require_precision(precision: int) -> int:
    """The number of bits, if there may be so many."""
    if isinstance(precision, bool) or not isinstance(precision, int) or not 2 <= precision <= MOST_PRECISION:
        raise ValueError(f"precision is a number of bits from 2 to {MOST_PRECISION}, not {precision!r}")
    return precision


def made(word: str, a: Real, b: Real) -> Real:
    """What a word makes of two numbers of which one is a ball; a product with 0 is 0, and a quotient of 0."""
    if word == "divide" and order(b, Fraction(0)) == 0:
        raise ZeroDivisionError("a real number divided by 0")
    exact = (a,) if word == "divide" else (a, b) if word == "multiply" else ()
    if any(isinstance(each, Fraction) and each == 0 for each in exact):
        return Fraction(0)
    return Ball(word, a, b)


def root(value: Real) -> Real:
    """The square root of what is not negative: a fraction where it is one."""
    if value < 0:
        raise ValueError("a negative real number has no square root")
    if isinstance(value, Fraction):
        top, bottom = isqrt(value.numerator), isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return Ball("root", value)


def roots(array: NDArray[Any]) -> NDArray[Any]:
    """The square roots of an array of the real domain."""
    found = np.empty(array.size, object)
    found[:] = [root(value) for value in array.reshape(-1).tolist()]
    return found.reshape(array.shape)


def rounded_down(array: NDArray[Any]) -> NDArray[Any]:
    """The greatest integers that are not above the elements of an array of the real domain."""
    found = np.empty(array.size, object)
    found[:] = [Fraction(settled(value, floor)) for value in array.reshape(-1).tolist()]
    return found.reshape(array.shape)


def left_over(a: Real, b: Real) -> Real:
    """a less so many times b as the quotient has, rounded towards zero: it has the sign of a, or is 0."""
    whole = settled(a / b, int)
    return a - whole * b if whole else a


def has_balls(*arrays: NDArray[Any]) -> bool:
    """Whether an element is no fraction."""
    return any(isinstance(value, Ball) for array in arrays for value in array.reshape(-1).tolist())


def order(a: Real, b: Real) -> int:
    """-1, 0 or 1, as a is below, equal to or above b; UndecidedError where the most bits do not tell."""
    if a is b:
        return 0
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return (a > b) - (a < b)
    for bits in _precisions(a, b):
        x, y = _enclosed(a, bits), _enclosed(b, bits)
        if x < y:
            return -1
        if x > y:
            return 1
    raise UndecidedError(f"{MOST_PRECISION} bits do not tell {_short(a)} from {_short(b)}")


def ends(value: Real, precision: int | None = None) -> tuple[Fraction, Fraction]:
    """Fractions between which a number lies: itself, twice, where it is one."""
    if isinstance(value, Fraction):
        return value, value
    middle, radius = value.enclosure(precision)
    return middle - radius, middle + radius


def settled(value: Real, function: Callable[[Fraction], _Made]) -> _Made:
    """A step function of a number, such as a rounding, which never falls or never rises."""
    if isinstance(value, Fraction):
        return function(value)
    for bits in _precisions(value):
        low, high = map(function, ends(value, bits))
        if low == high:
            return low
    text = f"{MOST_PRECISION} bits do not tell to which side {_short(value)} is rounded"
    raise UndecidedError(text, "it lies just where the sides meet, or is longer than so many bits")


def _precisions(*numbers: Real) -> Iterator[int]:
    bits = max(each._precision for each in numbers if isinstance(each, Ball))
    while bits < MOST_PRECISION:
        yield bits
        bits *= 2
    yield MOST_PRECISION


def _enclosed(number: Real, bits: int) -> Any:
    if isinstance(number, Ball):
        return number._to(bits)
    import flint  # noqa: PLC0415  (as above)

    with _lock, flint.ctx.workprec(bits):
        return _arb(number, flint)


def _arb(number: Real, flint: Any) -> Any:
    if isinstance(number, Ball):
        return number._held
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _fraction(exact: Any) -> Fraction:
    """The number that a ball of radius 0 is."""
    top, power = map(int, exact.man_exp())
    return Fraction(top << power) if power >= 0 else Fraction(top, 1 << -power)


def _double(value: Fraction) -> float:
    """The nearest double; an infinity for what is too large, as an end of a wide enclosure may be."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _short(number: Real) -> str:
    if isinstance(number, Fraction):
        return _written(*_significant(number, _FEW))
    middle, radius = number.enclosure()
    if abs(middle) <= radius:
        return f"0 +- {_most(middle, radius)}"
    return f"{_written(*_significant(middle, _FEW))}..."


def _most(middle: Fraction, radius: Fraction) -> str:
    """A power of ten that is not below anything in an enclosure."""
    return f"1e{_significant(abs(middle) + radius, 1)[1] + 1}"


def _significant(value: Fraction, digits: int) -> tuple[int, int]:
    """t and p such that t·10^p is the decimal of so many digits that is nearest to a number."""
    if not value:
        return 0, 0
    # A digit more or less than that of the leading bit is found by the division.
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    power = int(bits * _DECIMALS_A_BIT) - digits - 1
    while True:
        top = round(value / Fraction(10) ** power)
        if abs(top) < 10**digits:
            return top, power
        power += 1


def _written(top: int, power: int) -> str:
    """A decimal as text: in full where it is neither long nor short, else with an exponent."""
    sign, digits = "-" if top < 0 else "", str(abs(top))
    point = len(digits) + power
    if not top:
        return "0"
    if power <= 0 and point > -_MOST_ZEROS:
        padded = digits.rjust(len(digits) - min(point, 1) + 1, "0")
        place = len(padded) + power
        return sign + padded[:place] + ("." + padded[place:] if power else "")
    return f"{sign}{digits[0]}.{digits[1:]}e{point - 1}" if digits[1:] else f"{sign}{digits}e{point - 1}"
