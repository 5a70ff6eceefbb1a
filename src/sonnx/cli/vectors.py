"""What `sonnx vectors` does."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from sonnx.cli.terminal import CONFORMS, fail, say
from sonnx.conformance.runtimes.question import NEWEST_OPSET
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.conformance.spreading import Spread, SpreadError, over_dask, over_processes
from sonnx.conformance.subjects import units
from sonnx.conformance.vectors import Watch, parts, require_new, write_vectors
from sonnx.numeric.environment import NotIeeeError
from sonnx.report.text import printable

# So many parts take about as long as a process takes to begin.
_FEW = 4


@dataclass(frozen=True)
class VectorOptions:
    """What `sonnx vectors` was asked for; without names all operators or types are meant."""

    output: Path
    operators: Sequence[str] = ()
    types: Sequence[str] = ()
    seed: int = 0
    jobs: int | None = None
    dask: str | None = None
    opset: int = NEWEST_OPSET


def write_vectors_asked(options: VectorOptions) -> int:
    """Write test vectors into a new folder; answers the exit code."""
    output = options.output
    if output == Path("-"):
        return fail("vectors are a folder of files, which `-` has no place for; name a new folder")
    # Whoever ends this process means what it has begun to write as well.
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _ended)
    try:
        chosen = units(options.operators, options.types)
        require_new(output)
        with _watched() as watch:
            work = parts(chosen, options.seed, options.opset)
            written = write_vectors(output, work, run=_spread(options, len(work)), watch=watch)
    except (NotIeeeError, SpreadError, UnavailableError, ValueError) as problem:
        return fail(str(problem))
    except FileExistsError as problem:
        return fail(str(problem) if problem.errno is None else f"{output}: {problem.strerror}")
    except OSError as problem:
        return fail(f"{output}: cannot be written: {problem.strerror}")
    say(printable(f"{output}: {written.cases:,} cases, {written.files:,} files, {written.bytes:,} bytes"))
    say(f"sha256 {written.digest}  SHA256SUMS")
    say(printable(f"how to use them: {output / 'README.md'}"))
    return CONFORMS


def _ended(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


def _spread(options: VectorOptions, work: int) -> Spread:
    """Over a cluster, or over as many processes as are worth their beginning."""
    if options.dask:
        return over_dask(options.dask)
    return over_processes(max(1, min(options.jobs or os.cpu_count() or 1, work // _FEW)))


class _Rate(ProgressColumn):
    """Cases in a second, once that can be told."""

    def render(self, task: Task) -> Text:
        """The number as text."""
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


@contextmanager
def _watched() -> Iterator[Watch]:
    """A bar that shows how many cases are written, where somebody looks."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("vectors", total=None)

        def advance(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=name)

        yield advance
