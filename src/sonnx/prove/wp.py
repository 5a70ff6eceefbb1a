"""Frama-C's WP on emitted C, function by function: contracts, run-time errors, contradictions."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sonnx.prove.result import Attempt, Goal, Verdict
from sonnx.prove.running import Ran, run_tool

SOURCE = "model.c"
DRIVER = "ieee.driver"
# Floats are those of IEEE 754, with infinities and NaNs: making one is no error.
FLOATS = ("-warn-special-float", "none")
_SMOKE_SECONDS = 1
_QUICK_SECONDS = 5
# How much longer a goal is tried in the end.
_PATIENCE = 4
# What a function may take in all: its goals, each by every prover.
_MOST_SECONDS = 1800.0
_SILENT_SECONDS = 300.0

# With one prover, what it says stands on the goal's own line; with several, on lines below it.
_ANSWERED = re.compile(r"^\[wp\] \[([^\]]+)\] Goal (\S+) : (\w+)(.*)$")
_PASSED = re.compile(r"^\[wp\] \[Passed\] Smoke-test (\S+)")
_FAILED = re.compile(r"^\[wp\] \[Failed\] (Goal|Smoke-test) (\S+)")
_OTHER = re.compile(r"^\[wp\] \[(\w+)\] (Goal|Smoke-test) (\S+)")
_SAID = re.compile(r"^\s+(Qed|\w+ [\d.]+): (\w+)(.*)$")
_SCHEDULED = re.compile(r"^\[wp\] (\d+|No) goals? (?:scheduled|generated)", re.MULTILINE)
_SECONDS = re.compile(r"\(([\d.]+)(ms|s|')\)")
_WARNING = re.compile(r"^\[(wp[\w:-]*|kernel:annot[\w:-]*)\] (?:\S+: )?Warning: *(.*)$")
_DEFINED = re.compile(r"Defined functions \((\d+)\)\s*=+\s*(.*?)\n\s*\n", re.DOTALL)
_FOREIGN = re.compile(
    r"(?:Specified-only|Undefined and unspecified) functions \(\d+\)\s*=+\s*(.*?)\n\s*\n", re.DOTALL
)
_LIBRARY = frozenset({"fmaf", "fma"})
_CALLED = re.compile(r"(\w+) \(\d+ calls?\)")
# It is said of every function with a pointer; the caller's arrays cannot be the project's static ones.
_EXPECTED_WARNINGS = ("Memory model hypotheses", "Failed smoke-test")
_WORDS: dict[str, Verdict] = {
    "Valid": "proved",
    "Timeout": "timeout",
    "Unknown": "unknown",
    "Stepout": "timeout",
    "Invalid": "invalid",
}


# With more time, or by another prover, it may yet be proved.
_OPEN: frozenset[Verdict] = frozenset({"timeout", "unknown"})


class FramaError(ValueError):
    """Frama-C does not read a project; the text has what it says."""


@dataclass(frozen=True)
class Frama:
    """Frama-C, in a folder with the project's sources and the driver, with Why3's configuration."""

    program: Path
    folder: Path
    environment: dict[str, str]
    provers: Sequence[str]
    subject: str

    def run(self, options: Sequence[str | Path], seconds: float = _MOST_SECONDS) -> Ran:
        """Run it on options and sources."""
        return run_tool(
            [self.program, *options],
            seconds=seconds,
            silence=_SILENT_SECONDS,
            folder=self.folder,
            # Frama-C believes PWD, where that is set.
            environment={**self.environment, "PWD": os.fspath(self.folder)},
        )


def defined_functions(frama: Frama) -> list[str]:
    """The functions that model.c defines, as Frama-C sees them; raises FramaError."""
    ran = frama.run(["-metrics", SOURCE], 120)
    found = _DEFINED.search(ran.out)
    names = _CALLED.findall(found[2]) if found else []
    if ran.how or not found or len(names) != int(found[1]):
        lines = (ran.out + ran.err).splitlines()
        first = next((n for n, line in enumerate(lines) if "rror" in line or "Warning" in line), 0)
        said = " ".join(" ".join(lines[first : first + 4]).split())[:300]
        raise FramaError(f"Frama-C does not read {SOURCE}: {said or ran.how}")
    foreign = {name for part in _FOREIGN.findall(ran.out) for name in _CALLED.findall(part)} - _LIBRARY
    if foreign:
        raise FramaError(f"{SOURCE} calls functions that are not in it: {', '.join(sorted(foreign))}")
    return names


def prove_function(frama: Frama, function: str, seconds: int, *, hasty: bool = False) -> list[Goal]:
    """Every goal of one function: first by the quickest provers, what is left by all, at last for longer.

    Searches for contradictions end with their time, so only the first provers make them. In haste they are
    left out, and nothing is tried a second time.
    """
    first = _quickest(frama.provers)
    goals = _goals(frama, function, first, min(seconds, _QUICK_SECONDS), smoke=not hasty)
    for limit in () if hasty else (seconds, _PATIENCE * seconds):
        left = {goal.name for goal in goals if goal.kind == "proof" and goal.verdict in _OPEN}
        if not left:
            break
        found = _goals(frama, function, frama.provers, limit, smoke=False)
        if any(goal.verdict == "failed" for goal in found):  # then nothing of this round is believed
            return goals + [goal for goal in found if goal.verdict == "failed"]
        better = {goal.name: goal for goal in found if goal.name in left}
        goals = [better.get(goal.name, goal) if goal.kind == "proof" else goal for goal in goals]
    return goals


def _quickest(provers: Sequence[str]) -> Sequence[str]:
    """The provers of the first round; where a brief one gives up, the next is asked."""
    return provers[: 2 if provers[0] == "z3brief" else 1]


def _goals(frama: Frama, function: str, provers: Sequence[str], seconds: int, *, smoke: bool) -> list[Goal]:
    options = [
        *("-wp", "-wp-rte", *FLOATS, "-wp-driver", DRIVER, "-wp-fct", function),
        *("-wp-prover", ",".join(provers), "-wp-timeout", str(seconds), "-wp-par", "1"),
        *("-wp-cache", "none", SOURCE),
    ]
    if smoke:
        # What is supposed at the beginning, in loops and after calls; every statement would take too long.
        options[:0] = ["-wp-smoke-tests", "-wp-no-smoke-dead-code", "-wp-smoke-timeout", str(_SMOKE_SECONDS)]
    ran = frama.run(options)
    goals = list(dict.fromkeys(_parsed(frama.subject, function, ran.out)))
    scheduled = _SCHEDULED.search(ran.out)
    count = 0 if not scheduled or scheduled[1] == "No" else int(scheduled[1])
    problems = [*_complaints(ran.out)]
    if ran.how:
        problems.append(f"Frama-C: {ran.how}: {' '.join((ran.err or ran.out)[-300:].split())}")
    elif not count or count != len(goals) or len({(goal.kind, goal.name) for goal in goals}) != len(goals):
        problems.append(f"Frama-C planned {count} goals and spoke of {len(goals)}")
    place = f"{frama.subject}/{SOURCE}"
    return goals + [
        Goal(frama.subject, function, "Frama-C can do its work", "failed", detail=text, place=place)
        for text in problems
    ]


def _complaints(out: str) -> Iterator[str]:
    """Warnings: something that a contract needs is missing, or is not what it seems."""
    lines = out.splitlines()
    for number, line in enumerate(lines):
        if found := _WARNING.match(line):
            text = found[2] or (lines[number + 1].strip() if number + 1 < len(lines) else "")
            if not text.startswith(_EXPECTED_WARNINGS):
                yield f"{found[1]}: {text}"


@dataclass
class _Entry:
    kind: str
    name: str
    attempts: list[Attempt] = field(default_factory=list)


def _parsed(subject: str, function: str, out: str) -> Iterator[Goal]:
    """The goals that Frama-C speaks of, and what became of each."""
    open_entry: _Entry | None = None
    for line in [*out.splitlines(), "[wp] end"]:
        said = _SAID.match(line)
        if open_entry and said:
            verdict = _verdict(said[2])
            detail = " ".join(f"{said[2]}{said[3]}".split()) if verdict == "failed" else ""
            open_entry.attempts.append(Attempt(said[1], verdict, _duration(said[3]), detail))
            continue
        if open_entry:
            yield _unproved(subject, function, open_entry)
            open_entry = None
        if found := _ANSWERED.match(line):
            yield _answered(subject, function, *found.groups())
        elif found := _PASSED.match(line):
            yield Goal(
                subject,
                function,
                short_name(found[1], function),
                "unknown",
                kind="smoke",
                place=f"{subject}/{SOURCE}",
            )
        elif found := _FAILED.match(line):
            open_entry = _Entry(found[1], short_name(found[2], function))
        elif found := _OTHER.match(line):  # a word that is not known here is no proof
            yield Goal(
                subject,
                function,
                short_name(found[3], function),
                "failed",
                detail=line.strip(),
                place=f"{subject}/{SOURCE}",
            )


def _answered(subject: str, function: str, prover: str, goal: str, word: str, rest: str) -> Goal:
    name, seconds = short_name(goal, function), _duration(rest)
    verdict = _verdict(word)
    attempts = () if verdict == "proved" else (Attempt(prover, verdict, seconds),)
    return Goal(
        subject,
        function,
        name,
        verdict,
        prover,
        seconds,
        law=_law(name),
        place=f"{subject}/{SOURCE}",
        attempts=attempts,
    )


def _verdict(word: str) -> Verdict:
    """What a word of Frama-C's means; one that is not known here is no proof."""
    return _WORDS.get(word, "failed")


def _unproved(subject: str, function: str, entry: _Entry) -> Goal:
    attempts = tuple(entry.attempts)
    if entry.kind == "Smoke-test":
        detail = "what is assumed there is contradictory, or is never reached"
        return Goal(
            subject,
            function,
            entry.name,
            "contradiction",
            kind="smoke",
            detail=detail,
            place=f"{subject}/{SOURCE}",
            attempts=attempts,
        )
    verdicts = {attempt.verdict for attempt in attempts}
    order: tuple[Verdict, ...] = ("invalid", "timeout", "unknown")
    verdict: Verdict = next((each for each in order if each in verdicts), "failed")
    return Goal(
        subject,
        function,
        entry.name,
        verdict,
        law=_law(entry.name),
        place=f"{subject}/{SOURCE}",
        attempts=attempts,
    )


def short_name(goal: str, function: str) -> str:
    """A goal's name without the memory model and the function that it begins with."""
    return re.sub(rf"^typed_\w*?{re.escape(function)}_", "", goal)


def _law(name: str) -> str:
    """The clause of the contract that a goal is a part of."""
    return re.sub(r"_part\d+$", "", name)


def _duration(text: str) -> float:
    """The prover's own time, where it is said: the last one, after that of simplification."""
    found = _SECONDS.findall(text)
    if not found:
        return 0.0
    number, unit = found[-1]
    return float(number) * {"ms": 0.001, "s": 1.0, "'": 60.0}[unit]


def program_environment(configuration: dict[str, str]) -> dict[str, str]:
    """What Frama-C needs of the environment: Why3's configuration, and nothing kept by an earlier run."""
    return {**configuration, "FRAMAC_WP_CACHE": "none", "HOME": os.environ.get("HOME", os.sep)}
