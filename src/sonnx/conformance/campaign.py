"""Puts trials to a runtime and judges its answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import tee
from typing import Literal

from sonnx.conformance.judge import Difference, Grade, Sums, judge
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.question import question
from sonnx.conformance.subjects import Subject
from sonnx.model.dtype import DType
from sonnx.operators.shared.trials import Trial

Verdict = Literal["conforms", "departs", "unsupported", "crashes"]


@dataclass(frozen=True)
class Outcome:
    """What became of one trial; `grade` says how it conforms, `differences` how it departs.

    `said` is what the runtime said where it refused or crashed.
    """

    subject: Subject
    dtype: DType
    trial: Trial
    verdict: Verdict
    grade: Grade | None = None
    differences: tuple[Difference, ...] = ()
    said: str = ""


def outcomes(
    child: Child, subject: Subject, dtype: DType, trials: Iterable[Trial], sums: Sums = "free"
) -> Iterator[Outcome]:
    """Judge the answers of a runtime to trials of one operator and type, in their order."""
    asked, judged = tee(trials)
    answers = child.ask_many(question(subject.operator, trial) for trial in asked)
    for trial, answer in zip(judged, answers, strict=True):
        yield outcome(subject, dtype, trial, answer, sums)


def outcome(subject: Subject, dtype: DType, trial: Trial, answer: Answer, sums: Sums) -> Outcome:
    """Judge one answer."""
    if answer.kind == "outputs":
        judgement = judge(subject.specified(trial, dtype), answer.outputs, sums)
        verdict: Verdict = "departs" if judgement.differences else "conforms"
        return Outcome(subject, dtype, trial, verdict, judgement.grade, judgement.differences)
    verdict = "unsupported" if answer.kind in ("refused", "unsupported") else "crashes"
    return Outcome(subject, dtype, trial, verdict, said=answer.text)
