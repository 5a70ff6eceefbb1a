"""Measure the reference engine and the check, and print what was found."""

import sys
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

import sonnx
from bench.machine import machine
from bench.measure import Contestant, interleaved, peak_memory
from bench.reference.subjects import PLAIN, facts, subjects


def measure(console: Console, only: str, rounds: int | None) -> dict[str, Any]:
    """All subjects whose name has `only` in it; the checks of results only where everything is measured."""
    chosen = [subject for subject in subjects() if only.lower() in subject.name.lower()]
    rows = []
    for subject in track(chosen, "measuring", console=console, disable=not sys.stdout.isatty()):
        pair = {"ours": Contestant(subject.ours), "theirs": Contestant(subject.theirs)}
        times = interleaved(pair, rounds or subject.rounds, warm=subject.warm)
        rows.append(
            {
                "subject": subject.name,
                "against": subject.against,
                "seconds": times["ours"].minimum,
                "ratio": times["ours"].minimum / times["theirs"].minimum,
                "ratio_of_medians": times["ours"].median / times["theirs"].median,
                "rounds": times["ours"].rounds,
                "bar": subject.bar,
            }
        )
    return {"machine": machine(), "rows": rows, "checks": [] if only else checks()}


def checks() -> list[dict[str, Any]]:
    found = facts()
    X, W, B = found["image"]
    peak = peak_memory(lambda: sonnx.conv(X, W, B, **PLAIN))
    same, asked = found["bits"]
    return [
        {
            "check": "Conv 64 to 64: elements with the bits of the sequential sum",
            "value": same,
            "wanted": asked,
        },
        {"check": "Conv 16 to 16 exact: equal to Fraction", "value": found["exact"], "wanted": True},
        {
            "check": "Conv 64 to 64: memory / (X + Y), at most",
            "value": round(peak / found["bytes"], 2),
            "wanted": 4,
        },
    ]


def show(console: Console, report: dict[str, Any]) -> None:
    table = Table(title="time of sonnx / time of the other, interleaved in one run", title_justify="left")
    for name in ("subject", "against"):
        table.add_column(name)
    for name in ("ms", "ratio", "of medians", "bar", "verdict"):
        table.add_column(name, justify="right")
    for row in report["rows"]:
        bar = row["bar"]
        verdict = "" if bar is None else ("ok" if row["ratio"] <= bar else "MISSED")
        table.add_row(
            row["subject"],
            row["against"],
            f"{row['seconds'] * 1e3:.1f}",
            f"{row['ratio']:.3g}",
            f"{row['ratio_of_medians']:.3g}",
            "" if bar is None else f"{bar:g}",
            verdict,
        )
    console.print(table)
    for check in report["checks"]:
        console.print(f"{check['check']}: {check['value']} (wanted {check['wanted']})", highlight=False)
