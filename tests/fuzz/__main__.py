"""`python -m tests.fuzz --files 20000 --seed 0`: mutated files through `check`, and what came out."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from tests.fuzz.harness import ROOT, Answer, Settings, Summary, examine, keep


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=20_000, help="how many files (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first file (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which files (%(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="of the processor, for one stage of one file (%(default)s)",
    )
    parser.add_argument("--processes", type=int, default=2, help="at the same time (%(default)s)")
    parser.add_argument("--stage", action="append", default=[], help="one more, as module:function")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build" / "fuzz", help="failing files (%(default)s)"
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run; answers 1 where anything went wrong."""
    options = _arguments(given)
    settings = Settings(
        options.seed, options.seconds, processes=options.processes, stages=tuple(options.stage)
    )
    summary = Summary(settings)
    console = Console(soft_wrap=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stdout.isatty()) as progress:
        task = progress.add_task("files", total=options.files)
        for answer in examine(range(options.first, options.first + options.files), settings):
            summary.add(answer)
            if answer.problem:
                console.print(_failure_text(answer, options), markup=False)
            progress.advance(task)
    console.print(summary.text(), markup=False)
    return 1 if summary.failures else 0


def _failure_text(failure: Answer, options: argparse.Namespace) -> str:
    place = keep(options.seed, failure, options.keep)
    first, *_ = failure.problem.split("\n")
    return f"seed {options.seed}, file {failure.number}: {first}\n   kept in {place}"


if __name__ == "__main__":
    sys.exit(main())
