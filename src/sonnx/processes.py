"""Programs run in process groups of their own, of which nothing is left running."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import TIMEOUT_MAX, Event, Lock, Timer, current_thread, main_thread
from time import monotonic, sleep
from typing import IO

Process = subprocess.Popen[bytes]
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
# So often it is looked whether a program that was told to end has.
_LOOK = 0.002


class StoppedError(Exception):
    """A program was to be started after all had been told to stop."""


class Group:
    """The programs that one part of the package has started and that still run."""

    def __init__(self) -> None:
        """Begin without any."""
        self._running: set[Process] = set()
        self._lock = Lock()
        self._stopping = False

    @contextmanager
    def started(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        stdout: IO[bytes] | int,
        stderr: IO[bytes] | int,
    ) -> Iterator[Process]:
        """A program that has nothing to read; it and its children have ended when the block ends.

        Raises OSError where it cannot be started, StoppedError while all are being stopped.
        """
        with self._lock:  # what is not yet listed could not be stopped
            if self._stopping:
                raise StoppedError
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            yield process
        finally:
            with self._lock:
                self._running.discard(process)
            stop(process)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """End every program that runs; none starts while the block lasts."""
        with self._lock:
            self._stopping = True
            for process in self._running:
                stop(process)
        try:
            yield
        finally:
            self._stopping = False


@contextmanager
def signals_heard_by(hear: Callable[[int], None]) -> Iterator[None]:
    """Signals that would end this process are told to `hear` instead, and obeyed when the block has ended.

    Other threads hear no signals. Who has no handler ends at once, and nobody is left to complain to.
    """
    heard: list[int] = []

    def note(number: int, _: object) -> None:
        heard.append(number)
        hear(number)

    mine = current_thread() is main_thread()
    handlers = {number: signal.getsignal(number) for number in (_SIGNALS if mine else ())}
    kept = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in kept:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        for number in heard:
            kept[signal.Signals(number)](number, None)


def stop(process: Process) -> None:
    """End a program and its children, unless it has been waited for: its number may then be another's."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):  # all of them have ended meanwhile
            os.killpg(process.pid, signal.SIGKILL)


def dismiss(process: Process, seconds: float) -> None:
    """Tell a program to end, which first ends all that it answers for; where it does not, stop it."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)  # whoever was halted hears nothing
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        sleep(_LOOK)
    stop(process)


def finished(process: Process, seconds: float, end: Callable[[Process], None] | None = None) -> int | None:
    """The exit code of a program, below 0 for a signal; None where it had to be stopped after its time.

    `end` says how that is done, if not by `stop`.
    """
    late = Event()

    def give_up() -> None:
        late.set()
        (end or stop)(process)

    # Waiting without a limit wakes up at once; `wait(seconds)` would look twenty times a second.
    timer = Timer(min(max(0.0, seconds), TIMEOUT_MAX), give_up)
    timer.daemon = True
    timer.start()
    try:
        _ended(process)
    finally:
        timer.cancel()
        timer.join()
    stop(process)  # what it has left running
    code = process.wait()
    return None if late.is_set() else code


def _ended(process: Process) -> None:
    """Wait for the end of a program, and where the system can, without giving its number away."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()
