"""Interleaved timing: every candidate runs once a round, so that noise hits all of them alike."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Timing:
    """Seconds of one candidate over all rounds."""

    minimum: float
    median: float


def interleaved(
    candidates: dict[str, Callable[[], object]], rounds: int, warm: bool = True
) -> dict[str, Timing]:
    """Time the candidates in turn, `rounds` times; a warm-up round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for lap in range(rounds + warm):
        for name, run in candidates.items():
            gc.collect()
            begin = time.perf_counter()
            run()
            elapsed = time.perf_counter() - begin
            if lap >= warm:
                seconds[name].append(elapsed)
    return {name: Timing(min(times), median(times)) for name, times in seconds.items()}


def peak_memory(run: Callable[[], object]) -> int:
    """The most bytes that Python and NumPy held at once while it ran, beyond what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
