"""How long the fractions of an array are."""

from collections.abc import Set
from math import lcm

from sonnx.numeric.arrays import Array, each_once
from sonnx.numeric.balls import Ball
from sonnx.numeric.lengths import Lengths

# Beyond this a common multiple is bounded by the product, which costs no time to find.
_MOST_BITS = 4096


def lengths_of(array: Array) -> Lengths:
    """The bounds that hold for an array of the real domain, as it is."""
    # Of zeros nothing is known but that they are below everything.
    magnitudes, odds, twos, longest = [], set(), 0, 2
    for value in each_once(array).reshape(-1).tolist():
        if isinstance(value, Ball):  # it rounds, so it does not grow
            continue
        top, bottom = value.numerator, value.denominator
        power = (bottom & -bottom).bit_length() - 1
        twos = max(twos, power)
        odds.add(bottom >> power)
        longest = max(longest, top.bit_length() + bottom.bit_length())
        if top:
            # top < 2^bits, bottom >= 2^(bits - 1)
            magnitudes.append(top.bit_length() - bottom.bit_length() + 1)
    odds.discard(1)
    odd = max((each.bit_length() for each in odds), default=0)
    return Lengths(max(magnitudes, default=0), twos, odd, _common_bits(odds), longest)


def _common_bits(numbers: Set[int]) -> int:
    """A bound on the bits of the least common multiple; 0 where that is 1."""
    multiple, others = 1, 0
    for number in numbers:
        if multiple.bit_length() <= _MOST_BITS:
            multiple = lcm(multiple, number)
        else:
            others += number.bit_length()
    return others + (multiple.bit_length() if multiple > 1 else 0)
