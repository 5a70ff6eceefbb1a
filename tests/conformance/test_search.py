"""The search: finds what is wrong without being told where, the same every time, and leaves no trace."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from tests.conformance.test_reduction import (
    DEPARTURES,
    F,
    Spoil,
    asking,
    crashes_at_seven,
    elements,
    flips,
    nan_becomes_min,
    shown,
)

from sonnx.conformance.campaign import Outcome
from sonnx.conformance.reduction import digest, reduced
from sonnx.conformance.result import Key
from sonnx.conformance.runtimes.question import Question, question
from sonnx.conformance.runtimes.runtime import LateError, UnavailableError
from sonnx.conformance.search import Searched, searched
from sonnx.conformance.subjects import SUBJECTS, subject_named
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

EXAMPLES = 40


def sought(
    name: str,
    ask: Callable[[Trial], Outcome],
    known: tuple[Key, ...] = (),
    examples: int = EXAMPLES,
    seed: int = 0,
    seconds: float | None = None,
) -> Searched:
    subject = subject_named(name)
    return searched(subject, DType.FLOAT, ask, known, examples=examples, seed=seed, seconds=seconds)


class Counted:
    """Asks, and counts."""

    def __init__(self, name: str, spoil: Spoil) -> None:
        self._ask = asking(name, DType.FLOAT, spoil)
        self.asked: list[Trial] = []

    def __call__(self, trial: Trial) -> Outcome:
        self.asked.append(trial)
        return self._ask(trial)


def as_specified(_: Question, output: Array) -> Array:
    return output


@cache
def usual(seed: int = 0) -> tuple[Searched, Counted]:
    """What is found of a Clip that replaces NaNs."""
    ask = Counted("clip", nan_becomes_min)
    return sought("clip", ask, seed=seed), ask


# --- what is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DEPARTURES)
def test_a_wrong_runtime_is_found_and_a_few_elements_show_it(name: str) -> None:
    operator, spoil, most, _ = DEPARTURES[name]
    ask = asking(operator, DType.FLOAT, spoil)
    found = sought(operator, ask).found
    assert found
    for each in found:
        assert each.verdict == "departs"
        for key in each.keys:
            small = reduced(subject_named(operator), each.trial, shown(ask, key))
            assert key in ask(small).keys
            assert elements(small) <= most


def test_what_is_found_first_is_made_simple() -> None:
    result, ask = usual()
    trial = result.found[0].trial
    drawn = [elements(each) for each in ask.asked if np.isnan(each.inputs["input"]).any()]
    assert elements(trial) < np.median(drawn)
    assert np.count_nonzero(trial.inputs["input"]) <= 2


def test_all_ways_to_be_wrong_are_found_each_by_something_new() -> None:
    def spoil(asked: Question, output: Array) -> Array:
        found = nan_becomes_min(asked, output)
        with np.errstate(invalid="ignore"):
            return np.where(found == asked.operands["max"], found + F(1), found)

    found = sought("clip", asking("clip", DType.FLOAT, spoil), examples=25).found
    keys = [key for each in found for key in each.keys]
    assert {key[2] for key in keys} == {"value", "bits of NaN"}
    assert {key[0] for key in keys} >= {"D-CLIP-1", "D-CLIP-2", "D-CLIP-5"}
    for number, each in enumerate(found):
        before = {key for other in found[:number] for key in other.keys}
        assert set(each.keys) - before


def test_what_is_known_does_not_count() -> None:
    ask = asking("clip", DType.FLOAT, nan_becomes_min)
    # A number, and a NaN of other bits.
    nans, zero = np.array([0x7FC00000, 0x7FC00123], np.uint32).view(F), np.array(0, F)
    lows = (zero, nans[1].reshape(()))
    trials = [Trial("t", {"input": nans[:1], "min": low, "max": zero}, (), "") for low in lows]
    known = tuple(key for trial in trials for key in ask(trial).keys)
    assert len(known) == 2
    again = sought("clip", ask, known)
    assert again.found == ()
    assert EXAMPLES * 0.8 <= again.cases <= EXAMPLES


def test_a_crash_is_found_and_costs_few_more_crashes() -> None:
    def crashing(asked: Question, output: Array) -> Array:
        x = np.where(asked.operands["input"] == 3, F(7), asked.operands["input"])
        return crashes_at_seven(Question("clip", {"input": x}, {}, {}, {}), output)

    ask = Counted("clip", crashing)
    result = sought("clip", ask)
    (found,) = result.found
    assert found.verdict == "crashes"
    assert found.keys == (("crashes", "crashed: signal # (SIGSEGV)", ""),)
    assert len(ask.asked) <= result.cases + 12


def test_a_search_ends_after_ten_crashes() -> None:
    def hangs(asked: Question, output: Array) -> Array:
        raise LateError("no answer within 20 seconds")

    ask = Counted("clip", hangs)
    sought("clip", ask)
    # The first is made simple no further, and the tenth of those that are drawn is the last.
    assert len(ask.asked) <= 11


def test_a_hang_is_not_waited_for_again() -> None:
    def hangs(asked: Question, output: Array) -> Array:
        if output.size > 4:
            raise LateError("no answer within 20 seconds")
        return output

    ask = Counted("clip", hangs)
    result = sought("clip", ask)
    (found,) = result.found
    assert found.keys == (("crashes", "late: no answer within # seconds", ""),)
    assert len(ask.asked) == result.cases


def test_a_runtime_with_moods_is_found_and_breaks_nothing() -> None:
    moods = cycle((True, False, False, True, False))

    def spoil(_: Question, output: Array) -> Array:
        return flips(output, slice(None)) if next(moods) else output

    result = sought("where", asking("where", DType.FLOAT, spoil), examples=8)
    assert result.found
    assert all(found.verdict == "departs" for found in result.found)


def test_what_is_seen_in_passing_is_kept() -> None:
    # Wrong in another way, but only the second time that something is wrong.
    times = iter(range(10**6))

    def spoil(asked: Question, output: Array) -> Array:
        wrong = nan_becomes_min(asked, output)
        if np.isnan(asked.operands["input"]).any() and next(times) == 1:
            return wrong.astype(np.float64)
        return wrong

    found = sought("clip", asking("clip", DType.FLOAT, spoil)).found
    assert {key[2] for each in found for key in each.keys} == {"value", "bits of NaN", "type or shape"}


@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.identifier for subject in SUBJECTS])
def test_the_specified_result_is_never_found_wrong(subject: Any) -> None:
    ask = asking(subject.identifier, subject.types[-1], as_specified)
    result = searched(subject, subject.types[-1], ask, (), examples=8, seed=3, seconds=None)
    assert result.found == ()
    assert 1 < result.cases <= 8


# --- the same every time -----------------------------------------------------------------------------------


def told(result: Searched) -> Any:
    return result.cases, [(digest(each.trial), each.keys) for each in result.found]


def test_equal_arguments_find_the_same_by_the_same_questions() -> None:
    (first, before), again = usual(), Counted("clip", nan_becomes_min)
    assert told(sought("clip", again)) == told(first)
    assert [digest(trial) for trial in again.asked] == [digest(trial) for trial in before.asked]


@pytest.mark.long
def test_another_seed_asks_other_questions() -> None:
    first, other = ({digest(trial) for trial in usual(seed)[1].asked} for seed in (0, 1))
    assert len(first & other) < len(first) / 5


def test_no_trial_is_asked_twice_and_each_obeys_all_rules() -> None:
    asked = usual()[1].asked
    assert len({digest(trial) for trial in asked}) == len(asked)
    for trial in asked:
        question(subject_named("clip").operator, trial)


# --- bounds ------------------------------------------------------------------------------------------------


def test_examples_bound_the_cases_and_shrinking_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonnx.conformance.search.MOST_CRASHES", 90)
    # Everything is wrong, in a new way each time.
    numbers = iter(range(10**6))

    def spoil(_: Question, output: Array) -> Array:
        raise LateError("x" * next(numbers))

    ask = Counted("clip", spoil)
    result = sought("clip", ask, examples=10)
    assert result.cases <= 10
    assert len(result.found) == result.cases
    assert len(sought("clip", ask, examples=90).found) == 32
    assert sought("clip", ask, examples=0) == Searched((), 0)


@pytest.mark.parametrize("spoil", [as_specified, nan_becomes_min])
def test_the_search_ends_when_its_time_is_up(spoil: Spoil) -> None:
    ask = asking("clip", DType.FLOAT, spoil)

    def slow(trial: Trial) -> Outcome:
        sleep(0.05)
        return ask(trial)

    result = sought("clip", slow, examples=100_000, seconds=0.4)
    assert result.cases < 20


def test_an_error_of_whoever_asks_is_no_departure() -> None:
    asked = []

    def ask(trial: Trial) -> Outcome:
        asked.append(trial)
        raise UnavailableError("it is gone")

    with pytest.raises(UnavailableError, match="it is gone"):
        sought("clip", ask)
    assert len(asked) == 1


# --- Hypothesis --------------------------------------------------------------------------------------------


def test_without_hypothesis_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(UnavailableError, match=r'pip install "hypothesis>=6.100"'):
        sought("clip", asking("clip", DType.FLOAT, as_specified))


QUIET = """
import sys
from pathlib import Path
import numpy as np
from tests.conformance.test_reduction import asking, nan_becomes_min
from sonnx.conformance.search import searched
from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import DType
assert "hypothesis" not in sys.modules
state = np.random.get_state()[1].tolist()
ask = asking("clip", DType.FLOAT, nan_becomes_min)
found = searched(subject_named("clip"), DType.FLOAT, ask, (), examples=40, seed=0, seconds=None).found
assert found
assert np.random.get_state()[1].tolist() == state
from hypothesis.configuration import storage_directory
assert storage_directory().path == Path.cwd() / ".hypothesis"
"""


def test_nothing_is_printed_and_nothing_is_left_on_disk(tmp_path: Path) -> None:
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    path = os.pathsep.join([os.getcwd(), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", QUIET],
        cwd=work,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [*work.iterdir(), *temporary.iterdir()] == []
