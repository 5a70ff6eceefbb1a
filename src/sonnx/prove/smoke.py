"""Looks for contradictions: `false` must not follow in any module, nor from the premises of any goal.

From a contradiction everything follows, so that without this a proof would say nothing. Why3 prints what it
would give to a prover; without its last assertion, that the goal is false, no prover may find it impossible.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sonnx.prove.configuration import ProverName
from sonnx.prove.mlw import Module, Theory
from sonnx.prove.modules import Setup, said
from sonnx.prove.result import Attempt, Goal, Verdict
from sonnx.prove.running import run_tool
from sonnx.report.text import cut

# Goals whose premises contradict each other as they should, by theory, module and goal, with the reason.
CONTRADICTORY: dict[tuple[str, str, str], str] = {}

CONTRADICTION = "contradiction_sought"
MODULE_SECONDS = 1.0
PREMISES_SECONDS = 0.3
_GOAL = re.compile(r'^;; Goal (\S+)\n;; File "[^"]*", line (\d+), characters \d+-\d+\n', re.MULTILINE)
_ASSERT_NOT = re.compile(r"\(assert\s+\(not\b")
_AFTER = re.compile(r"\s*\(check-sat\)\s*(\(get-info :reason-unknown\)\s*)?\Z")
_ATOM = re.compile(r'"(?:[^"]|"")*"|\|[^|]*\||;[^\n]*|[()]')
_ANSWERS: dict[str, Verdict] = {
    "unsat": "contradiction",
    "sat": "invalid",
    "unknown": "unknown",
    "timeout": "timeout",
    "cvc4 interrupted by timeout.": "timeout",
}


class TasksError(Exception):
    """Why3 did not print what it gives to provers, or not in a form that is known here."""


@dataclass(frozen=True)
class Task:
    """A goal as Why3 gives it to provers, without the goal itself; `scripts` has it for each of them.

    `premises` tells whether it supposes anything that the module does not.
    """

    module: Module
    goal: str
    line: int
    scripts: tuple[tuple[ProverName, str], ...]
    premises: bool


def marked(theory: Theory) -> str:
    """The text of a theory with the goal `false` at the end of every module, on no line of its own."""
    text = theory.text
    for module in reversed(theory.modules):
        text = f"{text[: module.end]} goal {CONTRADICTION}: false {text[module.end :]}"
    return text


def print_tasks(setup: Setup, theory: Theory, module: Module) -> list[Task]:
    """Every goal of a module, in its order; the folder of `setup` has the theory as `marked` gives it.

    Raises TasksError, also where Why3 does not accept the theory.
    """
    provers = solvers(setup)
    where = theory.file, module.name
    printed = [list(_printed(setup, *where, prover, "introduce_premises")) for prover in provers]
    plain = {name: text.count("\n(assert") for name, _, _, text in _printed(setup, *where, provers[0], "")}
    tasks = []
    for same in zip(*printed, strict=True):
        name, goal, line, text = same[0]
        if len({parts[:3] for parts in same}) != 1 or name not in plain:
            raise TasksError("Why3 prints other goals for one prover than for another")
        if theory.module_at(line) != module:
            raise TasksError(f"the goal {goal} of line {line} does not lie in the module {module.name}")
        scripts = tuple((prover, without_goal(parts[3])) for prover, parts in zip(provers, same, strict=True))
        tasks.append(Task(module, goal, line, scripts, text.count("\n(assert") > plain[name]))
    _require_all(module, tasks)
    return sorted(tasks, key=lambda task: task.line)


def solvers(setup: Setup) -> tuple[ProverName, ...]:
    """The provers that look for contradictions."""
    return ("cvc4nofp", "z3new" if "z3new" in setup.configuration.provers else "z3nofp")


def _printed(
    setup: Setup, file: str, module: str, prover: ProverName, transformation: str
) -> Iterator[tuple[str, str, int, str]]:
    """File name, goal, line and text of all that Why3 prints for a prover."""
    with tempfile.TemporaryDirectory(dir=setup.scratch, ignore_cleanup_errors=True) as folder:
        applied = ["-a", transformation] if transformation else []
        ran = setup.why3(*applied, "-P", prover, "-o", folder, file, "-T", module)
        if ran.how or ran.out.strip():
            raise TasksError(said(ran))
        for path in sorted(Path(folder).iterdir()):
            text = path.read_text("utf-8")
            found = _GOAL.findall(text)
            if len(found) != 1:
                raise TasksError(f"{path.name} does not say which goal it is")
            yield path.name, found[0][0], int(found[0][1]), text


def _require_all(module: Module, tasks: list[Task]) -> None:
    """Why3 must have seen all that is seen in the text, and names must tell goals apart."""
    names = [task.goal for task in tasks]
    for goal in (CONTRADICTION, *(law.goal for law in module.laws)):
        if names.count(goal) != 1:
            raise TasksError(f"there must be one goal {goal} in the module {module.name}")
    if len(set(names)) != len(names):
        raise TasksError("two goals of one module have the same name")


def without_goal(text: str) -> str:
    """A script without its last assertion, which says that the goal is false; raises TasksError if unsure."""
    found = list(_GOAL.finditer(text))
    if len(found) != 1 or not _ASSERT_NOT.match(text, found[0].end()):
        raise TasksError("what Why3 prints does not end with the negation of a goal")
    start, depth = found[0].end(), 0
    for atom in _ATOM.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(atom[0], 0)
        if depth == 0:
            rest = text[atom.end() :]
            if not _AFTER.match(rest):
                break
            return f"{text[:start]}(check-sat)\n"
    raise TasksError("what Why3 prints does not end with the negation of a goal")


def check_task(setup: Setup, theory: Theory, task: Task) -> Goal | None:
    """Look for a contradiction in what a goal supposes; None where it supposes no more than its module."""
    whole = task.goal == CONTRADICTION
    if not whole and not task.premises:
        return None
    seconds = MODULE_SECONDS if whole else PREMISES_SECONDS
    # Goals are many, and a search that finds nothing takes all its time: one prover looks at their premises,
    # the other only where that one breaks down, as cvc4 does on some data types.
    attempts: tuple[Attempt, ...] = ()
    for prover, script in task.scripts:
        attempts += (_solve(setup, prover, script, seconds),)
        if not whole and attempts[-1].verdict != "failed":
            break
    verdicts = [attempt.verdict for attempt in attempts if whole or attempt is attempts[-1]]
    verdict = next((bad for bad in ("contradiction", "failed") if bad in verdicts), verdicts[0])
    reason = CONTRADICTORY.get((theory.subject, task.module.name, task.goal), "")
    if verdict == "contradiction" and reason:
        verdict = "unknown"
    first = next(attempt for attempt in attempts if attempt.verdict == verdict or reason)
    return Goal(
        subject=theory.subject,
        unit=task.module.name,
        name="false does not follow" if whole else f"premises of {task.goal}",
        verdict=verdict,
        prover=first.prover if verdict == "contradiction" else "",
        seconds=sum(attempt.seconds for attempt in attempts),
        detail=reason or first.detail,
        kind="smoke",
        place=f"{theory.file}:{task.module.first if whole else task.line}",
        attempts=attempts,
    )


def _solve(setup: Setup, prover: ProverName, script: str, seconds: float) -> Attempt:
    tool = setup.configuration.provers[prover]
    options = (
        ("--lang=smt2", f"--tlimit={round(seconds * 1000)}")
        if prover.startswith("cvc4")
        else ("-smt2", f"-T:{ceil(seconds)}", "-memory:2000")
    )
    with tempfile.TemporaryDirectory(dir=setup.scratch, ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "task.smt2"
        path.write_text(script, encoding="utf-8")
        ran = run_tool(
            [tool.path, *options, path], seconds=seconds + setup.patience, folder=Path(folder), most=65536
        )
    lines = [line.strip() for line in f"{ran.out}\n{ran.err}".splitlines() if line.strip()]
    # A prover that leaves out an assertion it does not understand has not looked at all of them.
    verdict = _ANSWERS.get(lines[0], "failed") if len(lines) == 1 and not ran.stopped else "failed"
    detail = "" if verdict != "failed" else cut("; ".join([ran.how or "exit code 0", *lines]), 300)
    return Attempt(prover, verdict, ran.seconds, detail)
