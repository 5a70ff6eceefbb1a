"""A program of somebody's, started in a folder of its own; however much it prints, little of it is kept."""

import os
import selectors
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from sonnx.conformance.runtimes.answer import seconds_text
from sonnx.conformance.runtimes.runtime import LateError

_CHUNK = 2**16
_LONGEST_SAID = 2**14
_LONGEST_LINE = 2**14
# So often it is looked whether the program is still there: one that it has started may keep its pipes open.
_LOOK = 0.05
# A pipe holds no more than so many chunks.
_LEFT = 32
# So long a program that has closed its standard output may take to end.
_TO_END = 1.0


class EndedError(Exception):
    """The program has ended, or answers no more."""


class RunningProgram:
    """A program that runs; `talks` says that it is sent lines and answers each of them with a line.

    It stays among the processes of this one: whoever ends those ends it too. Starting it raises OSError.
    """

    def __init__(
        self, line: Sequence[str], folder: Path, environment: Mapping[str, str], *, talks: bool
    ) -> None:
        """Start it in a folder."""
        stream = subprocess.PIPE if talks else subprocess.DEVNULL
        self._process = subprocess.Popen(
            line, bufsize=0, cwd=folder, env=environment, stdin=stream, stdout=stream, stderr=subprocess.PIPE
        )
        self._said = self._line = b""
        self._selector = selectors.DefaultSelector()
        self._streams = [each for each in (self._process.stdout, self._process.stderr) if each is not None]
        for each in self._streams:
            os.set_blocking(each.fileno(), False)
            self._selector.register(each, selectors.EVENT_READ)

    @property
    def said(self) -> bytes:
        """The end of what it has printed to its standard error since its last answer, or its start."""
        return self._said

    def code(self, seconds: float | None) -> int:
        """Wait for its end: the exit code, below 0 for a signal; raises LateError after so many seconds."""
        deadline = None if seconds is None else monotonic() + seconds
        while (found := self._process.poll()) is None:
            self._wait(deadline, seconds)
        self._drain()
        return found

    def ask(self, text: str, seconds: float | None) -> str:
        """Send a line and wait for the one that answers it.

        Raises EndedError where none will come, LateError where none comes in time, and ValueError where a
        line is too long or nobody has asked for it.
        """
        # What has come since the last answer is kept: of a program that has ended, it says why.
        self._said = b""
        self._drain()
        if self._line:
            raise ValueError("it printed to its standard output before it was asked")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{text}\n".encode("utf-8", "surrogateescape"))
        except BrokenPipeError:
            raise EndedError from None
        deadline = None if seconds is None else monotonic() + seconds
        while b"\n" not in self._line:
            if len(self._line) > _LONGEST_LINE:
                raise ValueError(f"it answered with a line of more than {_LONGEST_LINE:,} bytes")
            if self._process.stdout not in self._selector.get_map() or self._process.poll() is not None:
                self._drain()
                if b"\n" not in self._line:
                    raise EndedError
                break
            self._wait(deadline, seconds)
        found, _, self._line = self._line.partition(b"\n")
        return found.decode("utf-8", "replace")

    def _wait(self, deadline: float | None, seconds: float | None) -> None:
        """Read what comes, for a moment; raises LateError after the deadline."""
        if deadline is not None and monotonic() >= deadline:
            raise LateError(f"did not end within {seconds_text(seconds or 0)}")
        if self._selector.get_map():
            self._read(_LOOK)
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK)

    def _drain(self) -> None:
        for _ in range(_LEFT):
            if not self._selector.get_map() or not self._read(0):
                return

    def _read(self, seconds: float) -> bool:
        events = self._selector.select(seconds)
        for key, _ in events:
            piece = os.read(key.fd, _CHUNK)
            if not piece:
                self._selector.unregister(key.fileobj)
            elif key.fileobj is self._process.stderr:
                self._said = (self._said + piece)[-_LONGEST_SAID:]
            else:
                self._line += piece
        return bool(events)

    def code_unasked(self, seconds: float) -> int:
        """Send nothing, now or later, and wait for its end as `code` does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.code(seconds)

    def last_code(self) -> int:
        """The exit code of a program that answers no more; one that lives on is ended."""
        try:
            return self.code(_TO_END)
        except LateError:
            self._process.kill()
            return self._process.wait()

    def close(self) -> None:
        """End it."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        for each in (*self._streams, self._process.stdin):
            if each is not None:
                with suppress(BrokenPipeError):
                    each.close()
