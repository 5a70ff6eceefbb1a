"""A cell: vectors counted and judged, departures made small, crashes survived, rules told apart."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.conformance.campaign_support import HERE

from sonnx.conformance.all_cells import _child, close_mine
from sonnx.conformance.cells import Plan, judged_cell
from sonnx.conformance.result import Cell
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.ours import Reference
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import DType


def cell(runtime: str, operator: str, dtype: DType) -> Cell:
    asked = runtime if ":" in runtime or runtime.islower() else f"{HERE}:{runtime}"
    with Child(asked) as child:
        return judged_cell(child, Plan(asked, examples=20), operator, dtype)


def ways(found: Cell) -> set[tuple[str, str]]:
    return {(each.identifier, each.difference.kind) for each in found.departures}


def test_what_conforms_has_every_vector_and_the_search_counted() -> None:
    found = cell("reference", "clip", DType.FLOAT16)
    number = sum(1 for _ in subject_named("clip").trials(DType.FLOAT16, 0))
    assert found.verdict == "conforms"
    assert found.counts == {"crashes": 0, "departs": 0, "unsupported": 0, "conforms": number}
    assert (found.departures, found.stops, found.unasked) == ((), (), 0)
    assert found.grades == {"bits": number}
    assert 0 < found.searched <= 20
    rules = {rule.identifier: rule for rule in found.rules}
    assert rules["D-CLIP-1"].verdict == "conforms"
    assert {"D-CLIP-2", "D-CLIP-5", "clip.min.D1", "clip.output.C1"} <= set(rules)


def test_a_departure_is_counted_named_and_made_small() -> None:
    found = cell("LosesZeros", "where", DType.FLOAT)
    assert found.verdict == "departs"
    # Adding a zero also makes signalling NaNs quiet.
    assert ways(found) == {("D-WHERE-2", "sign of zero"), ("D-WHERE-2", "bits of NaN")}
    lost = next(each for each in found.departures if each.difference.kind == "sign of zero")
    assert lost.elements <= 3
    assert 10 < lost.cases <= found.counts["departs"]
    assert lost.source in {case.name for case in found.cases if case.verdict == "departs"}
    assert [array.tobytes() for array in lost.expected.values()] == [np.float32(-0.0).tobytes()]
    assert [array.tobytes() for array in lost.found if isinstance(array, np.ndarray)] == [bytes(4)]
    rules = {rule.identifier: rule.verdict for rule in found.rules}
    assert rules["D-WHERE-2"] == "departs"
    assert rules["D-WHERE-1"] == "conforms"


def test_a_run_that_stops_where_it_must_conforms() -> None:
    found = cell("reference", "mod", DType.INT8)
    assert found.verdict == "conforms"
    # Four trials for each of the two ways to call it.
    assert found.grades == {"bits": len(found.cases) - 8, "stop": 8}
    (ruling,) = (rule for rule in found.rules if rule.identifier == "D-ALL-11")
    assert dict(ruling.cases) == {"conforms": 8}


def test_a_run_that_goes_on_where_it_must_stop_departs_and_smaller_trials_stay_inside() -> None:
    found = cell("RoundsDown", "div", DType.INT8)
    assert found.verdict == "departs"
    by_ruling = {each.identifier: each for each in found.departures}
    assert set(by_ruling) == {"D-ALL-11", "D-DIV"}
    going_on, rounded = by_ruling["D-ALL-11"], by_ruling["D-DIV"]
    assert (going_on.cases, going_on.elements, going_on.expected) == (4, 2, {})
    assert going_on.trial.inputs["B"].tolist() == 0
    # No divisor of the other one becomes 0: nothing is specified that could differ.
    assert rounded.elements == 2
    assert rounded.trial.inputs["B"].tolist() != 0
    assert list(rounded.expected) == ["C"]


def test_who_refuses_everything_conforms_nowhere() -> None:
    found = cell("Refuses", "div", DType.INT8)
    assert found.verdict == "unsupported"
    assert found.counts == {"crashes": 0, "departs": 0, "conforms": 0, "unsupported": len(found.cases)}
    assert found.grades == {}
    (stop,) = found.stops
    assert (stop.cases, stop.said) == (len(found.cases), "refused: NotImplementedError: not yet")


@pytest.mark.long
def test_what_the_search_alone_finds_counts_for_its_rulings() -> None:
    found = cell("LosesMatrices", "where", DType.FLOAT)
    assert found.counts["departs"] == 0
    assert {each.source for each in found.departures} == {"search"}
    broken = {each.identifier for each in found.departures}
    assert {rule.identifier for rule in found.rules if rule.verdict == "departs"} == broken
    assert "D-WHERE-2" in broken


@pytest.mark.long
def test_a_crash_is_a_verdict_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonnx.conformance.cells.MOST_CRASHES", 2)
    monkeypatch.setattr("sonnx.conformance.cells._TRIES_OF_CRASHES", 8)
    found = cell("Crashes", "xla.collapse", DType.FLOAT16)
    assert found.verdict == "crashes"
    (stop,) = (each for each in found.stops if each.verdict == "crashes")
    assert stop.said == "crashed: exit code 3"
    first = next(case for case in found.cases if case.verdict == "crashes")
    assert (stop.cases, stop.source) == (2, first.name)
    assert sum(array.size for array in stop.trial.inputs.values()) < 8
    assert found.counts["conforms"] > 0


class Stuck(Reference):
    """Stands for a child that never comes back from an infinity, or after ten seconds if it is alone."""

    takes_models = False

    def __init__(self, alone: float) -> None:
        super().__init__()
        self._alone = alone

    def ask(self, question: Question, seconds: float) -> Answer:
        sizes = [array.size for array in question.inputs.values() if np.isinf(array).any()]
        if sizes and seconds < (self._alone if sizes == [1] else math.inf):
            return Answer("late", message=f"no answer within {seconds:g} seconds")
        return Answer("outputs", tuple(self.run(question)))

    def ask_many(self, questions: Iterable[Question], seconds: float) -> Iterator[Answer]:
        return (self.ask(question, seconds) for question in questions)


@pytest.mark.parametrize(("alone", "small"), [(math.inf, True), (10.0, False)])
def test_a_hang_is_made_small_with_less_patience_and_waited_for_in_full(alone: float, small: bool) -> None:
    stuck: Any = Stuck(alone)
    found = judged_cell(stuck, Plan("stuck", examples=0, timeout=20.5), "xla.collapse", DType.FLOAT16)
    (stop,) = (each for each in found.stops if each.verdict == "crashes")
    assert stop.said == "late: no answer within 20.5 seconds"
    assert (sum(array.size for array in stop.trial.inputs.values()) == 1) is small
    assert stop.trial.name == stop.source + "-reduced" * small


class SlowToStart(Stuck):
    """The same, and after every hang the first answer takes three seconds, by its own clock."""

    fresh = True

    def ask(self, question: Question, seconds: float) -> Answer:
        late = self.fresh and seconds < 3
        answer = Answer("late", message="no answer") if late else super().ask(question, seconds)
        self.fresh = answer.kind == "late"
        return answer


def test_a_hang_of_a_runtime_that_starts_slowly_is_made_small() -> None:
    slow: Any = SlowToStart(math.inf)
    found = judged_cell(slow, Plan("slow", examples=0), "xla.collapse", DType.FLOAT16)
    (stop,) = (each for each in found.stops if each.verdict == "crashes")
    assert sum(array.size for array in stop.trial.inputs.values()) == 1


class RefusesMatrices(Stuck):
    """Answers whatever has another number of axes."""

    def ask(self, question: Question, seconds: float) -> Answer:
        if question.inputs["input"].ndim == 2:
            return Answer("refused", message="no matrices")
        return Answer("outputs", tuple(self.run(question)))


def test_cases_that_are_not_supported_are_counted_as_vectors() -> None:
    refusing: Any = RefusesMatrices(math.inf)
    found = judged_cell(refusing, Plan("refusing", examples=100), "clip", DType.FLOAT)
    (stop,) = found.stops
    assert stop.verdict == "unsupported"
    assert stop.cases == found.counts["unsupported"]


def test_another_campaign_starts_the_runtime_anew() -> None:
    plan = Plan("reference", examples=0)
    try:
        first = _child(plan, "one")
        assert _child(plan, "one") is first
        assert _child(plan, "two") is not first
    finally:
        close_mine()


@pytest.mark.long
def test_a_runtime_that_always_crashes_is_not_asked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonnx.conformance.cells.MOST_CRASHES", 2)
    monkeypatch.setattr("sonnx.conformance.cells._TRIES_OF_CRASHES", 0)
    found = cell("AlwaysCrashes", "expand", DType.FLOAT)
    assert found.counts["crashes"] == len(found.cases) == 2
    assert found.unasked == sum(1 for _ in subject_named("expand").trials(DType.FLOAT, 0)) - 2
    assert found.searched == 0


@pytest.mark.long
def test_constants_must_not_change_bits() -> None:
    found = cell("TwoMinded", "conv", DType.FLOAT)
    (departure,) = (each for each in found.departures if each.difference.kind == "value")
    assert departure.identifier == "D-CONV-6"
    assert departure.against
    assert departure.trial.constants
    assert departure.elements <= 8
    (own,) = departure.expected.values()
    (other,) = departure.found
    assert isinstance(other, np.ndarray)
    assert own.shape == other.shape
    assert own.tobytes() != other.tobytes()


def test_what_an_onnx_model_asks_in_other_words_is_outside_the_profile() -> None:
    found = cell("Casts", "xla.convert_element_type", DType.DOUBLE)
    assert found.outside_profile
    assert found.verdict == "departs"
    assert not cell("reference", "xla.convert_element_type", DType.BOOL).outside_profile


def test_refusals_are_grouped_by_what_was_said() -> None:
    found = cell("KnowsNothing", "xla.broadcast", DType.BOOL)
    assert (found.verdict, found.searched) == ("unsupported", 0)
    (stop,) = found.stops
    assert stop.cases == len(found.cases)
    assert stop.said == r"refused: NotImplementedError: no \x1b[31msuch thing"


def test_refusals_that_differ_in_numbers_alone_are_one() -> None:
    found = cell("Counts", "xla.broadcast", DType.BOOL)
    (stop,) = found.stops
    assert (stop.cases, stop.source) == (len(found.cases), found.cases[0].name)
    assert stop.said == found.cases[0].about == "refused: NotImplementedError: no 1 of 0x1"


def test_a_runtime_with_moods_departs_and_ends_nothing() -> None:
    found = cell("Moody", "xla.collapse", DType.INT8)
    assert found.verdict == "departs"
    assert found.departures


def test_the_same_plan_gives_the_same_cell() -> None:
    first, again = (cell("LosesZeros", "xla.broadcast", DType.DOUBLE) for _ in range(2))
    assert first.cases == again.cases
    assert [(each.trial.name, each.difference) for each in first.departures] == [
        (each.trial.name, each.difference) for each in again.departures
    ]
    assert Counter(first.grades) == Counter(again.grades)
