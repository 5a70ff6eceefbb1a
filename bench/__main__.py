"""Measure, print tables, keep the figures in build/bench.json and their picture beside it."""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.engines.markdown import markdown
from bench.engines.plot import MissingPackageError, plot

OUTPUT = Path("build/bench.json")
PARTS = {
    "reference": "bench.reference.report",
    "engines": "bench.engines.report",
    "conformance": "bench.conformance.report",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure ratios of times.")
    parser.add_argument(
        "part",
        nargs="?",
        choices=[*PARTS, "figures"],
        help="measure one part alone; `figures` prints the last ones",
    )
    parser.add_argument(
        "--only", default="", metavar="WORD", help="subjects with these letters in their name"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="measure so many rounds (default: enough)")
    asked = parser.parse_args()
    if asked.rounds is not None and asked.rounds < 1:
        parser.error("--rounds needs at least 1")
    if asked.part == "figures":
        print_figures(parser)
        return
    console = Console(width=None if sys.stdout.isatty() else 160)
    measured: dict[str, Any] = {}
    for name, module in PARTS.items():
        if asked.part in (None, name):
            part: Any = importlib.import_module(module)
            found = part.measure(console, asked.only, asked.rounds)
            if found["rows"]:
                part.show(console, found)
                measured[name] = found
    if not measured:
        parser.error(f"no subject has {asked.only!r} in its name")
    _keep({**_kept(), **measured})
    console.print(f"kept in {OUTPUT}", highlight=False)
    if "engines" in measured:
        try:
            for path in plot(measured["engines"], OUTPUT.parent):
                console.print(f"drawn in {path}", highlight=False)
        except MissingPackageError as error:
            console.print(str(error), highlight=False)


def print_figures(parser: argparse.ArgumentParser) -> None:
    """The table of the page on speed, and the bars that were missed."""
    report = _kept().get("engines")
    if report is None:
        parser.error(f"{OUTPUT} has no figures of engines; measure them first: python -m bench engines")
    print(markdown(report))
    for bar in report["bars"]:
        if bar["verdict"] != "ok":
            print(f"{bar['what']}: {bar['value']:.3f} ({bar['sense']} {bar['limit']:g}), {bar['verdict']}")


def _kept() -> dict[str, Any]:
    """What an earlier run of the other part left; each part names its own machine and date."""
    try:
        found = json.loads(OUTPUT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: found[name] for name in PARTS if name in found}


def _keep(report: dict[str, Any]) -> None:
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
