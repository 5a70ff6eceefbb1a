"""How long exact numbers become is bounded by the walk: no result of drawn fractions is longer."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.derive.test_evaluate_walk import operator
from tests.derive.wrong_walks import Mutant, see_noticed

import sonnx
from sonnx.derive import lengths as walk
from sonnx.derive.evaluate import evaluate
from sonnx.derive.lengths import lengths
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.lengths import OF_INTEGERS, Lengths
from sonnx.numeric.measure import lengths_of
from sonnx.terms.tensors import Given, fold, tensor
from sonnx.terms.term import DefinitionError
from sonnx.terms.tracing import Definition, elementwise, tensorwise
from sonnx.terms.words import (
    absolute,
    cases,
    left_over,
    maximum,
    minimum,
    narrow,
    otherwise,
    plus_product,
    select,
    wide,
)
from sonnx.vocabulary.call import Call

pytestmark = pytest.mark.measured


def folded(step: Callable[..., Any], start: Any = 0) -> Definition:
    def rows(X: Given, Y: Given) -> Any:
        return tensor((), lambda: fold(X.shape, start, lambda s, i: step(s, X[i], Y[i])))

    return tensorwise(rows)


DEFINITIONS: dict[str, Definition] = {
    "add": elementwise(lambda X, Y: X + Y),
    "subtract": elementwise(lambda X, Y: X - Y),
    "multiply": elementwise(lambda X, Y: X * Y),
    "divide": elementwise(lambda X, Y: X / select(Y == 0, 1, Y)),
    "left over": elementwise(lambda X, Y: left_over(X, select(Y == 0, 1, Y))),
    "a literal": elementwise(lambda X, Y: X * 0.375 + Y),
    "an odd literal": elementwise(lambda X, Y: X / 3 - Y * 7),
    "select": elementwise(lambda X, Y: select(X < Y, -X, absolute(Y))),
    "maximum": elementwise(lambda X, Y: maximum(X, Y)),  # noqa: PLW0108  its parameters name operands
    "stated": elementwise(lambda X, Y: cases(otherwise(narrow(wide(X) + Y), "D-ADD", "The sum."))),
    "a sum": folded(lambda s, x, y: s + x),
    "a sum of products": folded(plus_product, 1),
    "a maximum": folded(lambda s, x, y: maximum(s, x), 1),
    "one product": elementwise(lambda X, Y: plus_product(X, X, Y)),
    "a sum beside a product": elementwise(lambda X, Y: plus_product(X, Y, 1)),
    "three halves of it": elementwise(lambda X, Y: X * 1.5),
    "a literal alone": elementwise(lambda X, Y: select(X < Y, Fraction(255, 7), Fraction(-3, 1024))),
    "products after a start": folded(plus_product, Fraction(1, 2**40)),
    "a minimum after a start": folded(lambda s, x, y: minimum(s, x), Fraction(-(3**40), 5)),
    "a flat read": tensorwise(lambda X, Y: tensor((2,), lambda i: X.flat(i + 1))),
}
FRACTIONS = st.lists(st.fractions(max_denominator=10**6), min_size=3, max_size=3)


@pytest.mark.parametrize("name", DEFINITIONS)
@given(FRACTIONS, FRACTIONS)
@example([Fraction(1, 32), Fraction(0), Fraction(1, 32)], [Fraction(1, 32), Fraction(0), Fraction(1, 32)])
def test_no_result_is_longer_than_the_walk_says(name: str, x: Any, y: Any) -> None:
    see_no_longer(name, x, y)


def see_no_longer(name: str, x: Any, y: Any) -> Lengths:
    """No result of these elements is longer than the walk says; what it says."""
    op = operator(DEFINITIONS[name], "X", "Y", made="real[3]")
    arrays = {"X": sonnx.real(x), "Y": sonnx.real(y)}
    call = Call("Stand", dict.fromkeys(arrays, tensor_type("real[3]")))
    claim = lengths(op, call, {key: lengths_of(array) for key, array in arrays.items()})
    made = sonnx.real(np.asarray(evaluate(op, arrays, {})["Z"]))
    found = lengths_of(made)
    # Zeros are below every power of two, whatever is said of them by themselves.
    assert all(abs(each) < Fraction(2) ** claim.magnitude for each in made.reshape(-1).tolist())
    for part in ("twos", "odd", "common", "longest"):
        assert getattr(found, part) <= getattr(claim, part), part
    return claim


def test_what_grows_without_a_known_end_is_refused() -> None:
    op = operator(folded(lambda s, x, y: s * x), "X", "Y")
    call = Call("Stand", {name: tensor_type("real[3]") for name in "XY"})
    with pytest.raises(DefinitionError, match="how long"):
        lengths(op, call, {"X": Lengths(3, longest=5), "Y": Lengths()})


def test_integers_are_as_long_as_the_longest() -> None:
    op = operator(elementwise(lambda X: X + 0), "X")
    call = Call("Stand", {"X": tensor_type("int8[3]")})
    assert lengths(op, call, {}).magnitude > OF_INTEGERS.magnitude


# Fractions whose digits all count: long and short, above and below 1, with even and odd denominators.
LONG = (
    [Fraction(2**20 - 1, 2**13), Fraction(-(2**17) + 1, 3**9), Fraction(2**19 - 1, 7)],
    [Fraction(3**12, 2**20), Fraction(-1, 2**9 * 5), Fraction(2**18 + 1, 11)],
)
SHORT = ([Fraction(1, 3)] * 3, [Fraction(1, 2**30 - 1)] * 3)


def test_of_long_fractions_no_result_is_longer_and_hardly_any_is_much_shorter() -> None:
    for name in DEFINITIONS:
        for x, y in (LONG, LONG[::-1], SHORT, SHORT[::-1]):
            claim = see_no_longer(name, x, y)
            # Nothing here has more than three products of two fractions, of 40 bits at most each; or 3^40.
            assert (claim.magnitude <= 3 * 2 * 40) or "divide" in name
            assert claim.twos <= 3 * 2 * 40


def test_lengths_by_hand() -> None:
    def of(definition: Definition, **given: Lengths) -> Lengths:
        call = Call("Stand", dict.fromkeys("XY", tensor_type("real[3]")))
        return lengths(operator(definition, "X", "Y", made="real[3]"), call, given)

    x, y = Lengths(3, 4, 5, 6, 20), Lengths(7, 2, 0, 0, 11)
    both = {"X": x, "Y": y}
    assert of(DEFINITIONS["select"], **both) == Lengths(7, 4, 5, 6, 20)  # the longer one in each respect
    product = of(DEFINITIONS["multiply"], **both)
    assert (product.twos, product.odd, product.common) == (6, 5, 6)
    assert 10 <= product.magnitude <= 12
    total = of(DEFINITIONS["a sum"], **both)
    # 3 terms below 8 together are below 32, whatever more is said; of 5 odd bits each they have 6 in common.
    assert (total.twos, total.odd) == (4, 6)
    assert 5 <= total.magnitude <= 7
    # 3/8 is below 1, and its denominator 2^3; 255/28 is below 2^4, 28 is 2^2·7.
    eighths = of(elementwise(lambda X, Y: select(X < Y, 0.375, 0.375)), **both)
    assert (eighths.magnitude, eighths.twos, eighths.odd, eighths.longest) == (0, 3, 0, 6)
    parts = of(elementwise(lambda X, Y: select(X < Y, Fraction(255, 28), Fraction(255, 28))), **both)
    assert (parts.magnitude, parts.twos, parts.odd) == (4, 2, 3)
    # Where an operand is no real, it is an integer.
    assert of(elementwise(lambda X, Y: select(X < Y, X, Y))) == OF_INTEGERS


LONGER, BY_HAND = (
    test_of_long_fractions_no_result_is_longer_and_hardly_any_is_much_shorter,
    test_lengths_by_hand,
)
REFUSED, WALK = test_what_grows_without_a_known_end_is_refused, walk._Walk
MUTANTS = {
    "a literal one bit too short": Mutant(
        WALK._literal, "bottom.bit_length() + 1, 0", "bottom.bit_length(), 0", LONGER
    ),
    "no powers of two": Mutant(WALK._literal, "(bottom & -bottom).bit_length() - 1", "0 * bottom", LONGER),
    "twos among the odd bits": Mutant(
        WALK._literal, "(bottom >> twos).bit_length()", "bottom.bit_length()", BY_HAND
    ),
    "one of two branches": Mutant(WALK._select, "term.arguments[1:]", "term.arguments[1:2]", LONGER),
    "the condition as a branch": Mutant(
        WALK._select, "term.arguments[1:]", "term.arguments[0].arguments", LONGER
    ),
    "one operand of a sum": Mutant(WALK._add, "OF_ONES, b, 1", "OF_ONES, a, 1", LONGER),
    "a product like a sum": Mutant(
        WALK._multiply, "summed(a, b, _ZEROS, 1)", "summed(a, OF_ONES, b, 1)", LONGER
    ),
    "a divisor of at least 1": Mutant(WALK._divide, "a.magnitude + b.twos + b.odd", "a.magnitude", LONGER),
    "a numerator that vanishes": Mutant(WALK._divide, "a.odd + top", "a.odd", LONGER),
    "one denominator of what is left over": Mutant(WALK._left_over, "OF_ONES, b, 1", "OF_ONES, a, 1", LONGER),
    "a product without its sum": Mutant(
        WALK._plus_product, "summed(a, b, total, 1)", "summed(a, b, _ZEROS, 1)", LONGER
    ),
    "one term of a fold": Mutant(WALK._fold, "prod(term.data[0])", "1", LONGER),
    "a fold without its start": Mutant(WALK._fold, "moved((first, self(step)))", "self(step)", LONGER),
    "sums of products without a start": Mutant(
        WALK._fold, "self(step.arguments[2]), first, terms", "self(step.arguments[2]), _ZEROS, terms", LONGER
    ),
    "any fold only moves": Mutant(WALK._fold, "not calculates(step)", "True", REFUSED),
    "what is not known is zero": Mutant(WALK._read, "OF_INTEGERS", "_ZEROS", BY_HAND),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_lengths_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
