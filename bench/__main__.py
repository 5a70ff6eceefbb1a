"""Measure, print a table, keep the figures in build/bench.json."""

import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sonnx
from bench.measure import interleaved, peak_memory
from bench.subjects import PLAIN, facts, subjects

OUTPUT = Path("build/bench.json")


def main() -> None:
    console = Console(width=None if sys.stdout.isatty() else 110)
    rows = []
    for subject in track(subjects(), "measuring", console=console, disable=not sys.stdout.isatty()):
        times = interleaved({"ours": subject.ours, "theirs": subject.theirs}, subject.rounds, subject.warm)
        rows.append(
            {
                "subject": subject.name,
                "against": subject.against,
                "seconds": times["ours"].minimum,
                "ratio": times["ours"].minimum / times["theirs"].minimum,
                "ratio_of_medians": times["ours"].median / times["theirs"].median,
                "bar": subject.bar,
            }
        )
    report = {"machine": machine(), "rows": rows, "checks": checks()}
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    show(console, report)


def machine() -> dict[str, str]:
    return {"processor": platform.machine(), "python": platform.python_version(), "numpy": np.__version__}


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
    console.print(f"kept in {OUTPUT}", highlight=False)


if __name__ == "__main__":
    main()
