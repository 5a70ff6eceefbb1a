"""Bars for work that takes a while, and what becomes of it when somebody ends this process."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import Protocol

from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from sonnx.cli.terminal import watched_console
from sonnx.report.text import cut, printable

_LONGEST_SHOWN = 40


class Advance(Protocol):
    """Moves a bar."""

    def __call__(self, done: float, total: float, name: str, cases: int, count: str = "") -> None:
        """So much is done, of so much; its name, how many cases that was, and the count in words."""
        ...


class _Rate(ProgressColumn):
    """Cases per second up to now, not up to when something was last done."""

    def render(self, task: Task) -> Text:
        """The rate, where cases are counted."""
        cases, elapsed = task.fields["cases"], task.elapsed
        return Text(f"{cases / elapsed:,.0f} cases/s" if cases and elapsed else "")


class _Left(ProgressColumn):
    """The time left if the rest goes as fast as all before: while nothing is done, it grows."""

    def render(self, task: Task) -> Text:
        """The time, once there is anything to tell it by."""
        left = seconds_left(task.completed, task.total, task.elapsed)
        shown = "-:--:--" if left is None else str(timedelta(seconds=int(left)))
        return Text(shown, style="progress.remaining")


def seconds_left(done: float, total: float | None, elapsed: float | None) -> float | None:
    """How long the rest takes that goes as fast as what is done; None where nothing is."""
    return None if not done or total is None or elapsed is None else elapsed * (total - done) / done


@contextmanager
def bar(verb: str) -> Iterator[Advance]:
    """A bar that shows how much is done, its rate where cases are counted, and the time left.

    It is on the standard error, and only where somebody looks.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        _Rate(),
        TimeElapsedColumn(),
        _Left(),
    )
    console = watched_console()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(verb, total=None, cases=0, count="")

        def advance(done: float, total: float, name: str, cases: int, count: str = "") -> None:
            shown = f"{verb} {escape(printable(cut(name, _LONGEST_SHOWN)))}".rstrip()
            told = count or f"{done:g}/{total:g}"
            progress.update(task, completed=done, total=total, description=shown, cases=cases, count=told)

        yield advance


class _EndedError(BaseException):
    """Somebody ends this process. No SystemExit, which libraries take for a fault of what they call."""

    def __init__(self, number: int) -> None:
        """Keep the number of the signal."""
        super().__init__(number)
        self.number = number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Unwind where this process is ended: whoever ends it means what it has started, and begun to write."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, _ended) for number in numbers}
    try:
        yield
    except _EndedError as ended:
        sys.exit(128 + ended.number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ended(number: int, _: FrameType | None) -> None:
    raise _EndedError(number)
