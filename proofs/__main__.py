"""Prove what proofs.lock does not speak of, and a twentieth of the rest; say what stands by the lock.

    python -m proofs FOLDER [--all]

Reports on what was proved now go below FOLDER, and the emitted projects. With --all everything is proved, and
proofs.lock written anew. Ends with 1 where something is not proved or the lock does not hold, with 2 where
tools are missing.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import click

from proofs.lock import (
    EMPTY,
    SHARE,
    Choice,
    Entry,
    Lock,
    LockError,
    Unit,
    choose,
    contradicted,
    entry_of,
    impossible,
    lock_text,
    read_lock,
    refreshed,
)
from proofs.units import (
    PROJECTS,
    ROOT,
    THEORIES,
    all_units,
    emitted,
    emitted_texts,
    repeated,
    tools_digests,
    tree_digest,
)
from sonnx import __version__
from sonnx.cli.progress import bar, ended_by_signals
from sonnx.definitions import definitions, theory_sources
from sonnx.load.whole_file import whole_file
from sonnx.prove.mlw import subject_of
from sonnx.prove.plan import carry_out
from sonnx.prove.projects import planned_project
from sonnx.prove.reporting import proofs_json, proofs_junit, proofs_text
from sonnx.prove.result import Goal, Proofs
from sonnx.prove.running import Options
from sonnx.prove.theories import planned_theories
from sonnx.prove.tools import ALL_TOOLS, Tools, ToolsMissingError, find_tools

FILE = "proofs.lock"


@dataclass(frozen=True)
class Found:
    """What came of a run: reports by subject, and every unit that was asked for."""

    reports: Mapping[str, Proofs]
    asked: frozenset[str]

    def goals(self, unit: str) -> list[Goal]:
        """The goals of one unit."""
        return [goal for proofs in self.reports.values() for goal in proofs.goals if _name(goal) == unit]


def _name(goal: Goal) -> str:
    return f"{goal.subject} {goal.unit}"


def main() -> int:
    """Prove, compare, report."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description="Prove, and compare with the lock.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="prove everything, and write proofs.lock anew")
    asked = parser.parse_args()
    try:
        with ended_by_signals():
            return run(asked.folder, everything=asked.all)
    except (ToolsMissingError, LockError, OSError, ValueError) as error:
        click.echo(f"error: {error}", err=True)
        return 2


def run(folder: Path, *, everything: bool, root: Path = ROOT) -> int:
    """One run over the whole project; answers the exit code."""
    began = monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = _read(root / FILE)
    except (LockError, UnicodeDecodeError) as error:
        if not everything:
            click.echo(f"error: {FILE} is not believed: {error}; `make prove ALL=1` writes it anew", err=True)
            return 1
        lock = EMPTY
    problems: list[str] = []
    tools = find_tools(ALL_TOOLS)
    digests, here = tools_digests(tools)
    units, tree = all_units(digests), tree_digest(root)
    choice = choose(units, lock, tree, everything=everything)
    click.echo("\n".join(_announced(choice, lock, here, tree, everything=everything)))
    found = prove(folder, choice.now, tools)
    commit, day = _commit(root), datetime.now(UTC).date().isoformat()
    bad = [goal for proofs in found.reports.values() for goal in proofs.bad]
    # What is wrong with a text as a whole lets none of its parts be believed.
    spoiled = {goal.subject for goal in bad if not goal.unit}
    entries = {
        unit.name: entry
        for unit in units
        if unit.name in choice.now
        and unit.name.partition(" ")[0] not in spoiled
        and (entry := entry_of(unit, found.goals(unit.name), commit, day))
    }
    if not everything:
        problems += [
            *impossible(units, lock),
            *_misnamed(lock, here),
            *_refuted(units, choice, lock, entries),
        ]
        problems += [f"{name}: the lock has an entry for it, and it is not there" for name in choice.gone]
    problems += [f"{name}: it is there, and no tool was asked for it" for name in _unasked(units, found)]
    problems += [f"{name}: not proved" for name in sorted(choice.now - entries.keys())]
    problems += [f"{goal.subject}: {goal.name}" for goal in bad if _name(goal) not in choice.now]
    _report(folder, found.reports)
    good = not problems and not bad
    fresh = refreshed(EMPTY if everything else _held(lock, problems), units, entries, Lock(here, {}))
    click.echo("\n".join(_concluded(choice, lock, entries, monotonic() - began, problems)))
    if everything and good:
        _write(root / FILE, fresh)
        click.echo(f"{FILE} is written anew; commit it")
    elif everything or choice.outdated or problems:
        _write(folder / FILE, fresh)
        click.echo(
            f"{FILE} should be refreshed: {folder / FILE} has all that holds, with what was proved now; "
            f"look at it, copy it to {FILE} and commit it"
        )
    return 0 if good else 1


def prove(folder: Path, wanted: frozenset[str], tools: Tools) -> Found:
    """Prove some units now, whatever an earlier run remembers; all theories are looked at in any case."""
    asked: set[str] = set()

    def is_wanted(subject: str, unit: str) -> bool:
        name = f"{subject_of(subject) if subject.endswith('.mlw') else subject} {unit}"
        asked.add(name)
        return name in wanted

    options = Options(cache=False)
    with ExitStack() as stack:
        theory = planned_theories(
            sources=theory_sources(),
            definitions=definitions(),
            options=options,
            tools=tools,
            wanted=is_wanted,
        )
        plans = [stack.enter_context(theory)]
        projects = [name for name in PROJECTS if any(each.startswith(f"{name} ") for each in wanted)]
        for name in projects:
            project = planned_project(_written(folder, name), options=options, tools=tools, wanted=is_wanted)
            plans.append(stack.enter_context(project))
        with bar("proving") as advance:
            found = carry_out(plans, None, lambda done, total, name: advance(done, total, name, 0))
    return Found(dict(zip((THEORIES, *projects), found, strict=True)), frozenset(asked))


def _written(folder: Path, name: str) -> Path:
    project = folder / name
    project.mkdir(exist_ok=True)
    for path in project.iterdir():
        path.unlink()
    for file, content in emitted(name).items():
        (project / file).write_bytes(content)
    return project


def _read(path: Path) -> Lock:
    """The lock, which is empty where there is no file; raises LockError and UnicodeDecodeError."""
    return read_lock(path.read_text(encoding="utf-8")) if path.exists() else EMPTY


def _commit(root: Path) -> str:
    """The commit that is checked out, with a plus where what is proved differs from it; or nothing."""
    with suppress(OSError, subprocess.SubprocessError):
        git = ["git", "-C", str(root)]
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        what = ["status", "--porcelain", "--", "src", "examples", "proofs"]
        status = subprocess.run([*git, *what], capture_output=True, text=True, check=True)
        return head.stdout.strip()[:12] + ("+" if status.stdout.strip() else "")
    return ""


def _announced(
    choice: Choice, lock: Lock, here: Mapping[str, Sequence[str]], tree: str, *, everything: bool
) -> Iterator[str]:
    """What is going to be proved, and why."""
    if everything:
        yield f"everything is proved anew: {len(choice.now)} modules, functions and programs"
        return
    every = len(choice.now | {*choice.standing})
    yield f"{FILE} has {len(lock.entries)} entries; {len(choice.now)} of {every} subjects are proved now:"
    yield f"  {len(choice.missing)} without an entry, {len(choice.changed)} whose text or limits have changed"
    yield f"  {len(choice.drawn)} drawn, one of {SHARE} that fit, by the digest of the tree {tree[:12]}"
    if choice.other_tools:
        theirs = {name for digest in lock.tools.keys() - here.keys() for name in lock.tools[digest]}
        ours = {name for names in here.values() for name in names}
        yield f"  {len(choice.other_tools)} proved by other tools before: what the lock says does not count"
        yield f"    the lock: {', '.join(sorted(theirs - ours)) or 'other drivers or libraries'}"
        yield f"    here: {', '.join(sorted(ours - theirs)) or 'other drivers or libraries'}"


def _misnamed(lock: Lock, here: Mapping[str, tuple[str, ...]]) -> list[str]:
    wrong = [digest for digest, names in here.items() if lock.tools.get(digest, names) != names]
    return [f"the lock names tools that are not those of the digest {digest[:12]}" for digest in wrong]


def _refuted(units: Sequence[Unit], choice: Choice, lock: Lock, entries: Mapping[str, Entry]) -> list[str]:
    drawn = [unit for unit in units if unit.name in choice.drawn]
    said = [contradicted(unit, lock.entries[unit.name], entries.get(unit.name)) for unit in drawn]
    return [text for text in said if text]


def _held(lock: Lock, problems: Sequence[str]) -> Lock:
    """The lock without the entries that a problem names."""
    wrong = {problem.partition(":")[0] for problem in problems}
    return Lock(lock.tools, {name: entry for name, entry in lock.entries.items() if name not in wrong})


def _unasked(units: Sequence[Unit], found: Found) -> list[str]:
    """What tools do not see of what was looked at; projects that stand by the lock as a whole were not."""
    left_out = {*PROJECTS} - found.reports.keys()
    looked_at = {unit.name for unit in units if unit.name.partition(" ")[0] not in left_out}
    elsewhere = repeated({name: emitted_texts(name) for name in PROJECTS})
    return sorted(looked_at ^ (found.asked - elsewhere))


def _report(folder: Path, reports: Mapping[str, Proofs]) -> None:
    """Tables on the terminal, JSON and JUnit in files; only of what was proved now."""
    for name, proofs in reports.items():
        files = {folder / f"{name}.json": proofs_json(proofs, __version__)}
        files[folder / f"{name}.xml"] = proofs_junit(proofs)
        what = (
            "the theories of the operators, by Why3"
            if name == THEORIES
            else f"the project `{name}` in C, by Frama-C"
        )
        if not proofs.goals:
            click.echo(f"\n== {what}: nothing was proved now")
            for path in files:
                path.unlink(missing_ok=True)
            continue
        click.echo(f"\n== {what}\n{proofs_text(proofs)}")
        for path, text in files.items():
            with whole_file(path) as file:
                file.write(text.encode("utf-8", "backslashreplace"))


def _concluded(
    choice: Choice, lock: Lock, entries: Mapping[str, Entry], seconds: float, problems: Sequence[str]
) -> Iterator[str]:
    """How many were proved now, and how many stand by the lock."""
    standing = [lock.entries[name] for name in choice.standing]
    yield f"\n{seconds:.0f} s in all"
    for words, listed in (("proved now", list(entries.values())), ("by the lock, not proved now", standing)):
        goals, searches = sum(e.goals for e in listed), sum(e.searches for e in listed)
        yield f"{words}: {len(listed)} ({goals} goals, {searches} searches for contradictions)"
    if standing:
        days = sorted({(entry.date, entry.commit) for entry in standing})
        told = [
            " ".join(filter(None, (day, commit and f"commit {commit}")))
            for day, commit in (days[0], days[-1])
        ]
        yield f"  since {' to '.join(dict.fromkeys(told))}"
    yield from (f"error: {problem}" for problem in problems)
    yield "" if not problems else f"NOT PROVED: {len(problems)} things do not hold"


def _write(path: Path, lock: Lock) -> None:
    with whole_file(path) as file:
        file.write(lock_text(lock).encode("ascii"))


if __name__ == "__main__":
    sys.exit(main())
