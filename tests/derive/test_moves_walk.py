"""Calls of moves and how trials are cut, read off contracts: for operators that are made up here."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
import pytest

from sonnx.derive import calls, forms
from sonnx.derive.clauses import clauses
from sonnx.derive.formula import formula
from sonnx.derive.moves import moves_of
from sonnx.derive.trials import drawn, trials
from sonnx.model.dtype import IEEE, DType
from sonnx.operators import operator as known
from sonnx.operators.rules.contracts import moving
from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.tracing import tensorwise
from sonnx.terms.words import cases, otherwise, select
from sonnx.vocabulary.call import call
from sonnx.vocabulary.integers import Axes, Integers
from sonnx.vocabulary.operator import Attribute, Operand, Operator
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured


def turned(data: Given, turns: Sequence[int]) -> Made:
    shape = [data.shape[axis] for axis in turns]
    return tensor(shape, lambda *i: data[tuple(i[turns.index(axis)] for axis in range(data.rank))])


def kept(data: Given, **_attributes: Any) -> Made:
    return tensor(data.shape, lambda *i: data[i])


def operator(name: str, function: Any, holds: Integers | None, value: Any, shape: Any, data: str) -> Operator:
    attribute = Attribute("turns", "integers" if holds else "integer", "what is asked for", holds=holds)
    contract = moving(
        name,
        versions=(13,),
        summary="Made up.",
        inputs=[Operand("data", "X", "elements")],
        output=Operand("moved", "Y", "the same elements"),
        types=IEEE,
        attributes=[attribute],
        shape=shape,
        good=call(name, {"data": data}, {"turns": value}),
        ruling="D-MADE",
    )
    return Operator(contract, tensorwise(function))


TURN = operator(
    *("Turn", turned, Axes("data", "every"), (0, 2, 1)),
    *(lambda data, turns: tuple(data[axis] for axis in turns), "float[2,3,4]"),
)


def same(holds: Integers | None, value: Any) -> Operator:
    """It keeps every element where it is, whatever is written."""
    return operator(
        "Same", lambda data, turns: kept(data), holds, value, lambda data, turns: data, "float[2,3,4]"
    )


def asked(of: Operator, shape: tuple[int, ...]) -> list[Any]:
    """What is written in the calls of one shape."""
    return [
        each.attributes["turns"]
        for each in calls.calls(of).values()
        if tuple(each.shapes.values()) == (shape,)
    ]


def test_axes_are_asked_for_in_every_way_and_no_call_breaks_a_rule() -> None:
    assert set(asked(TURN, (3, 4))) == {(0, 1), (1, 0)}
    assert set(asked(TURN, (4, 2, 3))) <= set(permutations(range(3)))
    assert len(asked(TURN, (4, 2, 3))) == 4
    assert (3, 2, 1, 0) in asked(TURN, (2, 1, 3, 1))
    assert asked(TURN, ()) == [()]
    for each in calls.calls(TURN).values():
        assert calls.obeys(TURN.contract, each)
    ranks = {len(shape) for each in calls.calls(TURN).values() for shape in each.shapes.values()}
    assert ranks == {0, 1, 2, 3, 4, 6, 7, 8, 9, 63, 64}


def test_other_integers_have_their_ways_too() -> None:
    assert set(asked(same(Axes("data", from_the_end=True), (0,)), (3, 4))) == {(), (0,), (1,), (0, 1)}
    assert set(asked(same(Axes("data", "one", from_the_end=True), 0), (3, 4))) == {0, 1, -1}
    # Of what stands for nothing known the value of the example is taken.
    assert set(asked(same(None, 5), (3, 4))) == {5}


def test_names_say_shapes_and_values() -> None:
    named = list(calls.calls(same(Axes("data", "one", from_the_end=True), 0)))
    assert {"3x4-turns-0", "3x4-turns-minus-1"} <= set(named)
    assert "64-axes-turns-0-and-63-more" in calls.calls(TURN)
    assert "scalar-turns-none" in calls.calls(TURN)


def test_a_size_is_put_in_the_place_of_one_that_may_be_any() -> None:
    lines, grown = calls.lines(TURN), calls.grown(TURN)
    assert lines
    assert grown
    for each in (*lines, *grown):
        larger = calls.sized(each, 23)
        assert calls.obeys(TURN.contract, larger)
        (shape,) = larger.shapes.values()
        assert prod(shape) % 23 == 0
        assert each in grown or prod(shape) == 23


class Simplest:
    """Draws what is simplest."""

    def integer(self, low: int, high: int) -> int:
        return low

    def codes(self, count: int) -> bytes:
        return bytes(count)


def test_where_no_drawn_shape_conforms_a_call_of_one_element_is_taken() -> None:
    trial = drawn(same(Axes("data", "one"), 0), Simplest(), DType.FLOAT)
    assert trial.inputs["data"].shape == (1,)  # of a scalar there is no axis


def test_what_is_said_of_elements_is_the_summary_where_nothing_else_is() -> None:
    said = moves_of(TURN)
    assert said is not None
    assert (said.rulings, said.rest) == (("D-MADE",), "Made up.")
    found = list(trials(TURN, DType.FLOAT, 0))
    assert {"D-MADE", "D-ALL-4", "turn.turns.D3"} <= set(found[0].shows)


def test_an_axis_that_is_left_out_is_named_no_more() -> None:
    form = forms.form_of(TURN)
    data = np.arange(6.0).reshape(2, 1, 3)
    trial = Trial("t", {"data": data}, (), "T.", {"turns": (2, 0, 1)})
    assert [each.attributes["turns"] for each in form.smaller(trial)] == [(1, 0)]
    one = replace(trial, attributes={"turns": 1})
    axis = forms.form_of(same(Axes("data", "one"), 0))
    assert [each.attributes for each in axis.smaller(one)] == []
    last = replace(trial, attributes={"turns": -1})
    end = forms.form_of(same(Axes("data", "one", from_the_end=True), 0))
    assert [each.attributes["turns"] for each in end.smaller(last)] == [1]


def test_an_element_is_decided_where_it_comes_from() -> None:
    form = forms.form_of(TURN)
    trial = Trial("t", {"data": np.arange(24.0).reshape(2, 3, 4)}, (), "T.", {"turns": (0, 2, 1)})
    assert form.places(trial, (1, 3, 2)) == {"data -3": 1, "data -2": 2, "data -1": 3}
    assert list(form.near(trial, (1, 3, 2))) == []


def test_the_formula_of_a_move_is_for_any_sizes_of_the_call_of_its_contract() -> None:
    assert formula(TURN) == (
        r"Y[i_{0}, i_{1}, i_{2}] = X[i_{0}, i_{2}, i_{1}] \qquad "
        r"\text{for } \text{shape of } X = [N_{0}, N_{1}, N_{2}], \; \text{turns} = [0, 2, 1]"
    )


def test_operands_beside_the_moved_one_have_the_shape_of_the_example() -> None:
    contract = moving(
        "Beside",
        versions=(13,),
        summary="Made up.",
        inputs=[Operand("data", "X", "elements"), Operand("other", "Z", "what is left alone", IEEE)],
        output=Operand("moved", "Y", "the same elements"),
        types=IEEE,
        shape=lambda data, other: data,
        good=call("Beside", {"data": "float[2,3]", "other": "float[5]"}),
        ruling="D-MADE",
    )
    found = calls.calls(Operator(contract, tensorwise(lambda data, other: kept(data)))).values()
    assert {each.shapes["other"] for each in found} == {(5,)}
    assert {each.shapes["data"] for each in found} > {(), (1,), (3, 4)}


def test_names_of_axes_are_forgotten_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_MOST_KNOWN", 1)
    form = forms.form_of(same(Axes("data", "one"), 0))
    for shape in ((2, 3), (4, 5, 6), (2, 3)):
        trial = Trial("t", {"data": np.zeros(shape)}, (), "T.", {"turns": 0})
        assert len(form.labels(trial)["data"]) == len(shape)


def test_of_one_operand_nothing_is_nearer_than_its_axes() -> None:
    trial = Trial("t", {"data": np.zeros((2, 3))}, (), "T.", {"turns": (1, 0)})
    assert list(forms.form_of(TURN).near(trial, (0, 0))) == []


def test_what_indices_decide_has_the_clause_of_the_rest() -> None:
    def shifted(data: Given, turns: Sequence[int]) -> Made:
        rest = "What is not first comes from the place before."
        return tensor(
            data.shape, lambda i: select(i < 1, data[0], cases(otherwise(data[i - 1], "D-MADE", rest)))
        )

    made = Operator(replace(TURN.contract, good=None), tensorwise(shifted))
    data = np.array([np.nan, -0.0, 3.0], np.float32)
    *lost, last = clauses(made, {"data": data}, {"turns": (0,)})
    assert (last.identifier, last.text) == ("D-MADE", "What is not first comes from the place before.")
    assert last.mask.all()
    assert [each.mask.tolist() for each in lost if "NaN" in each.text] == [[True, True, False]]


def test_a_constant_that_stands_for_nothing_known_must_be_a_list_that_is_there() -> None:
    contract = moving(
        "Listed",
        versions=(13,),
        summary="Made up.",
        inputs=[
            Operand("data", "X", "elements"),
            Operand("numbers", "N", "a list", (DType.INT64,), constant=True),
        ],
        output=Operand("moved", "Y", "the same elements"),
        types=IEEE,
        shape=lambda data, numbers: data,
        good=call("Listed", {"data": "float[2,3]", "numbers": "int64[1]"}, constants={"numbers": (7,)}),
        ruling="D-MADE",
    )
    said = [rule.identifier for rule in contract.rules if ".numbers." in rule.identifier]
    assert said == ["listed.numbers.D1", "listed.numbers.D2"]


def test_of_several_operands_the_one_that_an_element_comes_from_is_nearest() -> None:
    joins = known("xla.Concatenate")
    (name, other) = (f"{joins.contract.inputs[0].name}{m}" for m in range(2))
    inputs = {name: np.zeros((2, 3), np.float32), other: np.ones((1, 3), np.float32)}
    near = list(forms.form_of(joins).near(Trial("t", inputs, (), "T.", {"dimension": 0}), (2, 1)))
    assert [each.inputs[name].shape for each in near] == [(1, 1), (1, 3)]
    assert all(each.inputs[name].all() for each in near)
