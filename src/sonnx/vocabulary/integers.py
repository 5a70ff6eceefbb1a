"""What an attribute, or an operand that is a constant, stands for: axes, sizes, a divisor, a few values.

Rules on it, calls on which runtimes are tried, and how a trial is cut follow from it.
"""

from dataclasses import dataclass
from math import gcd
from typing import Literal

from sonnx.model.dtype import INTEGERS, DType

# One axis, not in a list; a place between axes, before all or behind all of them; any number of axes, none
# twice; a run of neighbours; every axis once.
Order = Literal["one", "between", "apart", "neighbours", "every"]
Sized = tuple[int, ...]


@dataclass(frozen=True)
class Axes:
    """Axes of the operand `of`, by their numbers; all tensors of a variadic operand have one rank.

    `least` is how many there are at least, and `from_the_end` tells whether -1 is the last one. Those that
    are `single` have the size 1; those that are `added` are axes that the result has beside the operand's.
    """

    of: str
    order: Order = "apart"
    least: int = 0
    from_the_end: bool = False
    single: bool = False
    added: bool = False

    @property
    def is_list(self) -> bool:
        """Tell whether it is a list of numbers, not a number."""
        return self.order not in ("one", "between")

    def rank(self, rank: int, count: int) -> int:
        """Of an operand of some rank, how many axes there are to be named by so many numbers."""
        return rank + count * self.added

    def numbers(self, rank: int) -> range:
        """The numbers that axes of so many have."""
        return range(-rank if self.from_the_end else 0, rank + (self.order == "between"))


@dataclass(frozen=True)
class Sizes:
    """Sizes of axes, any number of them; `of` an operand, as many elements as that has."""

    of: str = ""


@dataclass(frozen=True)
class Parts:
    """Sizes of the parts of an axis: that of the operand `of` which the attribute `along` names."""

    of: str
    along: str


@dataclass(frozen=True)
class Divisor:
    """An integer from 1 up; its power divides the size of each of some axes of the operand `of`."""

    of: str
    axes: tuple[int, ...]
    power: int = 1

    def divides(self, number: int, shape: Sized) -> bool:
        """Tell whether a number is such a divisor for a shape."""
        return number > 0 and not any(shape[axis] % number**self.power for axis in self.axes)


@dataclass(frozen=True)
class OneOf:
    """One of a few texts, or of a few integers; the first one does least.

    Some of them may be for elements that are `integers`, and for no others.
    """

    values: tuple[str, ...] | tuple[int, ...]
    integers: tuple[str, ...] | tuple[int, ...] = ()

    def of(self, dtype: DType | None) -> tuple[str | int, ...]:
        """Those that an operator may have on elements of a type; all of them where no type is known."""
        if dtype is None or dtype in INTEGERS:
            return self.values
        return tuple(each for each in self.values if each not in self.integers)


Integers = Axes | Sizes | Parts | Divisor | OneOf


def regrouped(sizes: Sized, count: int) -> Sized:
    """Sizes near to others, as many of them, whose product is another."""
    found, rest = list[int](), count
    for size in sizes[:-1]:
        found.append(_common(size, rest))
        rest //= found[-1]
    return (*found, rest) if sizes else ()


def _common(one: int, other: int) -> int:
    """The greatest common divisor, 1 of zeros."""
    return gcd(one, other) or 1
