"""One fault is told once: what a plainer departure may have caused stands behind it, nothing gets lost."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.conformance.report_samples import BY_NAME, GEOMETRY, F, trial
from tests.conformance.wrong.mutant import Here, Mutant

from sonnx.conformance.campaign import Outcome, outcome
from sonnx.conformance.causes import causes, plainer
from sonnx.conformance.result import Key
from sonnx.conformance.runtimes.ours import Reference
from sonnx.conformance.runtimes.question import Question, question
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.trials import Trial

A, B, C, D = [(name, "", "value") for name in "ABCD"]
REFERENCE = Reference()
LARGEST = float(np.finfo(F).max)


@pytest.mark.parametrize(
    ("plainer_ones", "wanted"),
    [
        ({}, {}),
        ({A: B}, {A: B}),
        ({A: B, B: C, D: C}, {A: C, B: C, D: C}),
        # Where two are plainer in turn, the one that was found first.
        ({A: B, B: A}, {B: A}),
        ({A: B, B: C, C: B}, {A: B, C: B}),
    ],
)
def test_the_cause_is_the_end_of_a_chain(plainer_ones: dict[Key, Key], wanted: dict[Key, Key]) -> None:
    assert causes(plainer_ones) == wanted


def asking(answer: Callable[[Question], Sequence[Any]], operator: str) -> Callable[[Trial], Outcome]:
    runtime, subject = Here(Mutant("", operator, (), "", answer)), BY_NAME[operator]

    def ask(asked: Trial) -> Outcome:
        (said,) = runtime.ask_many([question(subject.operator, asked)])
        return outcome(subject, DType.FLOAT, asked, said, "free")

    return ask


def without_bias(asked: Question) -> Sequence[Any]:
    X, W = asked.operands["X"], asked.operands["W"]
    return REFERENCE.run(Question(asked.operator, {"X": X, "W": W}, {}, asked.attributes, asked.outputs))


def without_bias_and_nan(asked: Question) -> Sequence[Any]:
    return [np.where(np.isnan(output), F(0), output) for output in without_bias(asked)]


def scaled(asked: Question) -> Sequence[Any]:
    return [output * F(1 + 2.0**-9) for output in REFERENCE.run(asked)]


def conv(x: float, w: float, b: float | None = None) -> Trial:
    operands: dict[str, Array] = {"X": np.full((1, 1, 1, 1), x, F), "W": np.full((1, 1, 1, 1), w, F)}
    if b is not None:
        operands["B"] = np.full(1, b, F)
    return trial(operands, GEOMETRY)


def plainest(answer: Callable[[Question], Sequence[Any]], asked: Trial) -> str:
    """The identifier of the plainer departure, if there is any."""
    ask = asking(answer, "conv")
    found = ask(asked)
    assert found.verdict == "departs"
    plain = plainer(ask, found, found.keys[0])
    return "" if plain is None else plain.keys[0][0]


@pytest.mark.parametrize(
    "asked",
    [conv(0, 0, np.nan), conv(0, 0, np.inf), conv(2.0**-149, 0, 1), conv(1, 1, 1), conv(0, 0, LARGEST)],
)
def test_whatever_a_dropped_bias_breaks_is_the_dropped_bias(asked: Trial) -> None:
    assert plainest(without_bias, asked) == "D-CONV-4"


def test_the_plainest_departure_has_no_plainer_one() -> None:
    assert plainest(without_bias, conv(0, 0, 1)) == ""
    assert plainest(scaled, conv(1, 1)) == ""


def test_another_fault_stays_one_of_its_own() -> None:
    assert plainest(without_bias_and_nan, conv(np.nan, 0)) == ""
    assert plainest(without_bias_and_nan, conv(0, 0, 1)) == ""


def test_ones_are_plainer_than_what_is_not_finite() -> None:
    # Zeros instead of either operand would give a zero, which is right however it is scaled.
    assert plainest(scaled, conv(2.0**-149, 2.0**100)) == "D-CONV-1"


def test_ones_do_not_stand_for_sizes() -> None:
    asked = trial({"input": np.full((1, 2), 5, F), "shape": np.array([3, 1])}, constants=["shape"])
    heard: list[tuple[list[int], set[float]]] = []

    def answer(one: Question) -> Sequence[Any]:
        heard.append((one.operands["shape"].tolist(), set(one.operands["input"].reshape(-1).tolist())))
        return [output + F(1) for output in REFERENCE.run(one)]

    ask = asking(answer, "expand")
    found = ask(asked)
    assert plainer(ask, found, found.keys[0]) is not None
    assert heard[:2] == [([3, 1], {5.0}), ([3, 1], {1.0})]
