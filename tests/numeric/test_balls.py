"""Enclosures of real numbers hold them: against integers alone, and against intervals of exact fractions."""

import copy
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each

from sonnx.numeric.balls import (
    MOST_PRECISION,
    Ball,
    Real,
    UndecidedError,
    ends,
    has_balls,
    order,
    precise,
    root,
    roots,
    settled,
)
from sonnx.numeric.real import real_text

pytestmark = pytest.mark.measured

FRACTIONS = st.fractions(max_denominator=10**9)
POSITIVE = FRACTIONS.map(abs).filter(bool)
# The truth is enclosed by fractions of so many bits, far beyond what is asked for.
TRUTH = 3000


def ball(square: Fraction | int) -> Ball:
    found = root(Fraction(square))
    assert isinstance(found, Ball)
    return found


@settings(max_examples=examples(300), deadline=None)
@given(POSITIVE, st.integers(2, 900))
def test_the_root_of_a_fraction_lies_in_its_enclosure(x: Fraction, bits: int) -> None:
    with precise(bits):
        found = root(x)
    if isinstance(found, Fraction):
        assert found >= 0
        assert found * found == x
        return
    middle, radius = found.enclosure()
    assert max(middle - radius, Fraction(0)) ** 2 <= x <= (middle + radius) ** 2
    assert radius <= middle * Fraction(4, 2**bits)


@settings(max_examples=examples(200), deadline=None)
@given(FRACTIONS)
def test_the_root_of_a_square_is_exact(x: Fraction) -> None:
    assert root(x * x) == abs(x)
    assert type(root(x * x)) is Fraction


Interval = tuple[Fraction, Fraction]


def truth(x: Fraction) -> Interval:
    """The root of a fraction between two fractions, by an integer square root."""
    scaled = isqrt((x.numerator << (2 * TRUTH)) // x.denominator)
    return Fraction(scaled, 1 << TRUTH), Fraction(scaled + 1, 1 << TRUTH)


def product(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


CALCULATED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Interval, Interval], Interval]]] = {
    "+": (lambda a, b: a + b, lambda a, b: (a[0] + b[0], a[1] + b[1])),
    "-": (lambda a, b: a - b, lambda a, b: (a[0] - b[1], a[1] - b[0])),
    "*": (lambda a, b: a * b, product),
    "/": (lambda a, b: a / b, lambda a, b: product(a, (1 / b[1], 1 / b[0]))),
    "-abs": (lambda a, b: b - abs(-a), lambda a, b: (b[0] - a[1], b[1] - a[0])),
}


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(POSITIVE, POSITIVE, st.sampled_from(sorted(CALCULATED))), min_size=1, max_size=6),
    st.sampled_from([2, 20, 53, 128, 300]),
)
def test_sums_products_and_quotients_of_roots_and_fractions_are_enclosed(
    steps: list[tuple[Fraction, Fraction, str]], bits: int
) -> None:
    """Each step takes what is there, a root, and a fraction that is subtracted, and goes on with its size."""
    value: Real = steps[0][0]
    true = (steps[0][0], steps[0][0])
    with precise(bits):
        for x, y, word in steps:
            ours, theirs = CALCULATED[word]
            value, true = ours(value, root(x)), theirs(true, truth(x))
            value, true = value + y * y, (true[0] + y * y, true[1] + y * y)
            if true[0] <= 0:  # what is next is divided or has its sign taken off
                value, true = y - value, (y - true[1], y - true[0])
            if true[0] <= 0:
                return
    for asked in (None, 200, 1000):
        if isinstance(value, Ball):
            middle, radius = value.enclosure(asked)
            assert middle - radius <= true[1]
            assert true[0] <= middle + radius
        else:
            assert true[0] <= value <= true[1]


@settings(max_examples=examples(200), deadline=None)
@given(POSITIVE, POSITIVE)
def test_comparisons_with_fractions_are_those_of_squares(x: Fraction, y: Fraction) -> None:
    found = root(x)
    compared = (found < y, found <= y, found > y, found >= y, found == y, found != y)
    assert compared == (x < y * y, x <= y * y, x > y * y, x >= y * y, x == y * y, x != y * y)
    assert (y < found, y <= found, y > found, y >= found) == (y * y < x, y * y <= x, y * y > x, y * y >= x)


def test_a_comparison_takes_as_many_bits_as_it_needs() -> None:
    """√(10^1600 + 1) is about 10^-800 / 2 above 10^800: 128 bits say nothing of it, and 5,400 do."""
    x = root(Fraction(10**1600 + 1))
    assert (x > 10**800, x < 10**800, x == 10**800) == (True, False, False)
    assert float(x - 10**800) == 0.0
    assert float((x - 10**800) * 10**800) == 0.5
    for sign in (1, -1):
        with pytest.raises(OverflowError, match="too large"):
            float(sign * x)
    with pytest.raises(UndecidedError, match="8192 bits do not tell"):
        root(Fraction(10**4000 + 1)).__gt__(10**2000)


def test_numbers_that_are_equal_in_two_ways_are_not_decided_and_one_number_is_equal_to_itself() -> None:
    two = ball(2) * ball(2)
    for asked in (lambda: two == 2, lambda: two < 2, lambda: 1 / (two - 2), lambda: bool(two - 2)):
        with pytest.raises(UndecidedError, match="8192 bits"):
            asked()
    assert order(two, two) == 0
    assert (two.__le__(two), two.__lt__(two)) == (True, False)
    assert order(two, Fraction(3)) == -1


def test_what_is_exactly_between_two_floats_is_not_rounded() -> None:
    tie = ball(2) * ball(2) / 2 + Fraction(1, 2**53)
    with pytest.raises(UndecidedError, match="to which side 1"):
        float(tie)
    assert float(tie + Fraction(1, 2**2000)) == 1 + 2**-52
    assert float(tie - Fraction(1, 2**2000)) == 1


def test_rounding_takes_the_side_on_which_the_number_lies() -> None:
    x = ball(2)
    scale = 10**600
    assert settled(x * scale, int) == isqrt(2 * scale * scale)
    assert int(-x * scale) == -isqrt(2 * scale * scale)
    assert settled(Fraction(7, 2), int) == 3


def test_a_product_with_zero_is_zero_and_a_quotient_by_zero_there_is_none() -> None:
    x = ball(3)
    for found in (x * 0, 0 * x, Fraction(0) / x):
        assert type(found) is Fraction
        assert found == 0
    with pytest.raises(ZeroDivisionError):
        x / 0
    with pytest.raises(ValueError, match="negative"):
        root(Fraction(-1, 3))
    with pytest.raises(ValueError, match="negative"):
        root(1 - x)


@for_each(
    "made, text, decimal",
    [
        (
            lambda: ball(2),
            "1.41421356237309504880168872420970...",
            ("1.41421356237309504880168872420970", "5e-33"),
        ),
        (
            lambda: -ball(2),
            "-1.41421356237309504880168872420970...",
            ("-1.41421356237309504880168872420970", "5e-33"),
        ),
        (
            lambda: ball(2) * ball(2),
            "2.00000000000000000000000000000000...",
            ("2.00000000000000000000000000000000", "5e-33"),
        ),
        (
            lambda: ball(2) * 10**40,
            "1.41421356237309504880168872420970...e40",
            ("1.41421356237309504880168872420970e40", "5e7"),
        ),
        (
            lambda: ball(2) / 1000,
            "0.00141421356237309504880168872420970...",
            ("0.00141421356237309504880168872420970", "5e-36"),
        ),
        (
            lambda: ball(2) / 10**9,
            "1.41421356237309504880168872420970...e-9",
            ("1.41421356237309504880168872420970e-9", "5e-42"),
        ),
        (lambda: ball(2) - ball(2), "0 +- 1e-2465", ("0", "1e-2465")),
        (
            lambda: ball(2) * ball(2) - 2 + Fraction(1, 10**40),
            "1.00000000000000000000000000000000...e-40",
            ("1.00000000000000000000000000000000e-40", "5e-73"),
        ),
    ],
)
def test_digits_that_are_shown_are_certain(
    made: Callable[[], Ball], text: str, decimal: tuple[str, str]
) -> None:
    assert (str(made()), repr(made()), made().decimal()) == (text, f"Ball({text})", decimal)


@settings(max_examples=examples(100), deadline=None)
@given(POSITIVE, st.integers(2, 400))
def test_decimals_hold_the_number_whatever_was_asked_of_it_before(x: Fraction, bits: int) -> None:
    with precise(bits):
        value, again = root(x), root(x)
    if isinstance(value, Ball) and isinstance(again, Ball):
        middle, radius = map(Fraction, value.decimal())
        assert max(middle - radius, Fraction(0)) ** 2 <= x <= (middle + radius) ** 2
        again.enclosure(2000)
        assert again.decimal() == value.decimal()


def test_a_decimal_that_lies_between_two_shorter_ones_loses_a_digit() -> None:
    with precise(26):  # three digits
        tie = ball(2) * ball(2) + Fraction(125, 1000)
        assert (str(tie), tie.decimal()) == ("2.1...", ("2.1", "5e-2"))


def test_a_chain_of_any_length_is_calculated_anew_without_recursion() -> None:
    total: Any = Fraction(0)
    x = ball(2)
    for _ in range(5000):
        total = total + x
    middle, radius = total.enclosure(1000)
    assert (middle - radius) ** 2 <= 2 * 5000**2 <= (middle + radius) ** 2
    assert radius < Fraction(1, 2**900)


def test_copies_are_the_number_itself_and_what_is_pickled_is_calculated_again() -> None:
    with precise(70):
        x = 1 / (ball(2) + ball(3) * ball(2)) - Fraction(1, 3)
    assert copy.copy(x) is copy.deepcopy(x) is x
    again = pickle.loads(pickle.dumps(x))
    assert (str(again), again.enclosure(500)) == (str(x), x.enclosure(500))
    total: Any = Fraction(0)
    for _ in range(3000):
        total = total + x
    assert str(pickle.loads(pickle.dumps(total))) == str(total)
    # What stands in a number twice is written down once.
    x = root(ball(2))
    twice = pickle.loads(pickle.dumps(x + x))
    assert (str(twice), twice._arguments[0] is twice._arguments[1]) == (str(x + x), True)
    assert real_text(twice) == str(twice)


def test_the_root_of_a_root_is_enclosed_and_ends_of_a_fraction_are_itself() -> None:
    low, high = ends(root(ball(2)))
    assert low**4 <= 2 <= high**4
    assert high - low < Fraction(1, 2**100)
    assert ends(Fraction(1, 3)) == (Fraction(1, 3), Fraction(1, 3))
    assert ends(ball(2), 900)[1] - ends(ball(2), 900)[0] > 0


def test_threads_calculate_with_precisions_of_their_own() -> None:
    wrong: list[Fraction] = []

    def work(bits: int) -> None:
        for number in range(2, 60):
            with precise(bits):
                x = root(Fraction(number))
            if isinstance(x, Ball):
                middle, radius = x.enclosure()
                within = (middle - radius) ** 2 <= number <= (middle + radius) ** 2
                if not within or not Fraction(1, 2 ** (bits + 3)) < radius < Fraction(32, 2**bits):
                    wrong.append(radius)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (40, 90, 500, 1200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@for_each("bits", [1, 0, -5, MOST_PRECISION + 1, True, 2.5, "128"])
def test_other_precisions_are_refused(bits: Any) -> None:
    with pytest.raises(ValueError, match="precision is a number of bits from 2 to 8192, not"), precise(bits):
        pass


def test_floats_and_texts_are_no_reals() -> None:
    x: Any = ball(2)
    for wrong in (lambda: x + 0.5, lambda: "1" * x, lambda: x < 0.5, lambda: hash(x)):
        with pytest.raises(TypeError):
            wrong()
    assert (x == "1", x != 0.5) == (False, True)
    assert (bool(x), x == 1, 1 < x < 2, 3 - x > 1, 3 / x > 2) == (True, False, True, True, True)


def test_arrays_have_balls_where_a_root_is_no_fraction() -> None:
    x = np.array([[Fraction(4), Fraction(1, 9)], [Fraction(0), Fraction(3)]], object)
    found = roots(x)
    assert [type(each) for each in found.reshape(-1)] == [Fraction, Fraction, Fraction, Ball]
    assert found[:1].tolist() == [[2, Fraction(1, 3)]]
    assert (has_balls(x), has_balls(x, found), has_balls()) == (False, True, False)
