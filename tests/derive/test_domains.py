"""Where a definition is not defined: the first element there, and the error that ends a run (D-ALL-11)."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.derive.kernel_support import stand_in

import sonnx
from sonnx.derive import evaluate as evaluation
from sonnx.derive.domains import require_decided
from sonnx.derive.evaluate import evaluate, require_defined
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.numeric.balls import UndecidedError
from sonnx.operators import operator
from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain, elementwise, tensorwise
from sonnx.terms.words import maximum, select
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


def test_a_domain_can_be_asked_without_executing_anything() -> None:
    arrays = {"A": ints([1, 2], [4, 5]), "B": ints([2, 3], [5, 0])}
    with pytest.raises(OutsideError) as met:
        require_defined(ABOVE, arrays, {})
    assert met.value.outside.values[-1].value == "0"
    require_defined(ABOVE, {"A": ints([1]), "B": ints([2])}, {})


def larger_neighbours(X: Given) -> Made:
    return tensor((X.shape[0] - 1,), lambda i: maximum(X[i], X[i + 1]))


def equal_neighbours() -> tuple[Operator, dict[str, Array]]:
    """A definition of tensors, and reals of which the last two are equal, which no enclosure shows."""
    root = sonnx.sqrt(sonnx.real(["2"]))[0]
    array = np.empty(3, object)
    array[:] = [Fraction(1), root * root, Fraction(2)]
    nobody = stand_in(tensorwise(larger_neighbours), "X")
    made = replace(nobody.contract, output_types=lambda _call: {"Z": TensorType(DType.REAL, (2,))})
    return replace(nobody, contract=made), {"X": array}


def test_of_definitions_of_tensors_the_index_is_named_at_which_nothing_is_decided() -> None:
    made_up, arrays = equal_neighbours()
    with pytest.raises(OutsideError) as met:
        evaluate(made_up, arrays, {})
    assert [(each.name, each.value) for each in met.value.outside.values] == [("Z[1]", "not decided")]


def test_where_no_element_alone_is_undecided_the_error_is_what_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_decided(ABOVE, ("A",), {"A": ints([1])}, [("C", (1, 1))], lambda *_: None)
    monkeypatch.setattr(evaluation, "require_decided", lambda *_: None)
    made_up, arrays = equal_neighbours()
    with pytest.raises(UndecidedError):
        evaluate(made_up, arrays, {})


def test_an_element_outside_before_one_that_is_undecided_is_named_with_its_index() -> None:
    two = sonnx.sqrt(sonnx.real(["0", "2"]))
    divisors = sonnx.sub(
        sonnx.mul(two, two), sonnx.real(["0", "2"])
    )  # 0, and what no enclosure tells from it
    with pytest.raises(OutsideError) as caught:
        evaluate(operator("div"), {"A": sonnx.real(["4", "3"]), "B": divisors}, {})
    assert [(each.name, each.value) for each in caught.value.outside.values] == [("A[0]", "4"), ("B[0]", "0")]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("div", {"A": [Fraction(10**5000)], "B": [Fraction(0)]}),
        ("sqrt", {"X": [Fraction(-(10**5000), 3)]}),
    ],
)
def test_numbers_longer_than_python_writes_are_shown(name: str, given: dict[str, list[Fraction]]) -> None:
    arrays = {operand: sonnx.real(values) for operand, values in given.items()}
    with pytest.raises(OutsideError) as caught:
        evaluate(operator(name), arrays, {})
    assert "1" + "0" * 5000 in caught.value.outside.values[0].value
