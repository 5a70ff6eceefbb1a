"""Definitions called on operands that write down what is done, and ways through what comes of it."""

from typing import Any

import pytest

from sonnx.terms.tensors import Given, Made, index, tensor
from sonnx.terms.term import DefinitionError, Sort, Term, Truth
from sonnx.terms.tracing import elementwise, tensorwise, trace
from sonnx.terms.walking import (
    asks_indices,
    calculates,
    compares,
    parts,
    substituted,
    without_names,
    without_nans,
)
from sonnx.terms.words import is_minus_zero, is_nan, maximum, select, value, word

pytestmark = pytest.mark.measured

x, y = value("x"), value("y")


def leaky(X: Term, alpha: float) -> Term:
    return select(X < 0, alpha * X, X)


def test_an_elementwise_definition_takes_elements_and_attributes_by_name() -> None:
    found = trace(elementwise(leaky), {"X": Given("X", (2, 3))}, {"alpha": 0.25, "unused": 1})
    assert found.element is not None
    assert found.element.names == ("X",)
    assert repr(found.element.term) == (
        "(select (less (value X) (literal 0)) (multiply (literal 1/4) (value X)) (value X))"
    )
    assert found.element.executed is found.element.term
    (made,) = found.made
    assert made.shape == (2, 3)
    assert repr(made.term).startswith("(select (less (read X (index i0) (index i1)) (literal 0))")


def test_scalars_beside_tensors_are_read_as_such() -> None:
    def scaled(s: Term, X: Term) -> Term:
        return s * X

    found = trace(elementwise(scaled), {"s": Given("s", ()), "X": Given("X", (4,))}, {})
    assert found.made[0].shape == (4,)
    assert repr(found.made[0].term) == "(multiply (read s) (read X (index i0)))"
    alone = trace(elementwise(scaled), {"s": Given("s", ()), "X": Given("X", ())}, {})
    assert alone.made[0].shape == ()


def test_another_form_is_executed_and_integers_have_their_own() -> None:
    def first(x: Term) -> Term:
        return x + x

    def second(x: Term) -> Term:
        return 2 * x

    def third(x: Term) -> Term:
        return 3 * x

    definition = elementwise(first, executed=second, integers=third)
    floats = trace(definition, {"x": Given("x", ())}, {}).element
    assert floats is not None
    assert (floats.term, floats.executed) == (x + x, 2 * x)
    integers = trace(definition, {"x": Given("x", ())}, {}, integers=True).element
    assert integers is not None
    assert (integers.term, integers.executed) == (3 * x, 3 * x)
    same = trace(elementwise(first, executed=second), {"x": Given("x", ())}, {}, integers=True).element
    assert same is not None
    assert same.executed is 2 * x


def test_truths_come_in_and_go_out() -> None:
    def both(a: Term, b: Term) -> Any:
        return a & b

    given = {name: Given(name, (2,), Sort.TRUTH) for name in ("a", "b")}
    assert trace(elementwise(both), given, {}).made[0].term.sort is Sort.TRUTH


def test_any_number_of_operands_are_given_by_position() -> None:
    def total(*X: Term) -> Term:
        return X[0] + X[1] + X[2]

    operands = {f"X{m}": Given(f"X{m}", ()) for m in range(3)}
    element = trace(elementwise(total), operands, {}).element
    assert element is not None
    assert repr(element.term) == "(add (add (value X0) (value X1)) (value X2))"


def test_a_definition_of_tensors_gives_one_or_several() -> None:
    def turned(X: Given, *, perm: tuple[int, ...]) -> Made:
        return tensor([X.shape[axis] for axis in perm], lambda i, j: X[j, i])

    def halves(X: Given, sizes: tuple[int, ...], absent: Given | None) -> tuple[Made, ...]:
        assert absent is None
        return tuple(tensor((size,), lambda i, n=size: X[i + n - sizes[0]]) for size in sizes)

    found = trace(tensorwise(turned), {"X": Given("X", (2, 3))}, {"perm": (1, 0)})
    assert (found.made[0].shape, found.element) == ((3, 2), None)
    several = trace(tensorwise(halves), {"X": Given("X", (4,)), "sizes": (2, 2), "absent": None}, {})
    assert [made.shape for made in several.made] == [(2,), (2,)]
    assert list(several.operands) == ["X"]


def test_a_definition_that_is_none_says_why() -> None:
    with pytest.raises(DefinitionError, match="takes `slope`, which is no operand or attribute"):
        trace(elementwise(lambda X, slope: X), {"X": Given("X", ())}, {})
    with pytest.raises(DefinitionError, match=r"gives tensor\(shape, at\), not int"):
        trace(tensorwise(lambda X: 1), {"X": Given("X", ())}, {})


def test_every_part_comes_once_and_after_its_arguments() -> None:
    shared = x + y
    term = shared * shared
    listed = list(parts(term))
    assert [each.word for each in listed] == ["value", "value", "add", "multiply"]


def test_values_are_replaced_by_terms() -> None:
    assert substituted(x + y, {"x": y * y}) is (y * y) + y


def test_names_give_way_to_their_bodies() -> None:
    plain = without_names(maximum(x + 1, y))
    assert not any(each.word == "named" for each in parts(plain))
    assert repr(plain).startswith("(select (Clause")
    nested = without_names(maximum(maximum(x, y), y))
    assert not any(each.word == "named" for each in parts(nested))


@word(r"\mathrm{twice}")
def twice(a: Term) -> Term:
    return a + a


def test_without_nans_what_asks_for_one_is_decided() -> None:
    assert without_nans(select(is_nan(x), y, x)) is x
    assert without_nans(select(~is_nan(x), y, x)) is y
    assert without_nans(select(~truth(x < y), y, x)) is select(~truth(x < y), y, x)
    assert without_nans(select(is_nan(x) & (x < y), y, x)) is x
    assert without_nans(select(is_nan(x) | (x < y), y, x)) is select(x < y, y, x)
    assert without_nans(select((x < y) & (y < x), y, x)) is select(truth(x < y) & (y < x), y, x)
    assert without_nans(select(is_minus_zero(x), y, x)) is x
    assert without_nans(twice(x)) is twice(x)
    assert not any(each.word in ("named", "is_nan") for each in parts(without_nans(maximum(x, y))))


def test_below_zero_nothing_is_unsigned() -> None:
    def chosen(condition: Truth) -> object:
        return without_nans(select(condition, x, y), signed=False)

    for never in (x < 0, x < -1, x <= -1, x == -1):
        assert chosen(never) is y, never
    for always in (x >= 0, x > -1, x >= -1, ~truth(x == -1)):
        assert chosen(always) is x, always
    for either in (x < 1, x <= 0, x == 0, x > 0, x < y, x > 1, x >= 1):
        assert chosen(either) is select(either, x, y), either
        assert without_nans(select(either, x, y)) is select(either, x, y), either
    assert without_nans(select(x < 0, x, y)) is select(x < 0, x, y)
    assert without_nans(truth(x < 0), signed=False) is truth(x < 0)


def truth(term: object) -> Term:
    assert isinstance(term, Term)
    return term


def test_what_only_moves_or_chooses_calculates_nothing() -> None:
    X = Given("X", (2,))
    i = index("i")
    assert not calculates(X[i + 1])
    assert not calculates(select(x < y, x, y))
    assert calculates(x + y)
    assert calculates(maximum(x, y))
    assert not compares(X[i + 1])
    assert not compares(select(truth(i < 1), x, y))
    assert compares(select(x < y, x, y))
    assert compares(select(is_nan(x), x, y))
    assert compares(twice(x))
    assert compares(x * y)


def test_conditions_on_indices_are_told_from_those_on_elements() -> None:
    assert asks_indices(truth(index("i") < 1))
    assert not asks_indices(truth(x < 1))
