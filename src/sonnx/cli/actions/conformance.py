"""What `sonnx conformance` does. Nothing that a runtime says is printed raw."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sonnx.cli.progress import bar, ended_by_signals
from sonnx.cli.terminal import CONFORMS, FINDINGS, INTERRUPTED, UNREADABLE, colourful, fail, say
from sonnx.conformance.all_cells import Tick, Watch, judged
from sonnx.conformance.cells import DEFAULT_EXAMPLES, Plan
from sonnx.conformance.folders import require_writable
from sonnx.conformance.judge import Sums
from sonnx.conformance.pacing import weight
from sonnx.conformance.reporting.folder import require_replaceable, write_report
from sonnx.conformance.reporting.terminal_text import report_text
from sonnx.conformance.result import Cell, Report
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.conformance.spreading import Spread, SpreadError, over_dask, over_processes
from sonnx.conformance.subjects import Unit, units
from sonnx.report.text import printable

# With a time limit, the search ends by that alone.
_NO_END = 10**9
_WHOLE = re.compile(r"-?\d{1,9}")
# What processes of runtimes are told, by other options of the command.
_OWN = ("memory", "start_seconds")
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class ConformanceOptions:
    """What `sonnx conformance` was asked for."""

    runtime: str
    told: Mapping[str, Any]
    operators: Sequence[str]
    types: Sequence[str]
    sums: Sums
    seed: int
    examples: int | None
    seconds: float | None
    timeout: float
    memory: int
    jobs: int | None
    dask: str | None
    report: Path | None
    name: str | None = None


def told(pairs: Sequence[str]) -> dict[str, Any]:
    """The options of a runtime from `NAME=VALUE`: whole numbers, true and false in any case, or text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise ValueError(f"{pair!r} is not of the form NAME=VALUE")
        if name in _OWN:
            raise ValueError(f"{name} is none of a runtime's own; there is --{name.replace('start_', '')}")
        if name in found:
            raise ValueError(f"the option {name} is given twice")
        number = int(value) if _WHOLE.fullmatch(value) else value
        found[name] = _TRUTHS.get(value.lower(), number)
    return found


@ended_by_signals()
def conformance_asked(options: ConformanceOptions) -> int:
    """Judge a runtime, print the summary and write the report."""
    if ":" in options.runtime and "" not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # where somebody who names a module of theirs has it
    try:
        chosen = units(options.operators, options.types)
        if options.report is not None:
            _require_place(options.report)
        jobs = min(options.jobs or os.cpu_count() or 1, len(chosen))
        spread = over_dask(options.dask) if options.dask else over_processes(jobs)
        with _watched(chosen) as (watch, tick):
            report = judged(_plan(options, len(chosen), spread), chosen, spread, watch, tick)
    except (UnavailableError, SpreadError, ValueError) as error:
        return fail(str(error))
    except OSError as error:
        why = f"{error.filename or options.report}: {error.strerror}"
        return fail(str(error) if error.strerror is None else why)
    if options.name:
        report = replace(report, runtime=options.name)
    say(report_text(report, colours=colourful(error=False)))
    return _code(report) if options.report is None else _written(options.report, report)


def _require_place(folder: Path) -> None:
    """Find out before a long campaign whether its report could be written; raises OSError, ValueError."""
    target = require_replaceable(folder)
    try:
        require_writable(target)
    except OSError as error:
        raise ValueError(f"{folder}: cannot be written: {error.strerror}") from None


def _written(folder: Path, report: Report) -> int:
    """Write the report; where that fails, what was found has been printed, so that it is not lost."""
    try:
        write_report(folder, report)
    except (UnavailableError, ValueError) as error:
        return fail(str(error))
    except OSError as error:
        # All is first written beside the folder, under a name that nobody has given.
        return fail(
            str(error) if error.strerror is None else f"{folder}: cannot be written: {error.strerror}"
        )
    say(printable(f"report: {folder / 'report.html'}"))
    return _code(report)


def _code(report: Report) -> int:
    if report.partial:
        return INTERRUPTED
    return {"conforms": CONFORMS, "unsupported": UNREADABLE}.get(report.verdict, FINDINGS)


def _plan(options: ConformanceOptions, number: int, spread: Spread) -> Plan:
    """Share the time of the search among all units; without a limit, every unit draws so many examples."""
    seconds = options.seconds
    share = None if seconds is None else seconds * min(spread.width, number) / number
    examples = options.examples
    if examples is None:
        examples = DEFAULT_EXAMPLES if seconds is None else _NO_END
    return Plan(
        options.runtime,
        options.told,
        options.sums,
        options.seed,
        0 if seconds == 0 else examples,
        share,
        options.timeout,
        options.memory,
    )


@contextmanager
def _watched(chosen: Sequence[Unit]) -> Iterator[tuple[Watch, Tick]]:
    """A bar that moves with every operator and type, by its weight; with those of this process by case."""
    total = sum(weight(*unit) for unit in chosen)
    with bar("judging") as advance:
        done = cases = cells = 0

        def count(asked: int, expected: int) -> str:
            if len(chosen) == 1:
                return f"{asked:,} of {expected:,} cases"
            return f"{cells} of {len(chosen)} operators and types"

        def watch(now: int, _: int, cell: Cell) -> None:
            nonlocal done, cases, cells
            asked = len(cell.cases) + cell.searched
            done, cases, cells = done + weight(cell.operator, cell.dtype), cases + asked, now
            advance(done, total, f"{cell.operator} {cell.dtype} done", cases, count(asked, asked))

        def tick(unit: Unit, asked: int, expected: int) -> None:
            part = weight(*unit) * asked / expected
            advance(done + part, total, " ".join(map(str, unit)), cases + asked, count(asked, expected))

        yield watch, tick
