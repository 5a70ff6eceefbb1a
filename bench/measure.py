"""Interleaved timing: every contestant runs once a round, so that noise hits all of them alike."""

import gc
import os
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from random import Random
from statistics import median

TASKS = Path("/proc/self/task")
# The cores this process may use, before anything here restricts it.
CORES = tuple(
    sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
)
Run = Callable[[], object]


@dataclass(frozen=True)
class Contestant:
    """What is timed: one sample is `repetitions` calls, on the given cores (none given: on any).

    One that takes very long may take part in fewer `rounds` than the others.
    """

    run: Run
    cores: tuple[int, ...] = ()
    repetitions: int = 1
    rounds: int | None = None


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, over all rounds in which the contestant took part."""

    minimum: float
    median: float
    rounds: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Timing":
        return cls(min(seconds), median(seconds), len(seconds))


def interleaved(
    contestants: Mapping[str, Contestant],
    rounds: int,
    *,
    warm: bool = True,
    seed: int | None = None,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, Timing]:
    """Time the contestants in turn, `rounds` times; a warm-up round is not counted.

    With a seed every round has an order of its own, so that nobody always follows the same neighbour. `tick`
    is called after every round.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    shuffle = Random(seed).shuffle if seed is not None else lambda names: None
    with everyone_restored():
        if warm:
            for contestant in contestants.values():
                contestant.run()
        for lap in range(rounds):
            names = [name for name, one in contestants.items() if takes_part(lap, rounds, one.rounds)]
            shuffle(names)
            for name in names:
                seconds[name].append(sample(contestants[name]))
            tick()
    return {name: Timing.of(times) for name, times in seconds.items()}


def takes_part(lap: int, rounds: int, own: int | None) -> bool:
    """Whether one who runs in `own` of all rounds runs in this one: they are spread evenly."""
    return own is None or own >= rounds or lap * own // rounds != (lap - 1) * own // rounds


def sample(contestant: Contestant) -> float:
    """Seconds of one call: the mean over the repetitions.

    Where there are several, one more goes before them, because the caches hold the neighbour's data.
    """
    pin(contestant.cores)
    settle()
    run, repetitions = contestant.run, contestant.repetitions
    if repetitions > 1:
        run()
    gc.collect(0)
    gc.disable()
    try:
        begin = time.perf_counter()
        for _ in range(repetitions):
            run()
        return (time.perf_counter() - begin) / repetitions
    finally:
        gc.enable()


def repetitions(run: Run, at_least: float) -> tuple[int, float]:
    """How many calls last `at_least` seconds together, and the seconds of one, the first not counted."""
    run()
    fastest = min(sample(Contestant(run)) for _ in range(2))
    return max(1, ceil(at_least / fastest)), fastest


def pin(cores: tuple[int, ...]) -> None:
    """Keep every thread of this process on these cores: also threads that a library made earlier."""
    if cores and hasattr(os, "sched_setaffinity"):
        for thread in _threads():
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.sched_setaffinity(thread, cores)


@contextmanager
def everyone_restored() -> Iterator[None]:
    """Let all threads run on all cores again at the end."""
    try:
        yield
    finally:
        pin(CORES)


def settle(limit: float = 0.1) -> None:
    """Wait until all other threads of this process sleep.

    Thread pools spin a while after their work in case there is more: on the core of whoever comes next.
    """
    end = time.perf_counter() + limit
    while busy_threads() and time.perf_counter() < end:
        time.sleep(0.001)


def busy_threads() -> int:
    """How many threads of this process run or want to, besides this one."""
    busy = 0
    for thread in _threads():
        if thread != threading.get_native_id():
            with suppress(OSError):  # it ended meanwhile
                state = (
                    (TASKS / str(thread) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                )
                busy += state == "R"
    return busy


def _threads() -> list[int]:
    return [int(task.name) for task in TASKS.iterdir()] if TASKS.is_dir() else []


def peak_memory(run: Run) -> int:
    """The most bytes that Python and NumPy held at once while it ran, beyond what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
