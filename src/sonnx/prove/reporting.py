"""Proofs as a table for people, as JSON for programs, and as JUnit XML for build servers."""

from collections.abc import Sequence
from typing import Any

from sonnx.prove.result import Goal, Proofs, laws
from sonnx.report.findings_json import json_text
from sonnx.report.text import LONGEST_NAME, cut, printable
from sonnx.report.xml import xml_attribute, xml_text
from sonnx.sources import reference

_HEADS = ("subject", "laws", "goals", "proved", "consistent", "seconds", "provers")
# Of a project every file is named; the digests of all theories are in the JSON.
_FEW_SOURCES = 8
_NUMBERS = frozenset({"laws", "goals", "proved", "consistent", "seconds"})


def proofs_text(proofs: Proofs) -> str:
    """Print a line per subject, then every goal that did not come out as it must, then the verdict."""
    parts = [_table(proofs)] if proofs.goals else []
    parts += [_bad(goal) for goal in proofs.bad]
    if proofs.assumptions:
        parts.append("\n".join(["taken for granted:", *(f"  {cut(text)}" for text in proofs.assumptions)]))
    lines = [verdict(proofs)]
    if 0 < len(proofs.sources) <= _FEW_SOURCES:
        lines += [f"sha256 {digest}  {name}" for name, digest in proofs.sources]
    if proofs.tools:
        lines.append("by " + ", ".join(f"{name} {version}" for name, version in proofs.tools))
    text = "\n\n".join([*parts, "\n".join(lines)])
    return "\n".join(map(printable, text.split("\n")))


def verdict(proofs: Proofs) -> str:
    """Say in one line what came of it."""
    goals = [goal for goal in proofs.goals if goal.kind == "proof"]
    smoke = [goal for goal in proofs.goals if goal.kind == "smoke"]
    proved = sum(goal.good for goal in goals)
    kept = sum(goal.cached for goal in proofs.goals)
    found = sum(not goal.good for goal in smoke)
    text = f"{proved} of {len(goals)} goals proved"
    if smoke:
        outcome = f"went wrong in {found}" if found else "found none"
        text += f", {len(smoke)} searches for contradictions {outcome}"
    text += f", {proofs.seconds:.1f} s"
    if kept:
        text += f" ({kept} of these results from an earlier run)"
    if not goals:
        return f"there was nothing to prove, {proofs.seconds:.1f} s"
    return text if proofs.good else f"NOT PROVED: {text}"


def _table(proofs: Proofs) -> str:
    rows = [_row(subject, proofs.of(subject)) for subject in proofs.subjects]
    if len(rows) > 1:
        rows.append(_row("all", proofs.goals))
    lines = [_HEADS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADS))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if head in _NUMBERS else text.ljust(width)
            for head, text, width in zip(_HEADS, line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _row(subject: str, goals: Sequence[Goal]) -> tuple[str, ...]:
    proofs = [goal for goal in goals if goal.kind == "proof"]
    smoke = [goal for goal in goals if goal.kind == "smoke"]
    provers = sorted({goal.prover for goal in proofs if goal.good and goal.prover})
    return (
        cut(subject, LONGEST_NAME),
        str(laws(goals)),
        str(len(proofs)),
        str(sum(goal.good for goal in proofs)),
        f"{sum(goal.good for goal in smoke)}/{len(smoke)}" if smoke else "-",
        f"{sum(goal.seconds for goal in goals):.1f}",
        ", ".join(provers) or "-",
    )


def _bad(goal: Goal) -> str:
    name = ".".join(part for part in (goal.unit, goal.name) if part)
    lines = [f"error[{goal.verdict}]: {cut(goal.subject, LONGEST_NAME)}: {cut(name, LONGEST_NAME)}"]
    if goal.place:
        lines.append(f"  --> {cut(goal.place, LONGEST_NAME)}")
    if goal.detail:
        lines.append(f"   {_one_line(goal.detail)}")
    lines += [
        f"   {attempt.prover}: {attempt.verdict}, {attempt.seconds:.1f} s"
        + (f", {_one_line(attempt.detail)}" if attempt.detail else "")
        for attempt in goal.attempts
    ]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()))


def proofs_json(proofs: Proofs, version: str) -> str:
    """Write everything that is known of the goals; pure ASCII, whatever their names are."""
    return json_text(proofs_document(proofs, version), 2)


def proofs_document(proofs: Proofs, version: str) -> dict[str, Any]:
    """Give the verdict, the tools, what is taken for granted, and every goal with what provers said."""
    goals = [goal for goal in proofs.goals if goal.kind == "proof"]
    return {
        "tool": "sonnx",
        "version": version,
        "specification": reference(),
        "proved": proofs.good,
        "counts": {
            "laws": laws(goals),
            "goals": len(goals),
            "proved": sum(goal.good for goal in goals),
            "smoke": len(proofs.goals) - len(goals),
            "bad": len(proofs.bad),
        },
        "seconds": round(proofs.seconds, 3),
        "tools": [{"name": _sound(name), "version": _sound(said)} for name, said in proofs.tools],
        "assumptions": [_sound(text) for text in proofs.assumptions],
        "sources": [{"name": _sound(name), "sha256": digest} for name, digest in proofs.sources],
        "goals": [_goal(goal) for goal in proofs.goals],
    }


def _goal(goal: Goal) -> dict[str, Any]:
    return {
        "subject": _sound(goal.subject),
        "unit": _sound(goal.unit),
        "name": _sound(goal.name),
        "law": _sound(goal.law),
        "kind": goal.kind,
        "verdict": goal.verdict,
        "good": goal.good,
        "prover": _sound(goal.prover),
        "seconds": round(goal.seconds, 3),
        "detail": _sound(goal.detail),
        "place": _sound(goal.place),
        "cached": goal.cached,
        "attempts": [
            {
                "prover": _sound(attempt.prover),
                "verdict": attempt.verdict,
                "seconds": round(attempt.seconds, 3),
                "detail": _sound(attempt.detail),
            }
            for attempt in goal.attempts
        ],
    }


def _sound(text: str) -> str:
    """Make a text one that any reader of JSON takes, and no longer than needs be."""
    return cut(text).encode("utf-8", "backslashreplace").decode()


def proofs_junit(proofs: Proofs) -> str:
    """Write a test suite per subject and a test case per goal; a tool's failure is an error.

    Where there was nothing to prove, that is a failure too.
    """
    suites = [_suite(subject, proofs.of(subject)) for subject in proofs.subjects]
    if not any(goal.kind == "proof" for goal in proofs.goals):
        nothing = Goal("sonnx prove", "", "there is something to prove", "failed", detail="there is nothing")
        suites.append(_suite(nothing.subject, [nothing]))
    body = "\n".join(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sonnx prove">\n{body}\n</testsuites>\n'


def _suite(subject: str, goals: Sequence[Goal]) -> str:
    bad = [goal for goal in goals if not goal.good]
    errors = sum(goal.verdict == "failed" for goal in bad)
    seconds = sum(goal.seconds for goal in goals)
    counts = f'tests="{len(goals)}" failures="{len(bad) - errors}" errors="{errors}" time="{seconds:.3f}"'
    cases = "\n".join(map(_case, goals))
    return f"  <testsuite name={xml_attribute(subject)} {counts}>\n{cases}\n  </testsuite>"


def _case(goal: Goal) -> str:
    owner = ".".join(part for part in (goal.subject.replace("/", "."), goal.unit) if part)
    names = f"classname={xml_attribute(owner)} name={xml_attribute(goal.name)}"
    head = f'    <testcase {names} time="{goal.seconds:.3f}"'
    if goal.good:
        return f"{head}/>"
    kind = "error" if goal.verdict == "failed" else "failure"
    shown = xml_text(_bad(goal))
    message = xml_attribute(_one_line(f"{goal.verdict} {goal.detail}"))
    return f"{head}>\n      <{kind} message={message}>{shown}</{kind}>\n    </testcase>"
