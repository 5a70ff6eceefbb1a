"""Measure all engines, and make rows and tables of what was found."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.engines.bars import RESIDUAL_BEYOND, RIVAL, Bar
from bench.engines.contest import ENGINES, Contest, Effort, Result, contest
from bench.engines.elements import BARE, ELEMENTS, RESIDUAL
from bench.engines.shared_library import FLAGS
from bench.engines.starts import Starts, start_bars, starts
from bench.engines.subjects import SUBJECTS, Subject
from bench.machine import machine
from bench.measure import CORES

NOTHING = "\N{EN DASH}"
START_ROUNDS = 9


def chosen(only: str) -> list[Subject]:
    """Subjects whose key or title has these letters."""
    everything = (*SUBJECTS, *ELEMENTS)
    return [one for one in everything if only.lower() in one.key or only.lower() in one.title.lower()]


def measure(console: Console, only: str, rounds: int | None) -> dict[str, Any]:
    """All subjects that `only` leaves; processes are started only where everything is measured."""
    effort = Effort() if rounds is None else Effort(rounds=rounds, few=min(rounds, Effort.few))
    subjects = chosen(only)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not sys.stdout.isatty()
    ) as progress:
        task = progress.add_task("", total=len(subjects) * effort.rounds)
        contests = []
        for subject in subjects:
            progress.update(task, description=subject.title)
            contests.append(contest(subject, ENGINES, effort, lambda: progress.advance(task)))
        progress.update(task, description="starts of processes")
        started = Starts({}) if only else starts(rounds or START_ROUNDS)
    bars = [bar for one in contests for bar in one.bars()] + residual_bars(contests) + start_bars(started)
    return {
        "machine": machine(),
        "method": method(effort),
        "rows": [row for one in contests for row in rows(one)],
        "peak": {mode: speed for one in contests for mode, speed in one.peak.items()},
        "starts": {name: asdict(timing) for name, timing in started.times.items()},
        "bars": [bar.row() for bar in bars],
    }


def residual_bars(contests: Sequence[Contest]) -> list[Bar]:
    """What follows a convolution may cost next to nothing: both ratios come from this run."""
    found = {one.subject.key: one for one in contests}
    if not found.keys() >= {RESIDUAL, BARE}:
        return []
    bare = {result.engine.key: found[BARE].ratio(result) for result in found[BARE].results}
    bars = []
    for result in found[RESIDUAL].results:
        ratio, alone = found[RESIDUAL].ratio(result), bare.get(result.engine.key)
        if ratio is not None and alone is not None and result.engine.setting in ("separate", "fused"):
            what = f"{found[RESIDUAL].subject.title}: {result.engine.key}, ratio beyond that of the bare Conv"
            bars.append(Bar(what, ratio - alone, RESIDUAL_BEYOND))
    return bars


def method(effort: Effort) -> dict[str, Any]:
    return {
        **asdict(effort),
        "cores": {"1 thread": CORES[-1:], "2 threads": CORES[-2:]},
        "flags": list(FLAGS),
        "ratio": f"of minimum times, to {RIVAL} with as many threads",
    }


def rows(found: Contest) -> list[dict[str, Any]]:
    return [_row(found, result) for result in found.results]


def _row(found: Contest, result: Result) -> dict[str, Any]:
    subject, engine = found.subject, result.engine
    row: dict[str, Any] = {
        "subject": subject.key,
        "title": subject.title,
        "group": subject.group,
        "engine": engine.name,
        "setting": engine.setting,
        "threads": engine.threads,
    }
    if result.timing is None:
        return {**row, "reason": result.reason}
    bar = found.bar(result)
    return {
        **row,
        **asdict(result.timing),
        "repetitions": result.repetitions,
        "ratio": found.ratio(result),
        "limit": bar.limit if bar else None,
        "verdict": bar.verdict if bar else None,
        "same_bits": result.same_bits,
        "notes": result.notes,
    }


def show(console: Console, report: dict[str, Any]) -> None:
    console.print(times_table(report["rows"]))
    console.print(bars_table(report["bars"]))
    for mode, speed in report["peak"].items():
        console.print(f"peak of one core, {mode}: {speed / 1e9:.1f} G multiply-adds/s", highlight=False)
    for name, timing in report["starts"].items():
        console.print(f"process, {name}: {timing['minimum'] * 1e3:.0f} ms", highlight=False)
    missed = [bar for bar in report["bars"] if bar["verdict"] != "ok"]
    console.print(
        f"{len(report['bars']) - len(missed)} of {len(report['bars'])} bars reached", highlight=False
    )


def times_table(found: Sequence[dict[str, Any]]) -> Table:
    table = Table(title="milliseconds of one run, interleaved", title_justify="left")
    table.add_column("subject")
    table.add_column("engine")
    table.add_column("threads", justify="right")
    for name in ("min ms", "median ms", "rounds", f"/ {RIVAL}", "bar", "verdict", "same bits"):
        table.add_column(name, justify="right")
    before = None
    for row in found:
        if before not in (None, row["subject"]):
            table.add_section()
        title = "" if row["subject"] == before else row["title"]
        table.add_row(title, row["engine"], str(row["threads"]), *_cells(row))
        before = row["subject"]
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    if "reason" in row:
        return [NOTHING] * 7
    return [
        f"{row['minimum'] * 1e3:.3g}",
        f"{row['median'] * 1e3:.3g}",
        str(row["rounds"]),
        NOTHING if row["ratio"] is None else f"{row['ratio']:.3g}",
        "" if row["limit"] is None else f"{row['limit']:g}",
        row["verdict"] or "",
        percent(max(row["same_bits"].values())),
    ]


def percent(share: float) -> str:
    """A share that is not all never reads as 100 %."""
    return "all" if share == 1 else f"{min(share, 0.999):.1%}"


def bars_table(bars: Sequence[dict[str, Any]]) -> Table:
    table = Table(title="bars", title_justify="left")
    table.add_column("what")
    for name in ("measured", "asked for", "verdict"):
        table.add_column(name, justify="right")
    for bar in bars:
        limit = f"{bar['sense']} {bar['limit']:g} {bar['unit']}".rstrip()
        table.add_row(bar["what"], f"{bar['value']:.3f} {bar['unit']}".rstrip(), limit, bar["verdict"])
    return table
