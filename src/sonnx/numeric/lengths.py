"""How long exact numbers are: what can be said of a tensor's fractions, and of a result before it is made.

Nothing is rounded in the reals, so numbers grow with every product. How they grow is a fact about each
operator; whoever limits memory and time asks for it beforehand.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Lengths:
    """Bounds on the fractions of a tensor, in bits; the default is that of zeros.

    Every element is below 2^`magnitude`. Its denominator is a power of two, at most 2^`twos`, times an odd
    number of at most `odd` bits (0 where that is 1); `common` bounds the least common multiple of all those
    odd numbers. `longest` bounds numerator and denominator of one element together.
    """

    magnitude: int = 0
    twos: int = 0
    odd: int = 0
    common: int = 0
    longest: int = 2


# No integer type has more bits.
OF_INTEGERS = Lengths(magnitude=64, longest=66)
OF_ONES = Lengths(magnitude=1, longest=2)


def moved(given: Iterable[Lengths]) -> Lengths:
    """What holds where every element is one of the operands' elements, or zero."""
    found = list(given)
    if not found:
        return Lengths()
    return Lengths(
        max(each.magnitude for each in found),
        max(each.twos for each in found),
        max(each.odd for each in found),
        sum(each.common for each in found),
        max(each.longest for each in found),
    )


def summed(x: Lengths, weights: Lengths, start: Lengths, terms: int) -> Lengths:
    """What holds for start + Σ x·weights, with so many terms in the sum.

    A denominator divides the product of all those in its sum, and the product of what is common to all x, to
    all weights and to all starts. A power of two divides the largest one.
    """
    twos = max(x.twos + weights.twos, start.twos)
    common = x.common + weights.common + start.common
    odd = min(common, terms * (x.odd + weights.odd) + start.odd)
    # Each product is below 2^(sum of magnitudes), and both parts of the sum are below the larger one.
    magnitude = max(x.magnitude + weights.magnitude + terms.bit_length(), start.magnitude) + 1
    bottom = twos + odd
    return Lengths(magnitude, twos, odd, common, max(magnitude + bottom, 0) + bottom + 2)
