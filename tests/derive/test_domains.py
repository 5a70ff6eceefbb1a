"""Where a definition is not defined: the first element there, and the error that ends a run (D-ALL-11)."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sonnx
from sonnx.derive.evaluate import evaluate
from sonnx.evaluate.apply import apply
from sonnx.numeric.arrays import Array
from sonnx.operators import operator
from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain, elementwise
from sonnx.terms.words import select
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.outside import OutsideError

pytestmark = pytest.mark.measured


def kept(A: Term, B: Term) -> Term:
    return select(B < A, B, A)


def of_domain(domain: Domain) -> Operator:
    return replace(operator("mul"), definition=elementwise(kept, domain=domain))


def above(A: Term, B: Term) -> Truth:
    return (B > 0) & (A != B)


ABOVE = of_domain(Domain(above, "B is positive and not A"))


def ints(*rows: list[int]) -> Array:
    return np.array(rows, np.int32)


def test_the_first_element_outside_in_c_order_is_named_with_its_values() -> None:
    arrays = {"A": ints([1, 2, 3], [4, 5, 6]), "B": ints([2, 3, 4], [5, 5, 0])}
    with pytest.raises(OutsideError) as caught:
        evaluate(ABOVE, arrays, {})
    shown = [(each.name, each.value) for each in caught.value.outside.values]
    assert shown == [("A[1,1]", "5"), ("B[1,1]", "5")]
    assert str(caught.value) == "Mul: B is positive and not A"


def test_inside_nothing_happens_and_no_element_is_in_any_domain() -> None:
    inside = {"A": ints([1, 2]), "B": ints([2, 1])}
    assert evaluate(ABOVE, inside, {})["C"].tolist() == [[1, 1]]
    none = {"A": np.zeros((0, 2), np.int32), "B": np.zeros((0, 2), np.int32)}
    assert evaluate(ABOVE, none, {})["C"].shape == (0, 2)


def test_results_without_axes_are_named_without_an_index() -> None:
    with pytest.raises(OutsideError) as caught:
        evaluate(ABOVE, {"A": np.array(1, np.int32), "B": np.array(-7, np.int32)}, {})
    assert [(each.name, each.value) for each in caught.value.outside.values] == [("A", "1"), ("B", "-7")]


def test_a_domain_asks_only_the_kinds_of_types_that_it_names() -> None:
    floats = {"A": np.array([0], np.float32), "B": np.array([-1], np.float32)}
    assert evaluate(ABOVE, floats, {})["C"].tolist() == [-1]
    reals = {name: sonnx.real(array) for name, array in floats.items()}
    with pytest.raises(OutsideError):
        evaluate(ABOVE, reals, {})
    integers_alone = of_domain(Domain(above, "B is positive", kinds=("integers",)))
    assert evaluate(integers_alone, reals, {})["C"].tolist() == [Fraction(-1)]


def test_a_call_outside_raises_an_error_that_says_rule_place_values_and_what_to_do() -> None:
    with pytest.raises(sonnx.DomainError) as caught:
        apply(ABOVE, {"A": ints([1, 0]), "B": ints([2, 0])}, {})
    assert str(caught.value) == (
        "error[mul.A.D8]: At every element, B is positive and not A\n"
        "  --> call of Mul\n"
        "   A[0,1] = 0\n"
        "   B[0,1] = 0\n"
        "  help: the run stopped there and gives no output (D-ALL-11); give it other values, or put others "
        "in their place before this node, as Where does\n"
        "  more: sonnx explain mul.A.D8"
    )
    (finding,) = caught.value.findings
    assert (finding.rule, finding.operator, finding.location) == ("mul.A.D8", "Mul", None)
    assert isinstance(caught.value, sonnx.RuleError)
    for again in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert type(again) is sonnx.DomainError
        assert (again.findings, str(again)) == (caught.value.findings, str(caught.value))
