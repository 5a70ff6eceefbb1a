"""How long fractions are: what is said of an array holds for every element of it."""

import random
from fractions import Fraction
from math import lcm

import numpy as np
import pytest

from sonnx.numeric.lengths import Lengths, moved, summed
from sonnx.numeric.measure import lengths_of
from sonnx.numeric.real import real

pytestmark = pytest.mark.measured


def test_lengths_are_those_of_the_elements() -> None:
    # 5 has 3 bits; 7/12 has 3 and 4, and 12 = 2^2 * 3; 1/20 has 1 and 5, and 20 = 2^2 * 5; lcm(3, 5) = 15.
    found = lengths_of(real(["5", "-7/12", "0", "1/20"]))
    assert found == Lengths(magnitude=3, twos=2, odd=3, common=4, longest=7)
    # 2^-10 is below 2^-9, and has 1 and 11 bits.
    assert lengths_of(real([2.0**-10, 0])) == Lengths(magnitude=-9, twos=10, odd=0, common=0, longest=12)
    assert lengths_of(real([0, 0])) == lengths_of(real([])) == Lengths() == moved([])


def test_what_an_axis_repeats_is_looked_at_once() -> None:
    repeated = np.broadcast_to(real("1/3"), (2**40,))
    assert lengths_of(repeated) == lengths_of(real(["1/3"]))


def test_a_common_multiple_is_bounded_without_being_made() -> None:
    odds = [2**bits - 1 for bits in range(1000, 1020)]
    found = lengths_of(real([Fraction(1, odd) for odd in odds]))
    assert lcm(*odds).bit_length() <= found.common <= sum(odd.bit_length() for odd in odds)
    assert found.odd == 1019


def holds(claim: Lengths, value: Fraction) -> bool:
    power = (value.denominator & -value.denominator).bit_length() - 1
    odd = value.denominator >> power
    return (
        abs(value) < Fraction(2) ** claim.magnitude
        and power <= claim.twos
        and odd <= 2**claim.odd
        and value.numerator.bit_length() + value.denominator.bit_length() <= claim.longest
    )


def test_sums_of_products_are_no_longer_than_was_said() -> None:
    generator = random.Random(3)
    shapes = [(9, 9), (40, 1), (1, 40), (200, 200), (3, 300)]

    def drawn(number: int) -> list[Fraction]:
        top, bottom = generator.choice(shapes)
        return [
            Fraction(generator.getrandbits(top) - 2 ** (top - 1), generator.getrandbits(bottom) + 1)
            * Fraction(2) ** generator.randint(-30, 30)
            for _ in range(number)
        ]

    for terms in [0, 1, 2, 7] * 25:
        x, w, (start,) = drawn(terms), drawn(terms), drawn(1)
        total = start + sum((a * b for a, b in zip(x, w, strict=True)), Fraction(0))
        claim = summed(lengths_of(real(x)), lengths_of(real(w)), lengths_of(real([start])), terms)
        assert holds(claim, total), (x, w, start)
        # The common multiple holds for several results of the same operands, too.
        other = start + sum((a * b for a, b in zip(x, reversed(w), strict=True)), Fraction(0))
        both = lengths_of(real([total, other]))
        assert both.common <= claim.common + 1


def test_a_sum_of_ordinary_numbers_is_hardly_shorter_than_was_said() -> None:
    # 576 products of floats of 24 bits around 1: the sum has 24 + 24 bits, and 10 for their number.
    one = Lengths(magnitude=1, twos=23, longest=48)
    assert summed(one, one, Lengths(), 576) == Lengths(13, 46, 0, 0, 13 + 46 + 46 + 2)
    # Of 9 terms with unlike denominators each, nothing else in the tensors matters.
    wild = Lengths(magnitude=0, odd=60, common=600_000, longest=120)
    assert summed(wild, wild, Lengths(), 9).odd == 9 * 120
