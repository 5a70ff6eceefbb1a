"""Judges a runtime on one operator and type: vectors first, then a search, then the smallest examples."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

from sonnx.conformance.campaign import Outcome, compared, key, outcome, outcomes, twin
from sonnx.conformance.causes import causes, plainer
from sonnx.conformance.judge import Sums
from sonnx.conformance.pacing import Pace, Told
from sonnx.conformance.reduction import form_of, reduced
from sonnx.conformance.result import CaseVerdict, Cell, Departure, Key, RuleVerdict, Stop, Verdict
from sonnx.conformance.runtimes.child import DEFAULT_MEMORY, DEFAULT_SECONDS, Child
from sonnx.conformance.runtimes.question import question
from sonnx.conformance.search import MOST_CRASHES, searched
from sonnx.conformance.subjects import Subject, subject_named
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.vocabulary.operator import operand_names
from sonnx.vocabulary.trial import Trial

# Every try to make a crash smaller costs a process; one to make a hang smaller waits so many seconds as well,
# or for so many times what a known answer takes: what comes of it is waited for in full.
_TRIES_OF_CRASHES = 24
_SHORT_WAIT, _TIMES_A_KNOWN_ANSWER = 2.0, 4.0
_TRIES = 400
# Vectors of other forms that show the same are looked at as well where the first is no fault of its own.
_TRIES_OF_UNLIKE, _MOST_UNLIKE = 60, 6
# Elements of all operands that are few enough for anybody.
_FEW = 4
# So many other vectors are made small where the first one stays larger.
_OTHERS = 4
DEFAULT_EXAMPLES = 100


@dataclass(frozen=True)
class Plan:
    """How a runtime is judged; `runtime` and `options` are those of `named`.

    `examples` is how many cases the search draws for each operator and type, `seconds` how long it may take
    for each, `timeout` how long one answer, `memory` how many bytes the runtime may take for it.
    """

    runtime: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sums: Sums = "free"
    seed: int = 0
    examples: int = DEFAULT_EXAMPLES
    seconds: float | None = None
    timeout: float = DEFAULT_SECONDS
    memory: int | None = DEFAULT_MEMORY


def _latest() -> deque[Outcome]:
    return deque(maxlen=_OTHERS)


@dataclass
class _Tally:
    """What is counted while answers come in."""

    cases: list[CaseVerdict] = field(default_factory=list)
    rules: defaultdict[str, Counter[Verdict]] = field(default_factory=lambda: defaultdict(Counter))
    grades: Counter[str] = field(default_factory=Counter)
    firsts: dict[Key, Outcome] = field(default_factory=dict)
    others: defaultdict[Key, deque[Outcome]] = field(default_factory=lambda: defaultdict(_latest))
    unlike: defaultdict[Key, dict[object, Outcome]] = field(default_factory=lambda: defaultdict(dict))
    shown: Counter[Key] = field(default_factory=Counter)
    refused: dict[str, Stop] = field(default_factory=dict)
    answered: Trial | None = None

    @property
    def crashes(self) -> int:
        """How many cases have crashed."""
        return sum(number for each, number in self.shown.items() if each[0] == "crashes")

    def add(self, found: Outcome) -> None:
        """Count one outcome; who has never answered does not stop, but supports nothing."""
        if found.grade == "stop" and self.answered is None:
            found = replace(found, verdict="unsupported", grade=None)
        broken = tuple(dict.fromkeys(each.identifier for each in found.differences))
        keys = tuple(dict.fromkeys(found.keys))
        about = found.said or ", ".join(broken)
        self.cases.append(
            CaseVerdict(found.trial.name, found.verdict, about, keys if found.differences else ())
        )
        self.rule(found)
        if found.outputs and self.answered is None:
            self.answered = found.trial
        if found.grade:
            self.grades[found.grade] += 1
        for each in keys:
            self.firsts.setdefault(each, found)
            self.others[each].append(found)
            if len(self.unlike[each]) < _MOST_UNLIKE:
                self.unlike[each].setdefault(form_of(found.subject.form, found.trial), found)
            self.shown[each] += 1
        self.refuse(found, found.trial.name, 1)

    def rule(self, found: Outcome) -> None:
        """Count an outcome for the rules and rulings that it shows, and for those that it breaks."""
        broken = {each.identifier: True for each in found.differences}
        for identifier in dict.fromkeys((*found.trial.shows, *broken)):
            kept = found.verdict == "departs" and identifier not in broken
            self.rules[identifier]["conforms" if kept else found.verdict] += 1

    def refuse(self, found: Outcome, source: str, vectors: int) -> None:
        """Count a case that is not supported, by what was said; the first words are kept."""
        if found.verdict == "unsupported":
            new = Stop("unsupported", found.said, 0, source, found.trial)
            first = self.refused.get(found.said_alike, new)
            self.refused[found.said_alike] = replace(first, cases=first.cases + vectors)


def judged_cell(child: Child, plan: Plan, operator: str, dtype: DType, told: Told | None = None) -> Cell:
    """Judge one operator, by its identifier, on one type.

    The same plan gives the same cell, unless `seconds` ends the search or the runtime has moods. `told` hears
    how many cases have been asked, and of how many. Raises UnavailableError where the runtime, or what
    searches, cannot be had.
    """
    subject = subject_named(operator)
    tally, unasked, cases = _Tally(), 0, 0
    pace = None if told is None else _pace(told, plan, subject, dtype)
    trials = subject.trials(dtype, plan.seed)
    for found in outcomes(child, subject, dtype, trials, plan.sums, plan.timeout):
        tally.add(found)
        if pace is not None:
            pace.step()
        if tally.crashes == MOST_CRASHES:
            unasked = sum(1 for _ in subject.trials(dtype, plan.seed)) - len(tally.cases)
            break
    ask = _asking(child, plan, subject, dtype)
    if plan.examples and not unasked and any(case.verdict != "unsupported" for case in tally.cases):
        more = searched(
            subject,
            dtype,
            _counted(ask, tally, pace),
            tally.firsts.keys(),
            examples=plan.examples,
            seed=plan.seed,
            seconds=plan.seconds,
        )
        cases = more.cases
        for found in more.found:
            tally.rule(found)
            for each in found.keys:
                tally.firsts.setdefault(each, found)
    return Cell(
        operator,
        dtype,
        tuple(tally.cases),
        tuple(RuleVerdict(name, dict(counts)) for name, counts in sorted(tally.rules.items())),
        _departures(ask, tally),
        (*_crashes(ask, partial(_brief, child, plan, tally), tally), *tally.refused.values()),
        dict(tally.grades),
        cases,
        unasked,
        child.takes_models and subject.asked_otherwise,
    )


def _asking(child: Child, plan: Plan, subject: Subject, dtype: DType) -> Callable[[Trial], Outcome]:
    """Asks one trial; where the operator sums and operands are constants, its twin as well."""

    def one(trial: Trial) -> Outcome:
        answer = child.ask(question(subject.operator, trial), plan.timeout)
        return outcome(subject, dtype, trial, answer, plan.sums)

    def ask(trial: Trial) -> Outcome:
        found = one(trial)
        if found.verdict == "conforms" and subject.enclose is not None and trial.constants:
            return compared(found, one(twin(trial)))
        return found

    return ask


def _pace(told: Told, plan: Plan, subject: Subject, dtype: DType) -> Pace:
    vectors = sum(1 for _ in subject.trials(dtype, plan.seed))
    return Pace(told, vectors, plan.examples, plan.seconds)


def _counted(ask: Callable[[Trial], Outcome], tally: _Tally, pace: Pace | None) -> Callable[[Trial], Outcome]:
    """Asks for the search, whose refusals are told too."""

    def counted(trial: Trial) -> Outcome:
        found = ask(trial)
        tally.refuse(found, "search", 0)
        if pace is not None:
            pace.step()
        return found

    return counted


def _departures(ask: Callable[[Trial], Outcome], tally: _Tally) -> tuple[Departure, ...]:
    """Every way of departing, by the smallest trial that still shows it, and what may have caused it."""
    smallest: dict[Key, Outcome] = {}
    chains: dict[Key, Key] = {}
    waiting = [each for each, found in tally.firsts.items() if found.differences]
    for wanted in waiting:
        smallest[wanted], plain = _smallest_and_plainer(ask, tally, wanted)
        if plain is not None:
            chains[wanted] = plain[0]
            if plain[0] not in tally.firsts:  # nobody has met it before
                tally.firsts[plain[0]] = plain[1]
                waiting.append(plain[0])
    known = causes(chains)
    return tuple(_departure(tally, each, found, known.get(each)) for each, found in smallest.items())


def _smallest_and_plainer(
    ask: Callable[[Trial], Outcome], tally: _Tally, wanted: Key
) -> tuple[Outcome, tuple[Key, Outcome] | None]:
    """The smallest example, and what stands behind it; one that stands alone is preferred, and decides."""
    smallest = _smallest(ask, tally, wanted)
    plain = plainer(ask, smallest, wanted)
    for other in tally.unlike[wanted].values() if plain is not None else ():
        found = _smaller(ask, other, wanted, _TRIES_OF_UNLIKE)
        if plainer(ask, found, wanted) is None:
            return found, None
    return smallest, plain


def _smallest(ask: Callable[[Trial], Outcome], tally: _Tally, wanted: Key) -> Outcome:
    first = tally.firsts[wanted]
    found = _smaller(ask, first, wanted, _TRIES)
    for other in reversed(tally.others[wanted]):  # the last ones are random, and fewer of those may do
        if _elements(found.trial) > _FEW and other is not first:
            found = min(found, _smaller(ask, other, wanted, _TRIES), key=lambda each: _elements(each.trial))
    return found


def _departure(tally: _Tally, wanted: Key, found: Outcome, cause: Key | None) -> Departure:
    difference = next(each for each in found.differences if key(each) == wanted)
    said = found.subject.specified(found.trial, found.dtype)
    specified = {} if said.stop else said.results(_mode(found))
    # What contradicts itself has conformed, so it is arrays.
    against = dict(zip(specified, found.against, strict=True)) if found.against else specified
    expected = {name: array for name, array in against.items() if not isinstance(array, TensorType)}
    return Departure(
        wanted[0],
        wanted[1],
        tally.shown[wanted],
        tally.firsts[wanted].trial.name if tally.shown[wanted] else "search",
        found.trial,
        difference,
        expected,
        found.outputs,
        "the same operands as inputs of the model" if found.against else "",
        cause,
    )


def _smaller(ask: Callable[[Trial], Outcome], start: Outcome, wanted: Key, tries: int) -> Outcome:
    # Where elements come from is known of the first output; of others the search begins anywhere.
    first, *_ = operand_names(start.subject.operator.contract.outputs, 1)
    place = next(
        (each.place for each in start.differences if key(each) == wanted and each.output == first), None
    )
    small = reduced(start.subject, start.trial, _shows(ask, wanted), tries=tries, place=place)
    found = ask(small) if small is not start.trial else start
    # A runtime that says now this, now that may have changed its mind.
    return found if wanted in found.keys else start


def _elements(trial: Trial) -> int:
    return sum(array.size for array in trial.inputs.values())


def _shows(ask: Callable[[Trial], Outcome], wanted: Key) -> Callable[[Trial], bool]:
    return lambda trial: wanted in ask(trial).keys


def _mode(found: Outcome) -> str:
    return "separate" if found.subject.enclose is not None else ""


def _crashes(
    ask: Callable[[Trial], Outcome], brief: Callable[[Outcome], Callable[[Trial], Outcome]], tally: _Tally
) -> list[Stop]:
    """Every way of crashing, by the smallest trial that still does."""
    stops = []
    for each, first in tally.firsts.items():
        if first.verdict != "crashes":
            continue
        shows = _hangs(brief(first)) if first.is_late else _shows(ask, each)
        # Whoever has never answered anything may only be slow.
        tries = 0 if first.is_late and tally.answered is None else _TRIES_OF_CRASHES
        small = reduced(first.subject, first.trial, shows, tries=tries)
        if first.is_late and small is not first.trial and not _hangs(ask)(small):
            small = first.trial  # an answer comes after all, or another end
        number = tally.shown[each]
        source = first.trial.name if number else "search"
        stops.append(Stop("crashes", first.said, number, source, small, first.printed))
    return stops


def _brief(child: Child, plan: Plan, tally: _Tally, first: Outcome) -> Callable[[Trial], Outcome]:
    """Asks with less patience than the plan has.

    A process that has just started may be slow with its first answer, so it is asked something known before.
    """
    in_full = _asking(child, plan, first.subject, first.dtype)
    fresh, patience = True, plan.timeout

    def ask(trial: Trial) -> Outcome:
        nonlocal fresh, patience
        if fresh and tally.answered is not None:
            in_full(tally.answered)
            began = monotonic()
            in_full(tally.answered)
            known = _TIMES_A_KNOWN_ANSWER * (monotonic() - began)
            patience = min(plan.timeout, max(_SHORT_WAIT, known))
        found = _asking(child, replace(plan, timeout=patience), first.subject, first.dtype)(trial)
        fresh = found.verdict == "crashes"
        return found

    return ask


def _hangs(ask: Callable[[Trial], Outcome]) -> Callable[[Trial], bool]:
    """Tells of a trial whether no answer comes, however long that was waited for."""
    return lambda trial: ask(trial).is_late
