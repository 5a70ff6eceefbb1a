"""What `sonnx vectors` does."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
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
from sonnx.conformance.vectors import (
    Made,
    Part,
    Run,
    Watch,
    chosen,
    parts,
    require_new,
    write_vectors,
)
from sonnx.numeric.environment import NotIeeeError
from sonnx.report.text import printable

# So many parts take about as long as a process takes to begin.
_FEW = 4
# Parts that wait for their turn to be written, for each process: what is made too early takes memory.
_AHEAD = 2


@dataclass(frozen=True)
class VectorOptions:
    """What `sonnx vectors` was asked for; without names all operators or types are meant."""

    output: Path
    operators: Sequence[str] = ()
    types: Sequence[str] = ()
    seed: int = 0
    jobs: int | None = None
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
        choice = chosen(options.operators, options.types)
        require_new(output)
        with _watched() as watch:
            work = parts(choice, options.seed, options.opset)
            with _processes(_worth(options.jobs, len(work))) as run:
                written = write_vectors(output, work, run=run, watch=watch)
    except BrokenProcessPool:
        return fail("a process was ended from outside, such as for want of memory; nothing was written")
    except (NotIeeeError, ValueError) as problem:  # of names, of the seed, of the operator set
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


# --- processes ---------------------------------------------------------------------------------------------


def _worth(asked: int | None, work: int) -> int:
    """How many processes are worth their beginning."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(asked or found, work // _FEW))


@contextmanager
def _processes(number: int) -> Iterator[Run]:
    """So many processes that make parts, of which nothing is left running; one is this one."""
    if number == 1:
        yield _here
        return
    # A process that is forked would inherit the thread that draws the bar, at whatever it is.
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), _begin)
    try:
        yield partial(_spread, pool, _AHEAD * number)
    finally:
        pool.shutdown(cancel_futures=True)


def _here(make: Callable[[Part], Made], work: Sequence[Part]) -> Iterable[Made]:
    return map(make, work)


def _spread(pool: Executor, ahead: int, make: Callable[[Part], Made], work: Sequence[Part]) -> Iterator[Made]:
    """The results in the order of the parts, of which no more than `ahead` wait to be written."""
    waiting: deque[Future[Made]] = deque()
    for part in work:
        waiting.append(pool.submit(make, part))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    for made in waiting:
        yield made.result()


def _begin() -> None:
    """In a new process: it is its parent that is interrupted, and whose end is its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# --- the bar -----------------------------------------------------------------------------------------------


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
