"""Wrong enclosures are noticed: that a bit is lost, a bound is too near, a decision comes too early."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.evaluate import test_reals as runs
from tests.numeric import test_balls as balls

from sonnx.derive import domains
from sonnx.numeric import balls as walk
from sonnx.numeric.balls import Ball, left_over, precise, root


def test_enclosures_of_a_few_roots_and_fractions_hold_them() -> None:
    for bits in (2, 11, 60, 128):
        with precise(bits):
            for x in (Fraction(2), Fraction(1, 3), Fraction(10**30 + 1, 7), Fraction(4, 3)):
                found = root(x)
                assert isinstance(found, Ball)
                third = found + Fraction(1, 3) - found * 2
                for asked in (None, 300):
                    middle, radius = found.enclosure(asked)
                    assert max(middle - radius, Fraction(0)) ** 2 <= x <= (middle + radius) ** 2
                    # 1/3 - √x
                    middle, radius = third.enclosure(asked)
                    low, high = (Fraction(1, 3) - middle + sign * radius for sign in (-1, 1))
                    assert low <= high
                    assert max(low, Fraction(0)) ** 2 <= x <= high**2
                    assert radius < 64 * (x + 1) / 2 ** (asked or bits)


def test_what_is_left_over_has_the_sign_of_the_dividend() -> None:
    ten, two = root(Fraction(10)), root(Fraction(2))
    assert left_over(Fraction(-7), Fraction(2)) == -1
    # √10 is 2·√2 and a rest of 0.33; -√10 leaves the same with its sign.
    for sign in (1, -1):
        assert abs(left_over(ten * sign, two) * sign - (ten - 2 * two)) < Fraction(1, 10**30)
        assert left_over(two, ten * sign) is two


LEFT = test_what_is_left_over_has_the_sign_of_the_dividend
ENCLOSED = test_enclosures_of_a_few_roots_and_fractions_hold_them
EQUAL = balls.test_numbers_that_are_equal_in_two_ways_are_not_decided_and_one_number_is_equal_to_itself
TIES = balls.test_what_is_exactly_between_two_floats_is_not_rounded
ROUNDED = balls.test_rounding_takes_the_side_on_which_the_number_lies
ZEROS = balls.test_a_product_with_zero_is_zero_and_a_quotient_by_zero_there_is_none
DIGITS = balls.test_digits_that_are_shown_are_certain
NEEDED = balls.test_a_comparison_takes_as_many_bits_as_it_needs
SUMS = runs.test_sums_of_products_take_enclosures_as_a_loop_does


def mutant(function: Callable[..., object], before: str, after: str, check: Callable[[], None]) -> Mutant:
    return Mutant(function, before, after, check)


MUTANTS = {
    "a fraction loses its rounding": mutant(
        walk._arb,
        "flint.arb(flint.fmpq(number.numerator, number.denominator))",
        "flint.arb(flint.fmpq(number.numerator, number.denominator)).mid()",
        ENCLOSED,
    ),
    "no more bits than before": mutant(
        Ball._to, "flint.ctx.workprec(bits)", "flint.ctx.workprec(53)", ENCLOSED
    ),
    "arguments stay as they were": mutant(
        Ball._to,
        "isinstance(each, Ball) and each._bits < bits",
        "isinstance(each, Ball) and not each._bits",
        ENCLOSED,
    ),
    "a radius that is left out": mutant(
        walk.ends, "middle - radius, middle + radius", "middle, middle", TIES
    ),
    "one end alone": mutant(walk.settled, "if low == high", "if True", ROUNDED),
    "the most bits are not tried": mutant(
        walk._precisions, "    yield MOST_PRECISION", "    yield from ()", NEEDED
    ),
    "the most bits say that numbers are equal": mutant(
        walk.order, "raise UndecidedError(", "return int(*[0] or ", EQUAL
    ),
    "above for below": mutant(walk.order, "if x < y", "if x > y", NEEDED),
    "a number is not itself": mutant(walk.order, "if a is b", "if False", EQUAL),
    "zero times a root": mutant(walk.made, "(a, b) if word", "() if word", ZEROS),
    "a divisor is not looked at": mutant(walk.made, "== 0:\n        raise", "== 2:\n        raise", ZEROS),
    "the divisor for what is divided": mutant(walk.made, "(a,) if word", "(b,) if word", ZEROS),
    "a numerator alone is a square": mutant(
        walk.root, " and bottom * bottom == value.denominator", "", ENCLOSED
    ),
    "a root of what is negative": mutant(walk.root, "if value < 0", "if value < -9", ZEROS),
    "what the quotient rounded down leaves": mutant(walk.left_over, "a / b, int", "a / b, floor", LEFT),
    "a digit too many": mutant(Ball.decimal, "5e{power - 1}", "5e{power - 2}", DIGITS),
    "nobody finds the element": mutant(domains.require_decided, "np.ndindex(shape)", "()", SUMS),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_enclosure_is_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
