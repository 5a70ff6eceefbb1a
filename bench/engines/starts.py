"""What the first call costs in a fresh process: with an empty cache, and with a filled one."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sonnx
from bench.engines.bars import CACHED_SECONDS, COMPILE_MANY_SECONDS, COMPILE_SECONDS, Bar
from bench.engines.loops import MANY
from bench.engines.subjects import Convolution, convolution, prepare
from bench.measure import Contestant, Timing, interleaved

CACHE = "SONNX_CACHE_DIR"
SINGLE = convolution("start", "Conv 3x3 8→8 16²", Convolution(3, 8, 8, 16, pad=1))
SCRIPT = """
import sys, time
import numpy as np
import sonnx
graph = sonnx.load(sys.argv[1])
graph.check()
inputs = {value.name: np.ones(value.type.shape, np.float32) for value in graph.inputs}
begin = time.perf_counter()
match sys.argv[2]:
    case "native":
        graph.compile()(inputs)
    case "reference":
        graph.run(inputs)
print(time.perf_counter() - begin)
"""
# Within the process, the time from a model that is checked to its first result.
INSIDE = "native, filled cache, after the check"
MANY_EMPTY, MANY_FILLED = (f"{MANY.title}, {state} cache" for state in ("empty", "filled"))
MANY_ROUNDS = 3


@dataclass(frozen=True)
class Starts:
    """Seconds by what is started, and how many libraries came or went in a cache that had all of them."""

    times: dict[str, Timing]
    changed: int = 0


def starts(rounds: int) -> Starts:
    """Seconds of whole processes, interleaved; nothing where there is no native engine."""
    if not hasattr(sonnx.Graph, "compile"):
        return Starts({})
    with tempfile.TemporaryDirectory(prefix="sonnx-bench-") as name:
        folder = Path(name)
        path, many = (prepare(subject, folder).path for subject in (SINGLE, MANY))
        filled, filled_by_many = folder / "filled", folder / "filled-by-many"
        inside: list[float] = []

        def cached() -> None:
            inside.append(float(_process(path, "native", filled)()))

        _process(many, "native", filled_by_many)()
        before = _libraries(filled_by_many)
        times = interleaved(
            {
                "load and check": Contestant(_process(path, "nothing", filled)),
                "reference": Contestant(_process(path, "reference", filled)),
                "native, filled cache": Contestant(cached),
                "native, empty cache": Contestant(_anew(path, folder / "empty")),
                MANY_FILLED: Contestant(_process(many, "native", filled_by_many), rounds=MANY_ROUNDS),
                MANY_EMPTY: Contestant(_anew(many, folder / "empty"), rounds=MANY_ROUNDS),
            },
            rounds,
        )
        changed = before ^ _libraries(filled_by_many)
        return Starts({**times, INSIDE: Timing.of(inside)}, len(changed))


def _libraries(cache: Path) -> set[tuple[str, int]]:
    """The kept files, by name and number: one that is made again has another number."""
    return {(path.name, path.stat().st_ino) for path in (cache / "kernels").iterdir()}


def _anew(path: Path, cache: Path) -> Callable[[], str]:
    def run() -> str:
        shutil.rmtree(cache, ignore_errors=True)
        return _process(path, "native", cache)()

    return run


def _process(path: Path, engine: str, cache: Path) -> Callable[[], str]:
    line = [sys.executable, "-c", SCRIPT, str(path), engine]

    def run() -> str:
        cache.mkdir(mode=0o700, exist_ok=True)
        environment = {**os.environ, CACHE: str(cache)}
        return subprocess.run(line, check=True, env=environment, capture_output=True, text=True).stdout

    return run


def start_bars(found: Starts) -> list[Bar]:
    """The compiler's share of first calls, and what a cached start adds to loading and checking a model."""
    if not found.times:
        return []
    least = {name: timing.minimum for name, timing in found.times.items()}
    single = least["native, empty cache"] - least["native, filled cache"]
    many = least[MANY_EMPTY] - least[MANY_FILLED]
    return [
        Bar("first call of a single kernel, compiled", single, COMPILE_SECONDS, "s"),
        Bar(f"first call of {MANY.title}, compiled", many, COMPILE_MANY_SECONDS, "s"),
        Bar(f"{MANY.title}: libraries that a filled cache lost or got", found.changed, 0),
        Bar("cached start, beyond loading and checking", least[INSIDE], CACHED_SECONDS, "s"),
    ]
