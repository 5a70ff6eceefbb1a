"""Calls of moves that regroup sizes, add and leave out axes, or divide a size; how their trials are cut."""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from tests.derive.moves_made_up import BLOCKS, DROP, DROP_ONE, EVERY, GATHERED, GROW, LEVEL, REFORM, REGROUP
from tests.derive.test_moves_walk import Simplest

from sonnx.conformance.reduction import reduced
from sonnx.conformance.runtimes import question
from sonnx.conformance.subjects import Subject
from sonnx.derive import calls, forms
from sonnx.derive.evaluate import evaluate
from sonnx.derive.formula import formula
from sonnx.derive.trials import drawn, trials
from sonnx.model.dtype import DType
from sonnx.vocabulary.integers import Divisor, regrouped
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured


def written(of: Operator, name: str, shape: tuple[int, ...]) -> set[Any]:
    """What is written in the calls of one shape, however many of them are tried."""
    ways = calls._ways(of.contract, shape, ())  # a few of these become trials
    return {{**each.attributes, **each.decided}[name] for each in ways}


def test_sizes_are_regrouped_in_every_way_to_as_many_elements() -> None:
    assert written(REFORM, "shape", (4, 3)) == {
        *((4, 3), (12,), (3, 4), (1, 4, 3), (4, 3, 1)),
        *((2, 2, 3), (4, 1, 3)),
    }
    assert written(REFORM, "shape", (3, 1, 2)) >= {(3, 2), (6,), (2, 1, 3), (3, 1, 1, 2)}
    assert written(REFORM, "shape", (2, 3, 4)) >= {(6, 4), (2, 12), (1, 2, 3, 4), (2, 3, 2, 2)}
    assert written(REFORM, "shape", ()) == {(), (1,)}
    assert written(REFORM, "shape", (1, 1)) >= {(), (1,), (1, 1), (1, 1, 1)}
    assert written(REFORM, "shape", (0, 5)) >= {(0,), (5, 0), (0, 3), (2, 0, 4)}


def test_axes_that_come_and_go_are_asked_for_in_every_way() -> None:
    assert written(LEVEL, "axis", (3, 4)) == {0, 1, 2, -1}
    assert written(LEVEL, "axis", ()) == {0}
    assert written(DROP, "axes", (1, 3, 1)) == {(), (0,), (2,), (0, 2)}
    assert written(DROP_ONE, "axis", (1, 3, 1)) == {0, 2}
    assert written(GROW, "axes", (3,)) == {(), (0,), (1,), (0, 1), (0, 2), (1, 2)}


def test_divisors_and_choices_are_asked_for_as_far_as_they_conform() -> None:
    assert written(BLOCKS, "blocksize", (1, 16, 2, 3)) == {1, 2, 4}
    assert written(BLOCKS, "order", (1, 16, 2, 3)) == {"far", "near"}
    assert written(GATHERED, "parts", (4, 6)) == {1, 2}
    assert written(GATHERED, "kind", (4, 6)) == {0, 1}
    shapes = {each.shapes["data"] for each in calls.calls(BLOCKS).values()}
    assert {len(shape) for shape in shapes} == {4}
    assert shapes >= {(1, 1, 1, 1), (1, 8, 2, 3), (0, 8, 2, 3), (1, 8, 2, 0), (2, 8, 2, 3), (1, 16, 2, 3)}


@pytest.mark.parametrize("name", [name for name in EVERY if name != "Gathered"])
def test_no_call_breaks_a_rule_and_sizes_grow(name: str) -> None:
    operator = EVERY[name]
    assert calls.lines(operator)
    for each in (*calls.calls(operator).values(), *(calls.sized(one, 22) for one in calls.grown(operator))):
        assert calls.obeys(operator.contract, each)
    larger = [calls.sized(one, 22) for one in calls.grown(operator)]
    assert any(prod(each.shapes["data"]) % 22 == 0 for each in larger)
    for trial in trials(operator, DType.FLOAT16, 0):
        (moved,) = evaluate(operator, trial.inputs, trial.attributes).values()
        assert moved.size == trial.inputs["data"].size


def test_where_axes_have_their_places_a_shape_around_the_example_is_drawn() -> None:
    class Drawn(Simplest):
        """Draws the second of several."""

        def integer(self, low: int, high: int) -> int:
            return min(low + 1, high)

    assert drawn(BLOCKS, Simplest(), DType.FLOAT).inputs["data"].shape == (1, 1, 1, 1)
    assert drawn(BLOCKS, Drawn(), DType.FLOAT).inputs["data"].shape == (1, 8, 2, 3)


def test_sizes_near_to_others_have_another_product() -> None:
    assert regrouped((6, 4), 24) == (6, 4)
    assert regrouped((6, 4), 8) == (2, 4)
    assert regrouped((6, 4), 1) == (1, 1)
    assert regrouped((2, 3), 3) == (1, 3)
    assert regrouped((0, 5), 0) == (1, 0)
    assert regrouped((2, 0, 3), 0) == (2, 1, 0)
    assert regrouped((), 1) == ()
    assert Divisor("data", (0,)).divides(2, (4,))
    assert not Divisor("data", (0,), 2).divides(2, (6,))
    assert not Divisor("data", (0,)).divides(0, (6,))


# The operator, a trial of it, what still departs, and what must remain: a shape and what is written.
CUT: list[tuple[Operator, tuple[int, ...], dict[str, Any], Callable[[Trial], bool], Any]] = [
    (REGROUP, (4, 6), {"shape": (3, 1, 8), "late": 1}, lambda trial: True, ((), ())),
    (
        REFORM,
        (4, 6),
        {"shape": (3, 1, 8)},
        lambda trial: len(trial.attributes["shape"]) > 1,
        ((), (1, 1)),
    ),
    (LEVEL, (2, 3, 4), {"axis": 2}, lambda trial: True, ((), 0)),
    (LEVEL, (2, 3, 4), {"axis": -1}, lambda trial: True, ((), 0)),
    (DROP, (2, 1, 4), {"axes": (1,)}, lambda trial: trial.inputs["axes"].size > 0, ((1,), (0,))),
    (DROP_ONE, (2, 1, 4), {"axis": 1}, lambda trial: True, ((1,), 0)),
    (DROP, (2, 1, 4), {"axes": (1,)}, lambda trial: True, ((), ())),
    (GROW, (2, 3), {"axes": (1, 3)}, lambda trial: len(trial.attributes["axes"]) > 0, ((), (0,))),
    (GROW, (2, 3), {"axes": (1, 3)}, lambda trial: True, ((), ())),
    (BLOCKS, (2, 16, 3, 3), {"blocksize": 4, "order": "near"}, lambda trial: True, ((1, 1, 1, 1), 1)),
    (
        *(BLOCKS, (2, 16, 3, 3), {"blocksize": 4, "order": "near"}),
        lambda trial: trial.attributes["blocksize"] > 1,
        ((1, 4, 1, 1), 2),
    ),
]


@pytest.mark.parametrize(("operator", "shape", "given", "departs", "left"), CUT)
def test_a_failing_trial_becomes_as_small_as_what_fails(
    operator: Operator,
    shape: tuple[int, ...],
    given: dict[str, Any],
    departs: Callable[[Trial], bool],
    left: tuple[tuple[int, ...], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(question, "operator_named", lambda _: operator)
    question._output_types.cache_clear()
    data = np.ones(shape, np.float32)
    data.reshape(-1)[-2] = 7  # what departs wherever it is
    constants = {each.name for each in operator.contract.inputs if each.constant}
    inputs = {"data": data} | {name: np.array(given[name], np.int64) for name in constants}
    attributes = {name: value for name, value in given.items() if name not in constants}
    trial = Trial("t", inputs, (), "T.", attributes, frozenset(constants))
    subject = Subject(operator, lambda *_: iter(()), lambda *_: (), lambda *_: trial, forms.form_of(operator))
    small = reduced(subject, trial, lambda each: bool((each.inputs["data"] == 7).any()) and departs(each))
    name = next(iter(given))
    value = small.attributes[name] if name in small.attributes else tuple(small.inputs[name].tolist())
    assert (small.inputs["data"].shape, value) == left
    assert small.attributes.get("order", "far") == "far"
    question._output_types.cache_clear()


def test_an_element_of_a_block_is_decided_where_it_comes_from() -> None:
    form = forms.form_of(BLOCKS)
    data = np.arange(48.0).reshape(1, 8, 2, 3)
    trial = Trial("t", {"data": data}, (), "T.", {"blocksize": 2, "order": "near"})
    # Line 1 and column 1 of the block at line 0 and column 1, of channel 1: the last of channel 1's four.
    assert form.places(trial, (0, 1, 1, 3)) == {"-4": 0, "data -3": 7, "data -2": 0, "data -1": 1}


def test_formulas_are_for_any_sizes() -> None:
    assert formula(REGROUP) == (
        r"Y[i_{0}, i_{1}] = X_{\text{flat}}[i_{0} \cdot N_{2} + i_{1}] \qquad "
        r"\text{for } \text{shape of } X = [N_{0}, N_{1}, N_{2}], \; S = [S_{0}, N_{2}]"
    )
    blocks = formula(BLOCKS) or ""
    assert r"\text{blocksize} = 2" in blocks
    assert r"\text{shape of } X = [1, N_{0}, N_{1}, N_{2}]" in blocks


def test_a_definition_knows_what_an_attribute_means_that_is_not_there_yet() -> None:
    def asks(data: Any, shape: Any, late: int) -> Any:
        made = REGROUP.definition.function(data, shape)  # type: ignore[union-attr]  # it has one
        return replace(made, term=made.term if late == 0 else made.term * 2)

    late = replace(REGROUP, definition=replace(REGROUP.definition, function=asks))  # type: ignore[type-var]  # it has one
    inputs = {"data": np.ones((2, 3), np.float32), "shape": np.array([6])}
    for attributes, expected in (({}, 1), ({"late": 0}, 1), ({"late": 1}, 2)):
        (moved,) = evaluate(late, inputs, attributes).values()
        assert moved.tolist() == [expected] * 6
