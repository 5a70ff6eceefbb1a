"""Runs tools, whatever they do: fail, hang, print without end; and many jobs side by side."""

import os
import re
import selectors
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from subprocess import PIPE
from time import monotonic
from typing import Generic, TypeVar

from sonnx.processes import Group, Process, finished, stop

_MOST_OUTPUT = 32 * 2**20
_CHUNK = 65536
# What would have tools read other files, or the same ones in another way.
_MEDDLING = re.compile(r"CPP$|CPATH$|C_INCLUDE_PATH$|CPLUS_INCLUDE_PATH$|FRAMAC|WHY3|OCAML|CAML")

T = TypeVar("T")
# How many jobs have ended, of how many, and the name of the last.
Watch = Callable[[int, int, str], None]


DEFAULT_SECONDS = 10


@dataclass(frozen=True)
class Options:
    """How to prove: the longest time for one goal and one prover, how many at once, whether to remember.

    `patience` is for how many seconds more a prover may keep still before it is given up.
    """

    seconds: int = DEFAULT_SECONDS
    jobs: int | None = None
    cache: bool = True
    patience: float = 30.0


@dataclass(frozen=True)
class Ran:
    """What a tool did: its exit code, below 0 for a signal, and what it printed.

    Where it had to be stopped, `stopped` says why, and what it printed until then is not all.
    """

    code: int
    out: str
    err: str
    seconds: float
    stopped: str = ""

    @property
    def how(self) -> str:
        """How it ended, in words; nothing where all went well."""
        if self.stopped:
            return self.stopped
        if self.code < 0:
            return f"ended by signal {-self.code}"
        return f"exit code {self.code}" if self.code else ""


def run_tool(
    command: Sequence[str | Path],
    *,
    seconds: float,
    folder: Path,
    silence: float = inf,
    environment: Mapping[str, str] | None = None,
    most: int = _MOST_OUTPUT,
) -> Ran:
    """Run a tool in a folder, in a process group of its own, of which nothing is left running.

    It is stopped when its time is over, it has printed nothing for `silence` seconds, or more than `most`
    bytes. `environment` is added to that of this process. Raises OSError where it cannot be started.
    """
    began = monotonic()
    added = {"LC_ALL": "C", "TMPDIR": os.fspath(folder), **(environment or {})}
    kept = {name: value for name, value in os.environ.items() if not _MEDDLING.match(name)}
    words = [os.fspath(word) for word in command]
    with _tools.started(words, folder, kept | added, stdout=PIPE, stderr=PIPE) as process:
        out, err, stopped = _listen(process, _Limits(seconds, silence, most))
        if stopped:
            stop(process)
        code = process.wait()
    texts = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    return Ran(code, *texts, seconds=monotonic() - began, stopped=stopped)


@dataclass(frozen=True)
class _Limits:
    seconds: float
    silence: float
    most: int


def _listen(process: Process, limits: _Limits) -> tuple[bytes, bytes, str]:
    """Collect what a process prints until it has ended; or say why it must be stopped."""
    out, err = bytearray(), bytearray()
    late = f"did not end within {limits.seconds:g} seconds and was stopped"
    deadline = monotonic() + limits.seconds
    with selectors.DefaultSelector() as selector:
        for stream, part in ((process.stdout, out), (process.stderr, err)):
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ, part)
        while selector.get_map():
            left = deadline - monotonic()
            events = selector.select(max(0.0, min(left, limits.silence))) if left > 0 else []
            if not events:
                silent = f"printed nothing for {limits.silence:g} seconds and was stopped"
                return bytes(out), bytes(err), late if monotonic() >= deadline else silent
            for key, _ in events:
                chunk = os.read(key.fd, _CHUNK)
                key.data.extend(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
            if len(out) + len(err) > limits.most:
                return bytes(out), bytes(err), f"printed more than {limits.most} bytes and was stopped"
    ended = finished(process, deadline - monotonic()) is not None
    return bytes(out), bytes(err), "" if ended else late


_tools = Group()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Job(Generic[T]):
    """Work that hangs on no other work, and its name for who watches; `weight` guesses how much it is."""

    name: str
    work: Callable[[], T]
    weight: int = 0


def run_jobs(jobs: Sequence[Job[T]], workers: int | None = None, watch: Watch | None = None) -> list[T]:
    """The results of all jobs, in their order, with so many at work at once (as there are processors).

    The heaviest are begun first, so that none is left alone at the end. An error in one, or an interruption
    by the user, ends the tools of all and is raised.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed  # noqa: PLC0415  slow to import

    if watch:
        watch(0, len(jobs), "")
    with ThreadPoolExecutor(workers or cores()) as pool:
        try:
            heaviest = sorted(range(len(jobs)), key=lambda place: -jobs[place].weight)
            begun = {place: pool.submit(jobs[place].work) for place in heaviest}
            futures = {future: jobs[place] for place, future in begun.items()}
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                if watch:
                    watch(number, len(jobs), futures[future].name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            with _tools.stopped():
                pool.shutdown(wait=True)
            raise
        return [begun[place].result() for place in range(len(jobs))]
