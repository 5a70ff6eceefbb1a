"""Measure cases a minute against ONNX's reference evaluator, and memory while cases go by."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.machine import machine
from sonnx.conformance.all_cells import judged
from sonnx.conformance.cells import Plan, judged_cell
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.spreading import over_processes
from sonnx.conformance.subjects import units
from sonnx.model.dtype import DType

RUNTIME = "reference-evaluator"
# A minute on two cores; so many cases at least, with small tensors.
BAR = 10_000
# What may be held at the end of an hour, in parts of what was held after its first sixth.
MEMORY_BAR = 1.1
LOTS = 6


@dataclass(frozen=True)
class Subject:
    """Something that takes cases."""

    name: str
    operators: Sequence[str]
    examples: int


SUBJECTS = (
    Subject("vectors of Clip, Where and Expand", ("clip", "where", "expand"), 0),
    Subject("the same, and a search of 300 cases each", ("clip", "where", "expand"), 300),
)


def measure(console: Console, only: str, rounds: int | None) -> dict[str, Any]:
    """All subjects whose name has `only` in it; `rounds` lots of cases for the memory, each of 10,000."""
    rows = []
    chosen = [subject for subject in SUBJECTS if only.lower() in subject.name.lower()]
    for subject in track(chosen, "measuring", console=console, disable=_unseen()):
        start = perf_counter()
        report = judged(Plan(RUNTIME, examples=subject.examples), units(subject.operators), over_processes(2))
        minutes = (perf_counter() - start) / 60
        rate = report.cases / minutes
        rows.append({"subject": subject.name, "cases": report.cases, "rate": rate, "bar": BAR})
    checks = [] if only else [memory(console, rounds or LOTS)]
    return {"machine": machine(), "rows": rows, "checks": checks}


def _unseen() -> bool:
    return not sys.stdout.isatty()


def memory(console: Console, lots: int, cases: int = 10_000) -> dict[str, Any]:
    """What this process and the runtime's hold after each lot of cases, in MiB."""
    held: list[Mapping[str, float]] = []
    asked = 0
    with Child(RUNTIME) as child:
        for lot in track(range(lots), "watching memory", console=console, disable=_unseen()):
            cell = judged_cell(child, Plan(RUNTIME, examples=cases, seed=lot), "where", DType.FLOAT)
            asked += len(cell.cases) + cell.searched
            held.append({name: _resident(pid) for name, pid in _processes().items()})
    # What is loaded and kept once is there after a sixth, however many lots there are.
    sixth = max(lots // LOTS, 1)
    growth = max(held[-1][name] / held[sixth - 1][name] for name in held[0])
    return {
        "check": f"memory after {asked:,} cases / after the first {asked * sixth // lots:,}, at most",
        "value": round(growth, 3),
        "wanted": MEMORY_BAR,
        "held": held,
    }


def _processes() -> Mapping[str, int | str]:
    """This process, and the largest one below it: the runtime's, and not a helper of Python's."""
    children = Path("/proc/self/task").glob("*/children")
    started = [int(pid) for file in children for pid in file.read_text().split()]
    return {"kit": "self", "runtime": max(started, key=_resident)}


def _resident(pid: int | str) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^VmRSS:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else float("nan")


def show(console: Console, report: Mapping[str, Any]) -> None:
    table = Table(title=f"cases a minute against {RUNTIME}, two processes", title_justify="left")
    table.add_column("subject")
    for name in ("cases", "a minute", "bar", "verdict"):
        table.add_column(name, justify="right")
    for row in report["rows"]:
        verdict = "ok" if row["rate"] >= row["bar"] else "MISSED"
        table.add_row(row["subject"], f"{row['cases']:,}", f"{row['rate']:,.0f}", f"{row['bar']:,}", verdict)
    console.print(table)
    for check in report["checks"]:
        console.print(f"{check['check']}: {check['value']} (wanted {check['wanted']})", highlight=False)
        shown = (", ".join(f"{name} {size:.0f}" for name, size in each.items()) for each in check["held"])
        console.print("MiB held: " + "; ".join(shown), highlight=False)
