"""Frama-C's WP on emitted C, function by function: contracts, run-time errors, contradictions."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sonnx.prove.result import Attempt, Goal, Verdict
from sonnx.prove.running import Ran, run_tool

# A function → the functions that its body calls.
Calls = Mapping[str, frozenset[str]]

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
_LIBRARY = frozenset({"fmaf", "fma", "sqrtf", "sqrt", "fabsf", "fabs"})
_CALLED = re.compile(r"(\w+) \(\d+ calls?\)")
# What the names of all goals begin with, and that of a search after a call of some function.
_MODEL = re.compile(r"^typed_(?:ieee_)?")
_AFTER_CALL = re.compile(r"(\w+)_wp_smoke_dead_call_s\d+$")
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
    """Every goal of one function, as `prove_functions` proves several."""
    return prove_functions(frama, [function], seconds, hasty=hasty)[function]


def prove_functions(
    frama: Frama, functions: Sequence[str], seconds: int, *, calls: Calls | None = None, hasty: bool = False
) -> dict[str, list[Goal]]:
    """Every goal of functions: first by the quickest provers, what is left by all, at last for longer.

    Frama-C is started once for all that is open: no two of them may be `alike`. Searches for contradictions
    end with their time, so only the first provers make them. In haste they are left out, and nothing is tried
    a second time.
    """
    first, said = _quickest(frama.provers), calls or {}
    found = _goals(frama, functions, first, min(seconds, _QUICK_SECONDS), said, smoke=not hasty)
    left = [] if hasty else list(functions)
    for limit in (seconds, _PATIENCE * seconds):
        left = [name for name in left if _open(found[name])]
        again = _goals(frama, left, frama.provers, limit, said, smoke=False)
        found |= {name: _better(found[name], again[name]) for name in left}
        # Where a round failed, nothing of it is believed, and none follows.
        left = [name for name in left if all(goal.verdict != "failed" for goal in again[name])]
    return found


def _open(goals: Sequence[Goal]) -> set[str]:
    """The goals that may yet be proved."""
    return {goal.name for goal in goals if goal.kind == "proof" and goal.verdict in _OPEN}


def _better(goals: list[Goal], again: list[Goal]) -> list[Goal]:
    failed = [goal for goal in again if goal.verdict == "failed"]
    if failed:
        return goals + failed
    left = _open(goals)
    found = {goal.name: goal for goal in again if goal.name in left}
    return [found.get(goal.name, goal) if goal.kind == "proof" else goal for goal in goals]


def _quickest(provers: Sequence[str]) -> Sequence[str]:
    """The provers of the first round; where a brief one gives up, the next is asked."""
    return provers[: 2 if provers[0] == "z3brief" else 1]


def alike(one: str, other: str, calls: Calls) -> bool:
    """Whether goals of one function could be taken for those of another.

    Frama-C's names begin with that of the function; searches after a call with that of what is called.
    """
    if one in other or other in one or one not in calls or other not in calls:
        return True
    return bool(calls[one] & {other, *calls[other]}) or one in calls[other]


def batches(functions: Sequence[str], calls: Calls, most: int) -> list[list[str]]:
    """Functions that Frama-C can be given at once, so many at most: no two of them are alike."""
    found: list[list[str]] = []
    for name in functions:
        for batch in found:
            if len(batch) < most and not any(alike(name, other, calls) for other in batch):
                batch.append(name)
                break
        else:
            found.append([name])
    return found


def _goals(
    frama: Frama, functions: Sequence[str], provers: Sequence[str], seconds: int, calls: Calls, *, smoke: bool
) -> dict[str, list[Goal]]:
    """The goals of functions in one run; where it is not clear whose something is, each gets its own run."""
    if not functions:
        return {}
    options = [
        *("-wp", "-wp-rte", *FLOATS, "-wp-driver", DRIVER, "-wp-fct", ",".join(functions)),
        *("-wp-prover", ",".join(provers), "-wp-timeout", str(seconds), "-wp-par", "1"),
        *("-wp-cache", "none", SOURCE),
    ]
    if smoke:
        # What is supposed at the beginning, in loops and after calls; every statement would take too long.
        options[:0] = ["-wp-smoke-tests", "-wp-no-smoke-dead-code", "-wp-smoke-timeout", str(_SMOKE_SECONDS)]
    ran = frama.run(options)
    goals = list(dict.fromkeys(_parsed(frama.subject, _Owners(functions, calls), ran.out)))
    problems = [*_complaints(ran.out), *_miscounted(ran, goals)]
    by_function = {name: [goal for goal in goals if goal.unit == name] for name in functions}
    if len(functions) > 1 and (
        problems or not all(by_function.values()) or sum(map(len, by_function.values())) != len(goals)
    ):
        alone = (_goals(frama, [name], provers, seconds, calls, smoke=smoke) for name in functions)
        return {name: goals for each in alone for name, goals in each.items()}
    place = f"{frama.subject}/{SOURCE}"
    failed = [
        Goal(frama.subject, functions[0], "Frama-C can do its work", "failed", detail=text, place=place)
        for text in problems
    ]
    by_function[functions[0]] += failed  # there is only this one, or nothing failed
    return by_function


def _miscounted(ran: Ran, goals: Sequence[Goal]) -> Iterator[str]:
    """Goals must be as many as were planned, and told apart by their names."""
    scheduled = _SCHEDULED.search(ran.out)
    count = 0 if not scheduled or scheduled[1] == "No" else int(scheduled[1])
    if ran.how:
        yield f"Frama-C: {ran.how}: {' '.join((ran.err or ran.out)[-300:].split())}"
    elif not count or count != len(goals) or len({(g.kind, g.unit, g.name) for g in goals}) != len(goals):
        yield f"Frama-C planned {count} goals and spoke of {len(goals)}"


@dataclass(frozen=True)
class _Owners:
    """The functions of a run, and what each calls."""

    functions: Sequence[str]
    calls: Calls

    def of(self, goal: str) -> str:
        """The function whose goal this is; nothing where that is not clear."""
        if len(self.functions) == 1:
            return self.functions[0]
        bare = _MODEL.sub("", goal)
        called = _AFTER_CALL.match(bare)
        found = [
            name
            for name in self.functions
            if bare.startswith(f"{name}_") or (called and called[1] in self.calls[name])
        ]
        return found[0] if len(found) == 1 else ""


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
    goal: Goal
    attempts: list[Attempt] = field(default_factory=list)


def _parsed(subject: str, owners: _Owners, out: str) -> Iterator[Goal]:
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
            yield _unproved(open_entry)
            open_entry = None
        if found := _ANSWERED.match(line):
            yield _answered(_begun(subject, owners, found[2]), found[1], found[3], found[4])
        elif found := _PASSED.match(line):
            yield replace(_begun(subject, owners, found[1]), verdict="unknown", kind="smoke")
        elif found := _FAILED.match(line):
            open_entry = _Entry(found[1], _begun(subject, owners, found[2]))
        elif found := _OTHER.match(line):  # a word that is not known here is no proof
            yield replace(_begun(subject, owners, found[3]), detail=line.strip())


def _begun(subject: str, owners: _Owners, goal: str) -> Goal:
    """A goal of which nothing good is known yet."""
    function = owners.of(goal)
    return Goal(subject, function, short_name(goal, function), "failed", place=f"{subject}/{SOURCE}")


def _answered(goal: Goal, prover: str, word: str, rest: str) -> Goal:
    verdict, seconds = _verdict(word), _duration(rest)
    attempts = () if verdict == "proved" else (Attempt(prover, verdict, seconds),)
    return replace(
        goal, verdict=verdict, prover=prover, seconds=seconds, law=_law(goal.name), attempts=attempts
    )


def _verdict(word: str) -> Verdict:
    """What a word of Frama-C's means; one that is not known here is no proof."""
    return _WORDS.get(word, "failed")


def _unproved(entry: _Entry) -> Goal:
    goal = replace(entry.goal, attempts=tuple(entry.attempts))
    if entry.kind == "Smoke-test":
        detail = "what is assumed there is contradictory, or is never reached"
        return replace(goal, verdict="contradiction", kind="smoke", detail=detail)
    verdicts = {attempt.verdict for attempt in goal.attempts}
    order: tuple[Verdict, ...] = ("invalid", "timeout", "unknown")
    verdict: Verdict = next((each for each in order if each in verdicts), "failed")
    return replace(goal, verdict=verdict, law=_law(goal.name))


def short_name(goal: str, function: str) -> str:
    """A goal's name without the memory model and the function that it begins with."""
    return re.sub(rf"^typed_\w*?{re.escape(function)}_", "", goal) if function else goal


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
