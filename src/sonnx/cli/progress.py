"""Bars for work that takes a while, and what becomes of it when somebody ends this process."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sonnx.report.text import cut, printable

_LONGEST_SHOWN = 40
# What is done, of how much, its name, and how many cases that was.
Advance = Callable[[int, int, str, int], None]


@contextmanager
def bar(verb: str) -> Iterator[Advance]:
    """A bar that shows how much is done, its rate where cases are counted, and the time left.

    It is on the standard error, and only where somebody looks.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(verb, total=None, rate="")

        def advance(done: int, total: int, name: str, cases: int) -> None:
            elapsed = progress.tasks[task].elapsed or 0
            rate = f"{cases / elapsed:,.0f} cases/s" if cases and elapsed else ""
            shown = f"{verb} {escape(printable(cut(name, _LONGEST_SHOWN)))}".rstrip()
            progress.update(task, completed=done, total=total, description=shown, rate=rate)

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
