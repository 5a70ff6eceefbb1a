"""Puts trials to a runtime and judges its answers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee
from typing import Protocol

from sonnx.conformance.judge import Difference, Grade, Sums, by_kind, judge
from sonnx.conformance.result import Key, Verdict
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.question import Question, question
from sonnx.conformance.subjects import Subject
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.numeric.bits import differing
from sonnx.vocabulary.special_values import everywhere
from sonnx.vocabulary.trial import Clause, Trial

_CONSTANT = "-constant"
_TWINS = "Sums have the same bits whether operands are inputs of the model or constants in it."
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


class Asked(Protocol):
    """Whoever answers questions, such as a runtime in a child process."""

    def ask_many(self, questions: Iterable[Question], seconds: float = ...) -> Iterator[Answer]:
        """The answers, in the order of the questions."""
        ...


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one trial; `grade` says how it conforms, `differences` how it departs.

    `said` is what the runtime said where it refused or crashed, `outputs` what it gave where it did not; a
    refusal conforms where a run must stop. `printed` is the last line on the standard error of what crashed;
    no two crashes are told apart by it, for it may hold addresses. `against` are its outputs to the same
    operands, none of them a constant, where those contradict it.
    """

    subject: Subject
    dtype: DType
    trial: Trial
    verdict: Verdict
    grade: Grade | None = None
    differences: tuple[Difference, ...] = ()
    said: str = ""
    outputs: tuple[Array | TensorType, ...] = ()
    against: tuple[Array | TensorType, ...] = ()
    printed: str = ""

    @property
    def said_alike(self) -> str:
        """What was said, without its numbers, which differ from case to case."""
        return _NUMBER.sub("#", self.said)

    @property
    def is_late(self) -> bool:
        """Tell whether no answer came in time."""
        return self.verdict == "crashes" and self.said.startswith("late")

    @property
    def keys(self) -> tuple[Key, ...]:
        """What tells its departures from others, one for every difference, or one for a crash."""
        if self.verdict == "crashes":
            return (("crashes", self.said_alike, ""),)
        return tuple(key(difference) for difference in self.differences)


def key(difference: Difference) -> Key:
    """What tells a difference from others."""
    return difference.identifier, difference.clause, difference.kind


def outcomes(
    asked: Asked,
    subject: Subject,
    dtype: DType,
    trials: Iterable[Trial],
    sums: Sums = "free",
    seconds: float | None = None,
) -> Iterator[Outcome]:
    """Judge the answers of a runtime to trials of one operator and type, in their order.

    A trial that follows its own twin without constants is compared with it.
    """
    sent, judged = tee(trials)
    questions = (question(subject.operator, trial) for trial in sent)
    answers = asked.ask_many(questions) if seconds is None else asked.ask_many(questions, seconds)
    before: Outcome | None = None
    for trial, answer in zip(judged, answers, strict=True):
        found = outcome(subject, dtype, trial, answer, sums)
        if before is not None and before.trial.name + _CONSTANT == trial.name:
            found = compared(found, before)
        before = found
        yield found


def outcome(subject: Subject, dtype: DType, trial: Trial, answer: Answer, sums: Sums) -> Outcome:
    """Judge one answer."""
    if answer.kind == "outputs":
        judgement = judge(subject.specified(trial, dtype), answer.outputs, sums)
        verdict: Verdict = "departs" if judgement.differences else "conforms"
        return Outcome(
            *(subject, dtype, trial, verdict, judgement.grade, judgement.differences), outputs=answer.outputs
        )
    if answer.kind == "refused" and subject.specified(trial, dtype).stop:
        return Outcome(subject, dtype, trial, "conforms", "stop", said=answer.text)
    verdict = "unsupported" if answer.kind in ("refused", "unsupported") else "crashes"
    printed = answer.said[-1] if verdict == "crashes" and answer.said else ""
    return Outcome(subject, dtype, trial, verdict, said=answer.text, printed=printed)


def twin(trial: Trial) -> Trial:
    """The same operands, none of them a constant."""
    return replace(trial, name=trial.name.removesuffix(_CONSTANT), constants=frozenset())


def compared(found: Outcome, other: Outcome) -> Outcome:
    """The outcome of a trial whose operands are constants, beside that of its twin.

    Of operators that sum, the order is the runtime's own, and so that of both; other results are decided.
    """
    if found.verdict != "conforms" or other.verdict != "conforms" or found.subject.enclose is None:
        return found
    differences: list[Difference] = []
    names = found.subject.specified(found.trial, found.dtype).results("separate")
    for name, mine, its in zip(names, found.outputs, other.outputs, strict=True):
        if isinstance(mine, TensorType) or isinstance(its, TensorType):
            continue  # which had not conformed
        wrong = differing(mine, its, nan="any")
        clause = Clause(found.subject.operator.trying.sums, _TWINS, everywhere(mine.shape))
        differences += by_kind(clause, name, wrong, its, mine)
    if not differences:
        return found
    return replace(
        found, verdict="departs", grade=None, differences=tuple(differences), against=other.outputs
    )
