"""Has Why3 prove a module, by one prover after the other; only what Why3 says plainly is believed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sonnx.prove.configuration import MEMORY_MIB, Configuration, ProverName
from sonnx.prove.mlw import Module, Theory
from sonnx.prove.result import Attempt, Goal, Verdict
from sonnx.prove.running import Ran, run_tool
from sonnx.prove.tools import Tools
from sonnx.report.text import cut

# Most goals take a fraction of a second with some prover: each is asked briefly before any is for long. Who
# does not prove a goal takes all its time, so times grow in steps.
_ROUNDS: tuple[tuple[int | None, tuple[ProverName, ...]], ...] = (
    (1, ("z3brief", "cvc4nofp", "z3new", "z3nofp", "cvc4")),
    (3, ("cvc4nofp", "z3new")),
    (None, ("cvc4nofp", "z3new", "z3nofp", "cvc4", "z3")),
)
_LONGEST_RUN = 3600.0
_LONGEST_DETAIL = 300
# Why3's answers, by how they begin.
_VERDICTS: dict[str, Verdict] = {
    "Valid": "proved",
    "Invalid": "invalid",
    "Timeout": "timeout",
    "Out Of Memory": "timeout",
    "Step Limit Exceeded": "timeout",
    "Unknown": "unknown",
}
# Where nobody has proved a goal, the most telling answer is its verdict.
_TELLING: tuple[Verdict, ...] = ("invalid", "timeout", "unknown", "failed")


@dataclass(frozen=True)
class Setup:
    """What a run of Why3 needs: tools, their configuration, a folder of theories and one for its own files.

    `patience` is for how many seconds beyond the time of a prover nothing may be heard of it.
    """

    tools: Tools
    configuration: Configuration
    tree: Path
    scratch: Path
    patience: float = 30.0

    def why3(self, *arguments: str, seconds: int = 0) -> Ran:
        """Run `why3 prove` on the folder of theories; each answer may take so many seconds."""
        command: list[str | Path] = [
            self.tools.why3.path,
            "prove",
            "-C",
            self.configuration.path,
            "-L",
            self.tree,
            *arguments,
        ]
        return run_tool(
            command,
            seconds=_LONGEST_RUN,
            silence=2 * seconds + self.patience,
            folder=self.tree,
            environment={"TMPDIR": str(self.scratch)},
        )


@dataclass
class _Part:
    """A part of a goal, as Why3 splits it, and what has been said of it so far."""

    explanation: str
    line: int | None
    place: str
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        return any(attempt.verdict == "proved" for attempt in self.attempts)

    def same(self, other: "_Part") -> bool:
        return (self.explanation, self.place) == (other.explanation, other.place)


@dataclass(frozen=True)
class _Answers:
    """The parts of every goal that was answered completely, and what went wrong."""

    parts: dict[str, list[_Part]]
    problem: str = ""
    stopped: bool = False


def prove_module(
    setup: Setup, theory: Theory, module: Module, goals: Sequence[str], seconds: int
) -> list[Goal]:
    """Prove the goals of a module, for so many seconds per part and prover at most."""
    parts: dict[str, list[_Part]] = {}
    unanswered: dict[str, list[Attempt]] = {goal: [] for goal in goals}
    for prover, limit in _rounds(setup.configuration.provers, seconds):
        left = [goal for goal in goals if not _done(parts.get(goal))]
        if not left:
            break
        answers = _ask(setup, theory, module, prover, limit, left)
        for goal in left:
            _note(goal, answers, prover, parts, unanswered)
    found: list[Goal] = []
    for goal in goals:
        found += _goals(theory, module, goal, parts.get(goal, []), unanswered[goal])
    return found


def _rounds(provers: Iterable[ProverName], seconds: int) -> list[tuple[ProverName, int]]:
    """Who is asked in which order, for how long: never more than these seconds, nor twice for the same."""
    there = set(provers)
    listed = [
        (name, min(limit or seconds, seconds)) for limit, names in _ROUNDS for name in names if name in there
    ]
    return list(dict.fromkeys(listed))


def _done(parts: list[_Part] | None) -> bool:
    return bool(parts) and all(part.proved for part in parts or ())


def _note(
    goal: str,
    answers: _Answers,
    prover: ProverName,
    parts: dict[str, list[_Part]],
    unanswered: dict[str, list[Attempt]],
) -> None:
    """Add what was answered on a goal to what is known of it."""
    answered, known = answers.parts.get(goal), parts.get(goal)
    if not answered:
        problem = answers.problem or "Why3 gave no answer"
        verdict: Verdict = "timeout" if answers.stopped else "failed"
        unanswered[goal].append(Attempt(prover, verdict, 0.0, problem))
    elif known is None:
        parts[goal] = answered
    elif len(known) != len(answered) or not all(map(_Part.same, known, answered)):
        unanswered[goal].append(
            Attempt(prover, "failed", 0.0, "Why3 split the goal in another way than before")
        )
    else:
        for part, more in zip(known, answered, strict=True):
            part.attempts += more.attempts


def _ask(
    setup: Setup, theory: Theory, module: Module, prover: ProverName, seconds: int, goals: Sequence[str]
) -> _Answers:
    # A goal inside a scope has a longer name there, which its answers do not have.
    chosen = [] if module.scoped else [word for goal in goals for word in ("-G", goal)]
    options = ["-a", "split_vc", "--json", "-P", prover, "-t", str(seconds), "-m", str(MEMORY_MIB)]
    ran = setup.why3(*options, theory.file, "-T", module.name, *chosen, seconds=seconds)
    try:
        records = list(_records(ran.out, cut_off=bool(ran.stopped)))
        return _answers(ran, [(_name(record), _part(record, prover)) for record in records])
    except (AttributeError, KeyError, TypeError, ValueError):
        return _Answers({}, f"Why3 printed something that is no answer ({said(ran)})")


def _answers(ran: Ran, found: list[tuple[str, _Part]]) -> _Answers:
    parts: dict[str, list[_Part]] = {}
    for name, part in found:
        parts.setdefault(name, []).append(part)
    if ran.stopped:
        if found:  # there may have been more parts
            del parts[found[-1][0]]
        return _Answers(parts, said(ran), stopped=True)
    # Why3 ends with 0 if everything is proved, and with 2 if not.
    if ran.code != (0 if all(part.proved for _, part in found) else 2):
        return _Answers({}, said(ran))
    return _Answers(parts)


def _records(text: str, *, cut_off: bool) -> Iterator[Any]:
    """The JSON objects that stand one after the other in a text; the last may be cut off."""
    decoder, offset = json.JSONDecoder(), 0
    while rest := text[offset:].lstrip():
        offset = len(text) - len(rest)
        try:
            record, offset = decoder.raw_decode(text, offset)
        except ValueError:
            if cut_off:
                return
            raise
        yield record


def _name(record: Any) -> str:
    name = record["term"]["goal_name"]
    if not isinstance(name, str):
        raise TypeError
    return name


def _part(record: Any, prover: ProverName) -> _Part:
    result, term = record["prover-result"], record["term"]
    answer, place = str(result["answer"]), term["loc"]
    verdict = _verdict(answer)
    if verdict == "proved" and answer != "Valid":
        raise ValueError
    detail = "" if verdict == "proved" else " ".join(answer.split())
    attempt = Attempt(prover, verdict, float(result["time"]), cut(detail, _LONGEST_DETAIL))
    line = place.get("line", place.get("start-line"))  # what a loop brings has no line
    explanation = ", ".join(map(str, term["explanations"]))
    return _Part(
        explanation, None if line is None else int(line), json.dumps(place, sort_keys=True), [attempt]
    )


def _verdict(answer: str) -> Verdict:
    for start, verdict in _VERDICTS.items():
        if answer.startswith(start):
            return verdict
    return "failed"


def said(ran: Ran) -> str:
    """How a run of Why3 ended, and what it said on the way."""
    lines = [line for line in ran.err.splitlines() if line.strip() and "warning:" not in line]
    return cut("; ".join([ran.how or "exit code 0", *lines]), _LONGEST_DETAIL)


def _goals(
    theory: Theory, module: Module, goal: str, parts: list[_Part], unanswered: list[Attempt]
) -> Iterator[Goal]:
    law = next((law.name for law in module.laws if law.goal == goal), "")
    line = next((law.line for law in module.laws if law.goal == goal), module.first)
    for number, part in enumerate(parts or [_Part("", line, "")], 1):
        attempts = (*part.attempts, *unanswered)
        best = _best(attempts)
        yield Goal(
            subject=theory.subject,
            unit=module.name,
            name=goal if len(parts) < 2 else f"{goal}.{number}",
            verdict=best.verdict,
            prover=best.prover if best.verdict == "proved" else "",
            seconds=best.seconds if best.verdict == "proved" else sum(a.seconds for a in attempts),
            detail=part.explanation or best.detail,
            law=law,
            place=f"{theory.file}:{part.line or line}",
            attempts=attempts,
        )


def _best(attempts: Sequence[Attempt]) -> Attempt:
    for verdict in ("proved", *_TELLING):
        for attempt in attempts:
            if attempt.verdict == verdict:
                return attempt
    return Attempt("", "failed", 0.0, "no prover was asked")
