"""A child process and the pipes to it: messages out and in, and what it prints."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from importlib.util import find_spec
from time import monotonic
from typing import Any

from sonnx.conformance.runtimes.frames import Header, Reader
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.processes import Process, dismiss, finished, stop

_WORKER = "sonnx.conformance.runtimes.worker"
# On Linux nothing that a runtime starts can get away from the process above its own.
_KEEPER = "sonnx.conformance.runtimes.keeper"
_KEPT = sys.platform == "linux"
_CHUNK = 2**16
_LONGEST_SAID = 2**14
# So often it is looked whether the process is still there: one that it has started may keep its pipes open.
_LOOK = 0.25
# A pipe holds no more than so many chunks.
_LEFT = 32
# So long a process that has closed its pipes may take to end; then its keeper is told to end it.
_TO_END = 1.0
# So long a keeper may take to end all that is left; then it is killed, and the runtime's process with it.
_TO_END_ALL = 15.0
# The first descriptor behind the standard input, output and error.
_NOT_STANDARD = 3


class EndedError(Exception):
    """The process has ended, or sends no more."""


class LateError(Exception):
    """No message came in time."""


class Worker:
    """A process that asks a runtime; it and all that it started are gone when it has ended.

    (Elsewhere than on Linux: it and its process group.)
    """

    def __init__(self, told: Mapping[str, Any], folder: str) -> None:
        """Start it; `folder` is where it works, and for its temporary files."""
        self._out: deque[memoryview] = deque()
        self._reader = Reader()
        self._said = b""
        self._over = False
        theirs_in, self._questions = _pipe()
        self._answers, theirs_out = _pipe()
        theirs_life, self._lifeline = _pipe()
        theirs = (theirs_in, theirs_out, theirs_life)
        whole = {**told, "pipes": theirs}
        try:
            self._process = subprocess.Popen(
                # On its path of modules lies what is on this process's own, and nothing else.
                [sys.executable, "-P", "-m", _KEEPER if _KEPT else _WORKER, json.dumps(whole)],
                env={**os.environ, "PYTHONPATH": _module_path(), "TMPDIR": folder},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=theirs,
                start_new_session=True,
            )
        except BaseException:
            self._close()
            raise
        finally:
            for pipe in theirs:
                os.close(pipe)
        assert self._process.stderr is not None
        self._errors = self._process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for pipe in (self._questions, self._answers, self._errors):
            os.set_blocking(pipe, False)
        for pipe in (self._answers, self._errors):
            self._selector.register(pipe, selectors.EVENT_READ)

    @property
    def said(self) -> bytes:
        """The end of what it has printed to its standard error."""
        return self._said

    @property
    def gone(self) -> bool:
        """Tell whether the process has ended; its number stays its own."""
        if not hasattr(os, "waitid"):  # elsewhere the end of its pipes must do
            return self._over
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def send(self, message: bytes) -> None:
        """Have a message sent while answers are awaited."""
        if not self._out:
            self._selector.register(self._questions, selectors.EVENT_WRITE)
        self._out.append(memoryview(message))

    def receive(self, seconds: float) -> tuple[Header, bytes]:
        """The next message; raises LateError, EndedError, or FrameError where it is none."""
        deadline = monotonic() + seconds
        while (message := self._reader.take()) is None:
            left = deadline - monotonic()
            if self._over:
                raise EndedError
            if left <= 0:
                raise LateError
            if not self._move(min(left, _LOOK)) and self.gone:
                for _ in range(_LEFT):
                    self._move(0)
                self._over = True
        return message

    def _move(self, seconds: float) -> bool:
        """Write and read what can be; False where that was nothing for so long."""
        events = self._selector.select(seconds)
        # What was printed comes before the end that it may explain.
        for key, _ in sorted(events, key=lambda event: event[0].fd != self._errors):
            if key.fd == self._questions:
                self._write()
                continue
            piece = os.read(key.fd, _CHUNK)
            if not piece:
                self._selector.unregister(key.fd)
            if key.fd == self._errors:
                self._said = (self._said + piece)[-_LONGEST_SAID:]
            else:
                self._reader.feed(piece)
                self._over = not piece
        return bool(events)

    def _write(self) -> None:
        try:
            rest = self._out[0][os.write(self._questions, self._out[0]) :]
        except BrokenPipeError:  # it reads no more, which shows in what it sends
            self._out.clear()
        else:
            self._out.popleft()
            if rest:
                self._out.appendleft(rest)
        if not self._out:
            self._selector.unregister(self._questions)

    def ended(self) -> int | None:
        """The exit code of a process that sends no more, below 0 for a signal; None where it lived on."""
        code = finished(self._process, _TO_END, _end)
        # On a busy machine the keeper may be late, and not the runtime's process: it says how that ended.
        if code is None and _KEPT and self._process.returncode != -signal.SIGTERM:
            code = self._process.returncode
        # What it printed last may not have been read yet.
        for _ in range(_LEFT):
            self._move(0)
        self._release()
        return code

    def end(self) -> None:
        """End it, and all that it has started, whatever it does."""
        _end(self._process)
        self._process.wait()
        self._release()

    def _release(self) -> None:
        self._selector.close()
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._close()

    def _close(self) -> None:
        for pipe in (self._questions, self._answers, self._lifeline):
            os.close(pipe)


def _end(process: Process) -> None:
    if _KEPT:
        dismiss(process, _TO_END_ALL)
    else:
        stop(process)


def require_pipes() -> None:
    """Raises UnavailableError where the system has no such processes and pipes."""
    if find_spec("fcntl") is None:
        raise UnavailableError(
            f"a runtime cannot be judged on {sys.platform}: its process needs fcntl, which Linux and macOS "
            "have, and WSL on Windows; `sonnx vectors` writes the cases as files everywhere"
        )


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe, none of them a standard stream's, which the child has its own for.

    Where this process was begun without one, its place would be the first to be taken.
    """
    low = os.pipe()
    try:
        return _moved(low[0]), _moved(low[1])
    finally:
        for end in low:
            os.close(end)


def _moved(descriptor: int) -> int:
    import fcntl  # noqa: PLC0415  not on every system

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _NOT_STANDARD)


def _module_path() -> str:
    """Where this process finds its modules, whatever the current folder of another is."""
    return os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
