"""Trials that follow from definitions: what they hold, on both sides of every comparison."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned
from tests.loops import for_each

from sonnx.check.calls import check_call
from sonnx.derive.clauses import clauses
from sonnx.derive.trials import drawn, trials
from sonnx.model.dtype import INTEGERS, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type
from sonnx.operators import operator
from sonnx.operators.catalogue import ONNX_OPERATORS
from sonnx.terms.term import DefinitionError, Term, Truth
from sonnx.terms.tracing import Domain
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Attribute, Operator
from sonnx.vocabulary.special_values import special_vector
from sonnx.vocabulary.trial import Trial
from sonnx.vocabulary.trying import Trying

pytestmark = pytest.mark.measured
NAMES = tuple(each.name for each in ONNX_OPERATORS if all(operand.form for operand in each.contract.inputs))
TYPES = (DType.FLOAT16, DType.FLOAT, DType.INT8, DType.UINT64)
NOUGHT = {b"\0", b"\0" * 8}
CASES = [
    (name, dtype)
    for name in NAMES
    for dtype in thinned([dtype for dtype in TYPES if dtype in operator(name).contract.inputs[-1].types], 2)
]


@cache
def tried(name: str, dtype: DType) -> tuple[Trial, ...]:
    return tuple(trials(operator(name), dtype, 0))


class Highest:
    """Draws the last of all choices, or with `low` the first."""

    def __init__(self, low: bool) -> None:
        self.low = low

    def integer(self, low: int, high: int) -> int:
        return low if self.low else high

    def codes(self, count: int) -> bytes:
        return bytes([0 if self.low else 255]) * count


@pytest.mark.thinned
@for_each(("name", "dtype"), CASES)
def test_derived_trials_obey_every_rule_and_have_names_of_their_own(name: str, dtype: DType) -> None:
    found = tried(name, dtype)
    assert len({trial.name for trial in found}) == len(found)
    simplest = [drawn(operator(name), Highest(low), dtype) for low in (True, False)]
    for trial in (*found, *simplest):
        types = {key: TensorType(held_type(array), array.shape) for key, array in trial.inputs.items()}
        assert not check_call(operator(name), Call(name, types, trial.attributes))
        assert trial.constants < set(trial.inputs)


@pytest.mark.thinned
@pytest.mark.no_cover
@for_each(("name", "dtype"), CASES)
def test_derived_clauses_decide_every_element(name: str, dtype: DType) -> None:
    for trial in thinned(tried(name, dtype), 30):
        if not trial.name.startswith("million"):
            found = clauses(operator(name), trial.inputs, trial.attributes)
            assert np.logical_or.reduce([clause.mask for clause in found]).all()
            assert all(clause.identifier.startswith("D-") and clause.text.endswith(".") for clause in found)


def elements(array: Any) -> set[bytes]:
    return {each.tobytes() for each in array.reshape(-1)}


# What converts has trials of its own.
BESIDE = [case for case in CASES if not operator(case[0]).trying.converts_to]


@pytest.mark.thinned
@for_each(("name", "dtype"), BESIDE)
def test_every_special_value_meets_every_other(name: str, dtype: DType) -> None:
    every = special_vector(dtype, signalling=True)
    trial = next(each for each in tried(name, dtype) if each.name.startswith(("special-values", "from-")))
    whole = {key: array for key, array in trial.inputs.items() if array.ndim and array.dtype == every.dtype}
    wanted = {key: elements(every) - (NOUGHT if is_divisor(name, key, dtype) else set()) for key in whole}
    assert {key: elements(array) for key, array in whole.items()} == wanted
    if len(whole) > 1:
        first, second = ([each.tobytes() for each in array] for array in list(whole.values())[:2])
        pairs = set(zip(first, second, strict=True))
        assert len(pairs) == np.prod([len(each) for each in list(wanted.values())[:2]])


def is_divisor(name: str, operand: str, dtype: DType) -> bool:
    """Integers by 0 have no result that could be compared (D-ALL-11)."""
    return name in ("Div", "Mod") and operand == "B" and dtype in INTEGERS


def test_elements_outside_a_domain_are_replaced_and_all_others_stay() -> None:
    divided = operator("div")
    for trial in (*tried("Div", DType.INT8), drawn(divided, Highest(low=False), DType.INT8)):
        assert (trial.inputs["B"] != 0).all()
    longest = next(each for each in tried("Div", DType.INT8) if each.name == "special-values")
    # By one divisor and every dividend, and by 0 no longer.
    assert np.count_nonzero(longest.inputs["A"] == 0) == len(special_vector(DType.INT8))
    assert all((trial.inputs["B"] == 0).any() for trial in tried("Div", DType.FLOAT)[:1])


def of_domain(inside: Callable[..., Truth]) -> Operator:
    """Clip, whose bounds may be scalars, with a domain."""
    clip = operator("clip")
    assert clip.definition is not None
    return replace(clip, definition=replace(clip.definition, domain=Domain(inside, "as said")))


def above_four(min: Term) -> Truth:
    return min > 4


def below_itself(min: Term) -> Truth:
    return min < min  # noqa: PLR0124  nothing is


def test_a_scalar_outside_is_replaced_where_any_element_is() -> None:
    above = of_domain(above_four)
    values = {each for trial in trials(above, DType.INT8, 0) for each in trial.inputs["min"].reshape(-1)}
    assert min(values) > 4
    assert len(values) > 1
    nowhere = of_domain(below_itself)
    with pytest.raises(DefinitionError, match="no special value of int8 lies inside the domain of Clip"):
        next(trials(nowhere, DType.INT8, 0))


def test_seams_lie_where_the_line_of_hard_sigmoid_leaves_0_and_reaches_1() -> None:
    """By hand: 0.2·x + 0.5 is 0 near -2.5 and 1 near 2.5, and the nearest floats of either side are asked."""
    (trial,) = [each for each in tried("HardSigmoid", DType.FLOAT) if each.name == "seams-0"]
    alpha, beta, X = np.float32(0.2), np.float32(0.5), trial.inputs["X"]
    assert trial.attributes == {"alpha": float(alpha), "beta": float(beta)}
    with np.errstate(all="ignore"):
        line = alpha * X + beta
    for end, here in ((0, -2.5), (1, 2.5)):
        near = np.unique(X[np.abs(X - np.float32(here)) < 0.01])
        below = near[alpha * near + beta < end] if end == 0 else near[alpha * near + beta <= end]
        assert 0 < len(below) < len(near)
        # They are neighbours: nothing lies between both sides.
        assert np.nextafter(below[-1], np.float32(np.inf)) == near[len(below)]
    assert np.isfinite(line).any()


def test_seams_of_integers_are_beside_the_numbers_that_are_compared_with() -> None:
    (trial,) = [each for each in tried("Relu", DType.INT8) if each.name.startswith("seams")]
    assert trial.inputs["X"].tolist() == [-2, -1, 0, 1, 2]
    (unsigned,) = [each for each in tried("Clip", DType.UINT64) if each.name == "beside-the-bounds"]
    assert unsigned.inputs["input"].tolist() == [8, 9, 10, 11, 12, 98, 99, 100, 101, 102]


def test_attributes_are_tried_at_their_default_and_elsewhere() -> None:
    found = {tuple(trial.attributes.values()) for trial in tried("HardSigmoid", DType.FLOAT)}
    assert (float(np.float32(0.2)), 0.5) in found
    assert len(found) == 12
    assert {0.0, 1.0, -1.5} <= {alpha for alpha, _ in found} & {beta for _, beta in found}


def test_variadic_operators_are_tried_with_several_operands() -> None:
    assert {len(trial.inputs) for trial in tried("Max", DType.INT8)} == {1, 2, 3, 5}
    held = {trial.constants for trial in tried("Max", DType.INT8)}
    assert {frozenset(), frozenset({"data_0"}), frozenset({"data_1"})} <= held


def test_a_composition_is_decided_by_its_own_ruling() -> None:
    X = np.array([1, np.nan, 2.0**-149], np.float32)
    found = clauses(operator("HardSwish"), {"X": X}, {})
    assert [clause.identifier for clause in found] == ["D-ALL-4", "D-ALL-4", "D-HARDSWISH"]
    assert [clause.mask.tolist() for clause in found[:2]] == [[False, True, False], [False, False, True]]


def test_an_attribute_of_no_float_is_tried_at_its_default() -> None:
    relu = operator("Relu")
    axis = Attribute("axis", "int", "an axis", default_in_onnx=1)
    known = replace(relu, contract=replace(relu.contract, attributes=(axis,)))
    assert {trial.attributes["axis"] for trial in trials(known, DType.INT8, 0)} == {1}


def test_of_moved_elements_bits_and_places_decide() -> None:
    x = np.array([-0.0, 1, np.nan, 2.0**-149], np.float32)
    expand, joined = (replace(operator(name), trying=Trying()) for name in ("Expand", "xla.Concatenate"))
    shape: dict[str, Array] = {"input": x, "shape": np.array([2, 4], np.int64)}
    for found, rows in (
        (clauses(expand, shape, {}), 2),
        (clauses(joined, {"operands0": x[None], "operands1": x[None]}, {"dimension": 0}), 2),
    ):
        masks = [[[False, False, True, False]], [[True, False, False, False]], [[False, False, False, True]]]
        assert [clause.mask.tolist() for clause in found[:3]] == [mask * rows for mask in masks]
        assert found[-1].mask.all()


def test_truths_have_no_neighbours_to_be_tried() -> None:
    clamp = operator("xla.Clamp")
    names = [trial.name for trial in trials(clamp, DType.BOOL, 0)]
    assert any("both-" in name for name in names)
    assert not any("beside-the-bounds" in name for name in names)
