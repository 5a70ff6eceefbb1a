"""Terms: what definitions are made of, and the errors that say what to write instead."""

import gc
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from sonnx.terms.tensors import Given, flat_place, fold, index, index_of, inside, tensor
from sonnx.terms.term import DefinitionError, Sort, Term, lift, make, number, truth
from sonnx.terms.words import (
    Clause,
    absolute,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    cases,
    converted,
    is_nan,
    left_over,
    maximum,
    narrow,
    otherwise,
    plus_product,
    root,
    select,
    truncated,
    value,
    when,
    wide,
    word,
)

pytestmark = pytest.mark.measured

x, y = value("x"), value("y")
i, j = index("i"), index("j")


def whole(number: int) -> Term:
    return lift(number, Sort.INDEX)


def test_equal_terms_are_one_object_and_vanish_when_nobody_holds_them() -> None:
    assert (x + y) is (x + y)
    assert (x + y) is not (y + x)
    assert lift(1) is lift(1.0)
    assert lift(1) is not whole(1)
    kept = (x * 12345).arguments[1]
    assert kept is lift(12345)
    from sonnx.terms import term

    before = len(term._TERMS)
    made = [x * number for number in range(1000, 2000)]
    assert len(term._TERMS) > before
    del made
    gc.collect()
    assert len(term._TERMS) <= before


def test_literals_are_exact() -> None:
    assert lift(0.1).data == Fraction(0.1)
    assert lift(Fraction(1, 10)).data == Fraction(1, 10)
    assert [lift(each).data for each in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: x + 1, "(add (value x) (literal 1))"),
        (lambda: 1 + x, "(add (literal 1) (value x))"),
        (lambda: x - y, "(subtract (value x) (value y))"),
        (lambda: 1 - x, "(subtract (literal 1) (value x))"),
        (lambda: x * y, "(multiply (value x) (value y))"),
        (lambda: 2 * x, "(multiply (literal 2) (value x))"),
        (lambda: x / y, "(divide (value x) (value y))"),
        (lambda: 1 / x, "(divide (literal 1) (value x))"),
        (lambda: -x, "(negate (value x))"),
        (lambda: abs(x), "(absolute (value x))"),
        (lambda: absolute(x), "(absolute (value x))"),
        (lambda: root(x), "(root (value x))"),
        (lambda: truncated(x, y), "(truncated (value x) (value y))"),
        (lambda: left_over(x, y), "(left_over (value x) (value y))"),
        (lambda: bits_and(x, 1), "(bits_and (value x) (literal 1))"),
        (lambda: bits_or(x, y), "(bits_or (value x) (value y))"),
        (lambda: bits_xor(x, y), "(bits_xor (value x) (value y))"),
        (lambda: bits_not(x), "(bits_not (value x))"),
        (lambda: wide(x), "(wide (value x))"),
        (lambda: narrow(x), "(narrow (value x))"),
        (lambda: converted(x), "(converted (value x))"),
        (lambda: plus_product(x, y, 2), "(plus_product (value x) (value y) (literal 2))"),
        (lambda: x < 0, "(less (value x) (literal 0))"),
        (lambda: x > 0, "(less (literal 0) (value x))"),
        (lambda: x <= y, "(less_equal (value x) (value y))"),
        (lambda: x >= y, "(less_equal (value y) (value x))"),
        (lambda: x == y, "(equal (value x) (value y))"),
        (lambda: x != y, "(opposite (equal (value x) (value y)))"),
        (lambda: is_nan(x) & (x < y), "(both (is_nan (value x)) (less (value x) (value y)))"),
        (lambda: is_nan(x) | (x < y), "(either (is_nan (value x)) (less (value x) (value y)))"),
        (lambda: select(x < y, x, 0), "(select (less (value x) (value y)) (value x) (literal 0))"),
        (lambda: i + 2 * j, "(add (index i) (multiply (whole 2) (index j)))"),
        (lambda: i + -3, "(subtract (index i) (whole 3))"),
        (lambda: -i, "(subtract (whole 0) (index i))"),
        (lambda: i // 2 + i % 2, "(add (floor (index i) (whole 2)) (remainder (index i) (whole 2)))"),
    ],
)
def test_signs_and_words_write_down_what_is_done(made: Callable[[], Term], text: str) -> None:
    assert repr(made()) == text


def test_twice_the_opposite_is_the_condition_itself() -> None:
    condition = x < y
    assert isinstance(condition, Term)
    assert ~~condition is condition


@pytest.mark.parametrize(
    ("made", "left"),
    [
        (i + 0, i),
        (0 + i, i),
        (i - 0, i),
        (i * 1, i),
        (1 * i, i),
        (i // 1, i),
        (i * 0, whole(0)),
        (0 * i, whole(0)),
        (i % 1, whole(0)),
        (whole(7) // 2, whole(3)),
        (whole(-7) // 2, whole(-4)),
        (whole(-7) % 4, whole(1)),
        (whole(2) + 3, whole(5)),
        (whole(2) - 3, whole(-1)),
        (whole(2) * 3, whole(6)),
    ],
)
def test_known_indices_are_calculated_and_what_changes_nothing_is_left_out(made: Term, left: Term) -> None:
    assert made is left


def test_comparisons_of_known_numbers_are_decided() -> None:
    assert (lift(1) < 2) is True
    assert (lift(2) <= 1) is False
    assert (lift(2) == 2) is True
    assert (lift(2) != 2) is False
    assert (whole(1) < 2) is True
    assert isinstance(lift(math.inf) < 2, Term)


def test_a_decided_condition_leaves_one_branch() -> None:
    condition = x < y
    assert isinstance(condition, Term)
    assert select(True, x, y) is x
    assert select(False, x, y) is y
    assert (condition & True) is condition
    assert (False & condition) is False
    assert (condition | False) is condition
    assert (True | condition) is True


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "if": (lambda: 1 if x < 0 else 2, "select"),
    "and": (lambda: (x < 0) and (y < 0), "select"),
    "max": (lambda: max(x, y), "maximum"),
    "float": (lambda: math.sqrt(x), "root"),
    "range": (lambda: list(range(i)), "sizes of shapes"),
    "iter": (lambda: list(x), "sizes of shapes"),
    "array": (lambda: np.asarray(x), "NumPy"),
    "text": (lambda: x + cast(Any, "1"), "not of str"),
    "a bool": (lambda: x + True, "not of bool"),
    "number and index": (lambda: x + i, "numbers go with numbers"),
    "truth and truth": (lambda: (x < 0) + (y < 0), "numbers go with numbers"),
    "a number as condition": (lambda: select(x, 0, 1), "a condition is needed"),
    "python as condition": (lambda: is_nan(x) & cast(Any, 1), "a condition is needed"),
    "a condition as number": (lambda: root(x < 0), "an element is needed"),
    "floor of numbers": (lambda: x // y, "truncated"),
    "remainder of numbers": (lambda: x % y, "truncated"),
    "quotient of indices": (lambda: i / 2, "//"),
    "an unknown divisor": (lambda: i // j, "positive number that is known"),
    "a negative divisor": (lambda: i % -2, "positive number that is known"),
    "half an index": (lambda: i + 0.5, "an index is an integer"),
    "too few indices": (lambda: Given("X", (2, 3))[i], "2 axes and is read with 1"),
    "an element as index": (lambda: Given("X", (2,))[x], "an index is needed"),
    "cases without an end": (lambda: cases(when(x < 0, 0, "D-RELU", "Below.")), "otherwise"),
    "no cases": (cases, "otherwise"),
    "a word's arguments": (lambda: maximum(x), "takes a, b"),
    "a function of other indices": (lambda: tensor((2, 3), lambda i: x), "2 indices is needed"),
    "a fold without indices": (lambda: fold((2,), 0, lambda s: s), "2 indices is needed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_language_has_no_word_for_says_what_to_write(name: str) -> None:
    made, words = REFUSED[name]
    with pytest.raises(DefinitionError, match=words):
        made()


def test_sorts_are_told_apart() -> None:
    assert number(1).sort is Sort.NUMBER
    assert index_of(1).sort is Sort.INDEX
    assert truth(is_nan(x)).sort is Sort.TRUTH


def test_cases_carry_what_decides_them() -> None:
    term = cases(
        when(x < 0, 0, "D-RELU", "Below."),
        when(x > 1, 1, "D-CLIP-1", "Above."),
        otherwise(x, "D-RELU", "Else."),
    )
    assert term.data == (Clause("D-RELU", "Below."), None)
    rest = term.arguments[2]
    assert rest.data == (Clause("D-CLIP-1", "Above."), Clause("D-RELU", "Else."))
    assert rest.arguments[1:] == (lift(1), x)
    alone = cases(otherwise(x + y, "D-ADD", "The sum."))
    assert (alone.word, alone.arguments[0], alone.data) == ("stated", x + y, Clause("D-ADD", "The sum."))


def test_a_word_keeps_its_name_and_its_body() -> None:
    @word(r"\mathrm{half}", calculates=True)
    def half(a: Term) -> Term:
        """Half of it."""
        return a / 2

    term = half(x)
    assert half.__doc__ == "Half of it."
    assert (term.word, term.arguments) == ("named", (x,))
    assert (term.data.name, term.data.symbol, term.data.parameters) == ("half", r"\mathrm{half}", ("a",))
    assert term.data.body is value("a") / 2


def test_operands_are_read_at_indices_or_at_a_place() -> None:
    X = Given("X", (2, 3))
    assert X.rank == 2
    assert repr(X[i, 1]) == "(read X (index i) (whole 1))"
    assert repr(X.flat(i)) == "(read_flat X (index i))"
    assert Given("c", (2,), Sort.TRUTH)[i].sort is Sort.TRUTH
    assert repr(Given("s", ())[()]) == "(read s)"


def test_results_and_folds_call_indices_as_the_function_does() -> None:
    X = Given("X", (2, 3))
    made = tensor((2, 3), lambda row, column: X[row, column])
    assert [each.data for each in made.indices] == ["row", "column"]
    many = tensor((4, 2, 3), lambda b, *i: X[i])
    assert [each.data for each in many.indices] == ["b", "i0", "i1"]
    bound = tensor((2,), lambda i, axis=0: X[i, axis])
    assert repr(bound.term) == "(read X (index i) (whole 0))"
    total = fold((3,), 0, lambda s, k: s + X[i, k])
    assert total.data == ((3,), "s", ("k",))
    assert repr(total.arguments[1]) == "(add (carried s) (read X (index i) (index k)))"
    asked = tensor((2,), lambda i: X[i, 0] < 0)
    assert asked.term.sort is Sort.TRUTH


def test_places_in_c_order_and_what_lies_inside() -> None:
    assert repr(flat_place((i, j), (2, 3))) == "(add (multiply (index i) (whole 3)) (index j))"
    assert flat_place((), ()) is whole(0)
    assert inside((), ()) is True
    text = "(both (less_equal (whole 0) (index i)) (less (index i) (whole 2)))"
    assert repr(inside((i,), (2,))) == text


def test_a_term_made_by_hand_is_the_one_that_signs_make() -> None:
    assert make("add", (x, y)) is x + y


def test_the_index_of_an_axis_of_size_one_is_zero() -> None:
    X = Given("X", (1, 3))
    made = tensor((1, 3), lambda i, j: X[i * 2**70, j])
    assert repr(made.term) == "(read X (whole 0) (index j))"
    total = fold((1,), 0, lambda s, k: s + X[k * 2**70, 0])
    assert repr(total.arguments[1]) == "(add (carried s) (read X (whole 0) (whole 0)))"


def test_minus_zero_keeps_its_sign() -> None:
    assert repr(lift(-0.0)) == "(negate (literal 0))"
    assert repr(lift(0.0)) == "(literal 0)"
