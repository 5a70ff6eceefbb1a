"""Which ruling decides an element, by hand for definitions made up here; wrong clauses are noticed."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from tests.derive import test_moves_walk as moving
from tests.derive.test_evaluate_walk import operator
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import clauses as walk
from sonnx.derive.clauses import clauses, rulings
from sonnx.derive.tracing import traced
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.arrays import Array
from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, is_nan, otherwise, value, when, word
from sonnx.vocabulary.trial import Clause
from sonnx.vocabulary.trying import Trying

pytestmark = pytest.mark.measured

TINY = 2.0**-149
NAN, INF = np.nan, np.inf
ZERO, CALCULATED, MEANT = (
    "A zero is moved with its sign.",
    "A NaN that is calculated is any NaN, and nothing else.",
    "The element is the one that the definition gives.",
)
COMPARED, STAYS = "Subnormal numbers are compared as they are, and kept.", "A subnormal number is kept."
CHOSEN = "What is not chosen has no influence, be it NaN or infinite."
SUMMED = "Subnormal numbers are calculated with as they are, and kept."


@word(r"\lim")
def limited(x: Term) -> Term:
    """It stays, or is -2."""
    return cases(when(x < -2, -2, "D-LOW", "Low."), otherwise(x, "D-KEPT", "Kept."))


def chain(X: Term) -> Term:
    return cases(
        when(X < 0, 0, "D-LOW", "Below."),
        when(X < 5, X, "D-MIDDLE", "Between."),
        otherwise(5, "D-HIGH", "Above."),
    )


def chosen(truth: Term, X: Term, Y: Term) -> Term:
    return cases(when(truth, X, "D-X", "X."), otherwise(Y, "D-Y", "Y."))


def told(X: Term) -> Term:
    return cases(when(is_nan(X), X, "D-NAN", "A NaN stays."), otherwise(X, "D-KEPT", "Kept."))


def total(X: Term, Y: Term) -> Term:
    return cases(otherwise(X + Y, "D-ADD", "The sum."))


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def deciding(defined: Callable[..., Term], inputs: Mapping[str, Array]) -> list[str]:
    """The sentence that decides each element: the first whose mask has it."""
    size = max(each.size for each in inputs.values())
    found = clauses(operator(elementwise(defined), *inputs, made=f"float[{size}]"), inputs, {})
    return [next(each.text for each in found if each.mask[place]) for place in range(size)]


def test_the_first_case_that_holds_decides_after_what_is_easily_lost() -> None:
    x = f32(-3, -0.0, TINY, 2, INF, NAN, 9, -TINY)
    assert deciding(chain, {"X": x}) == [
        "Below.",
        ZERO,
        COMPARED,
        "Between.",
        *["Above."] * 3,  # a NaN is not below anything, and becomes 5
        COMPARED,
    ]
    # Where a case asks for NaNs, that case says what becomes of them.
    assert deciding(told, {"X": f32(NAN, 1, -0.0, TINY)}) == ["A NaN stays.", "Kept.", ZERO, COMPARED]
    x = f32(-3, 1, -2, NAN)
    nan = "A NaN is moved with every bit: its sign, its payload, and that it signals."
    assert deciding(lambda X: limited(X), {"X": x}) == ["Low.", "Kept.", "Kept.", nan]  # noqa: PLW0108  (names)
    assert deciding(lambda X: X, {"X": f32(1, INF)}) == [MEANT, CHOSEN]


def test_a_byte_of_a_condition_and_what_is_not_chosen_are_easily_lost() -> None:
    inputs = {
        "truth": np.array([0, 1, 2, 1, 0, 1, 0], np.uint8).view(bool),
        "X": f32(1, 2, 3, -0.0, 1, 4, 1),
        "Y": f32(5, 6, 7, 8, 9, INF, TINY),
    }
    wanted = ["Y.", "X.", "Every byte of a bool but 0 is true.", ZERO, "Y.", CHOSEN, STAYS]
    assert deciding(chosen, inputs) == wanted
    # A scalar serves all elements, so what is strange in it is beside each of them.
    inputs = {"truth": np.array([True, False]), "X": f32(1, 2), "Y": np.array(NAN, np.float32)}
    assert deciding(chosen, inputs)[0] == CHOSEN


def test_where_elements_are_calculated_with_nans_and_subnormal_numbers_are_easily_lost() -> None:
    x, y = f32(1, INF, TINY, 1.5 * 2.0**-126, 1), f32(2, -INF, 1, -(2.0**-126), TINY)
    assert deciding(total, {"X": x, "Y": y}) == ["The sum.", CALCULATED, SUMMED, SUMMED, SUMMED]


def test_what_an_operator_says_before_leaves_out_what_it_has_told() -> None:
    inputs = {"X": f32(1, INF, TINY), "Y": f32(2, -INF, 1)}

    def found(*masks: list[bool]) -> list[str]:
        before = tuple(Clause("D-OWN", f"{number}.", np.array(mask)) for number, mask in enumerate(masks))
        of = operator(elementwise(total), *inputs, trying=Trying(before=lambda _inputs, _attributes: before))
        return [each.text for each in clauses(of, inputs, {})]

    assert found() == [CALCULATED, SUMMED, "The sum."]
    assert found([False, True, False]) == ["0.", SUMMED, "The sum."]
    assert found([False, False, True]) == ["0.", CALCULATED, "The sum."]
    assert found([True, False, False], [False, True, True]) == ["0.", "1."]


def test_rulings_are_named_once_in_the_order_of_the_cases() -> None:
    def of(defined: Callable[..., Term]) -> Any:
        return rulings(traced(operator(elementwise(defined), "X"), {"X": tensor_type("float[2]")}, {}, {}))

    assert of(chain) == ("D-LOW", "D-MIDDLE", "D-HIGH")
    both = cases(when(is_nan(value("X")), 0, "D-A", "A."), otherwise(1, "D-A", "B."))
    assert of(lambda X: both) == ("D-A",)
    assert of(lambda X: limited(X)) == ("D-LOW", "D-KEPT")  # noqa: PLW0108  (names)
    assert of(lambda X: X + 1) == ("D-ALL-4",)


ORDER, BYTES = (
    test_the_first_case_that_holds_decides_after_what_is_easily_lost,
    test_a_byte_of_a_condition_and_what_is_not_chosen_are_easily_lost,
)
SUMS = test_where_elements_are_calculated_with_nans_and_subnormal_numbers_are_easily_lost
BEFORE, NAMED = (
    test_what_an_operator_says_before_leaves_out_what_it_has_told,
    test_rulings_are_named_once_in_the_order_of_the_cases,
)
INDICES = moving.test_what_indices_decide_has_the_clause_of_the_rest
MUTANTS = {
    "the last case left out": Mutant(walk._said, "if after is not None else", "if False else", ORDER),
    "another branch goes on": Mutant(walk._said, "condition, _, rest", "condition, rest, _", ORDER),
    "what indices choose": Mutant(
        walk._said, "_said(term.arguments[2])", "_said(term.arguments[1])", INDICES
    ),
    "a named word says nothing": Mutant(walk._said, 'case "named":', 'case "never":', NAMED),
    "a statement says nothing": Mutant(walk._said, 'case "stated":', 'case "never":', SUMS),
    "rulings again and again": Mutant(
        walk.rulings, "dict.fromkeys(said.ruling for", "list(said.ruling for", NAMED
    ),
    "every true byte is strange": Mutant(walk._truths, "> 1", "> 0", BYTES),
    "a byte of the result's own": Mutant(walk._truths, "is Sort.TRUTH", "is not Sort.TRUTH", BYTES),
    "NaNs told twice": Mutant(walk._chosen, "1 if asked else 0", "0", ORDER),
    "NaNs not told": Mutant(walk._chosen, "1 if asked else 0", "1", ORDER),
    "only infinities are strange": Mutant(
        walk._chosen, "is_nan(array) | is_infinite(array)", "is_infinite(array)", BYTES
    ),
    "scalars are never strange": Mutant(walk._chosen, "in ((), output.shape)", "== output.shape", BYTES),
    "subnormal results alone": Mutant(walk._calculated, "tiny = tiny | is_subnormal(array)", "pass", SUMS),
    "subnormal operands alone": Mutant(
        walk._calculated, "tiny = is_subnormal(output)", "tiny = is_subnormal(output) & False", SUMS
    ),
    "NaNs of operands": Mutant(
        walk._calculated, "is_nan(output)", "is_nan(next(iter(inputs.values())))", SUMS
    ),
    "told where nothing is told": Mutant(
        walk.clauses, "(each.mask & ~told).any()", "each.mask.any()", BEFORE
    ),
    "everything said again": Mutant(walk.clauses, "() if before and told.all() else said", "said", BEFORE),
    "nothing said before": Mutant(walk.clauses, "return (*before, *lost", "return (*lost", BEFORE),
    "truths after all": Mutant(walk.clauses, "return (*before, *_chosen", "return (*_chosen", BYTES),
    "every case holds everywhere": Mutant(
        walk._cases, "np.broadcast_to(walk(condition), shape)", "everywhere(shape)", ORDER
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_clauses_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
