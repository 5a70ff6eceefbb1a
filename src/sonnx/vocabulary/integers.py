"""What the integers of an attribute, or of an operand that is a constant, stand for: axes or sizes.

Rules on them, calls on which runtimes are tried, and how a trial is cut follow from it.
"""

from dataclasses import dataclass
from typing import Literal

# One axis, not in a list; any number of them, none twice; a run of neighbours; every axis once.
Order = Literal["one", "apart", "neighbours", "every"]


@dataclass(frozen=True)
class Axes:
    """Axes of the operand `of`, by their numbers; all tensors of a variadic operand have one rank.

    `least` is how many there are at least, and `from_the_end` tells whether -1 is the last one.
    """

    of: str
    order: Order = "apart"
    least: int = 0
    from_the_end: bool = False

    def numbers(self, rank: int) -> range:
        """The numbers that axes of so many have."""
        return range(-rank if self.from_the_end else 0, rank)


@dataclass(frozen=True)
class Sizes:
    """Sizes of axes, any number of them."""


@dataclass(frozen=True)
class Parts:
    """Sizes of the parts of an axis: that of the operand `of` which the attribute `along` names."""

    of: str
    along: str


Integers = Axes | Sizes | Parts
