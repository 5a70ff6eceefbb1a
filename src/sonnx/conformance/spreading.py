"""Spreads work over processes or machines; what comes of it does not tell who has done it."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sonnx.conformance.runtimes.runtime import UnavailableError, needed
from sonnx.processes import signals_heard_by

T = TypeVar("T")
_Arguments = Sequence[tuple[Any, ...]]
# So often work is done again whose process was lost.
_TRIES = 3
# So many pieces of work for every worker are handed out ahead; what comes back is held no longer than needed.
_AHEAD = 4
_CONNECT = "10s"
_WORKERS = 10.0
_LOOK = 0.02


class SpreadError(Exception):
    """Work could not be done elsewhere; the text says why, and what to do."""


# A function, the arguments of each call, and whether results are wanted in their order → results by number.
Run = Callable[[Callable[..., Any], _Arguments, bool], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class Spread:
    """Calls a function on one tuple of arguments after the other; `width` says on how many at once."""

    width: int
    run: Run

    def __call__(self, function: Callable[..., T], arguments: _Arguments) -> Iterator[T]:
        """The results in the order of the arguments."""
        for _, result in self.run(function, arguments, True):
            yield result

    def as_done(self, function: Callable[..., T], arguments: _Arguments) -> Iterator[tuple[int, T]]:
        """The results as they come, with the numbers of their arguments."""
        yield from self.run(function, arguments, False)


def _one_by_one(function: Callable[..., Any], arguments: _Arguments, _: bool) -> Iterator[tuple[int, Any]]:
    for number, each in enumerate(arguments):
        yield number, function(*each)


# In this process, one after the other.
HERE = Spread(1, _one_by_one)


def over_processes(jobs: int) -> Spread:
    """Over so many processes of this machine; one that is lost is replaced, and its work done again."""

    def run(function: Callable[..., Any], arguments: _Arguments, ordered: bool) -> Iterator[tuple[int, Any]]:
        waiting = dict(enumerate(arguments))
        losses = 0
        while waiting:
            numbers = list(waiting)
            try:
                for place, result in _pooled(jobs, function, list(waiting.values()), ordered):
                    del waiting[numbers[place]]
                    losses = 0
                    yield numbers[place], result
            except BrokenProcessPool:
                losses += 1
                if losses == _TRIES:
                    raise SpreadError(
                        f"a process was lost {_TRIES} times over the same work; is there enough memory?"
                    ) from None

    return HERE if jobs == 1 else Spread(jobs, run)


def _pooled(
    jobs: int, function: Callable[..., Any], arguments: _Arguments, ordered: bool
) -> Iterator[tuple[int, Any]]:
    before = set(multiprocessing.active_children())
    # A process that is forked would hold what threads of this one hold at that moment.
    pool = ProcessPoolExecutor(
        min(jobs, len(arguments)), multiprocessing.get_context("spawn"), _deaf_to_interrupts
    )

    def submit(each: tuple[Any, ...]) -> Any:
        with _undisturbed():
            return pool.submit(function, *each)

    try:
        yield from _results(submit, arguments, jobs * _AHEAD, ordered)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        raise
    pool.shutdown()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals are heard a moment later: a process that is half started would complain with a traceback."""
    with signals_heard_by(lambda _: None):
        yield


def _deaf_to_interrupts() -> None:
    """Leave it to the first process to answer whoever interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _results(
    submit: Callable[[tuple[Any, ...]], Any], arguments: _Arguments, ahead: int, ordered: bool
) -> Iterator[tuple[int, Any]]:
    """What comes back, as it does, or in the order of the arguments and never far ahead of it."""
    futures: dict[int, Any] = {}
    held: dict[int, Any] = {}
    begun = given = 0
    while given < len(arguments):
        while begun < len(arguments) and (begun - given if ordered else len(futures)) < ahead:
            futures[begun] = submit(arguments[begun])
            begun += 1
        done = [number for number, future in futures.items() if future.done()]
        held |= {number: futures.pop(number).result() for number in done}
        ready = [given] if ordered and given in held else [] if ordered else list(held)
        if not done and not ready:
            time.sleep(_LOOK)
        for number in ready:
            given += 1
            yield number, held.pop(number)


def over_dask(address: str) -> Spread:
    """Over the workers of a Dask cluster, by the address of its scheduler, such as `tcp://host:8786`.

    Work of a worker that is lost is done by another one. Raises UnavailableError where Dask is not installed,
    SpreadError where there is no such cluster, or nobody in it for a while.
    """
    distributed = needed("distributed", "distributed>=2024.1")

    def run(function: Callable[..., Any], arguments: _Arguments, ordered: bool) -> Iterator[tuple[int, Any]]:
        with _client(distributed, address) as client:
            try:
                yield from _results(
                    lambda each: client.submit(function, *each, pure=False),
                    arguments,
                    width * _AHEAD,
                    ordered,
                )
            except UnavailableError as error:
                raise UnavailableError(f"on a worker of the cluster: {error}") from None
            except Exception as error:  # of whatever a worker lacks
                raise SpreadError(
                    f"a worker of the cluster failed: {type(error).__name__}: {error}; every worker needs "
                    "this version of sonnx, and the runtime"
                ) from None

    with _client(distributed, address) as client:
        until = time.monotonic() + _WORKERS
        while not (width := sum(client.nthreads().values())) and time.monotonic() < until:
            time.sleep(_LOOK)
    if not width:
        raise SpreadError(
            f"the Dask cluster at {address} has no workers; start some with: dask worker {address}"
        )
    return Spread(width, run)


def _client(distributed: Any, address: str) -> Any:
    made = distributed.Client.__new__(distributed.Client)
    try:
        made.__init__(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # of whatever serves such an address
        # One that is half made would wait long for its own end, and complain where nobody listens.
        made.status = "closed"
        why = str(error) or type(error).__name__
        raise SpreadError(f"no Dask scheduler answers at {address}: {why}") from None
    return made
