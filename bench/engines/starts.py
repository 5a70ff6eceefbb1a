"""What the first call costs in a fresh process: with an empty cache, and with a filled one."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import sonnx
from bench.engines.bars import CACHED_SECONDS, COMPILE_SECONDS, Bar
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
inputs = {"X": np.ones((1, 8, 16, 16), np.float32)}
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


def starts(rounds: int) -> dict[str, Timing]:
    """Seconds of whole processes, interleaved; nothing where there is no native engine."""
    if not hasattr(sonnx.Graph, "compile"):
        return {}
    with tempfile.TemporaryDirectory(prefix="sonnx-bench-") as name:
        folder = Path(name)
        path = prepare(SINGLE, folder).path
        filled, empty = folder / "filled", folder / "empty"

        def compiled_anew() -> None:
            shutil.rmtree(empty, ignore_errors=True)
            _process(path, "native", empty)()

        inside: list[float] = []

        def cached() -> None:
            inside.append(float(_process(path, "native", filled)()))

        times = interleaved(
            {
                "load and check": Contestant(_process(path, "nothing", filled)),
                "reference": Contestant(_process(path, "reference", filled)),
                "native, filled cache": Contestant(cached),
                "native, empty cache": Contestant(compiled_anew),
            },
            rounds,
        )
        return {**times, INSIDE: Timing.of(inside)}


def _process(path: Path, engine: str, cache: Path) -> Callable[[], str]:
    line = [sys.executable, "-c", SCRIPT, str(path), engine]

    def run() -> str:
        cache.mkdir(mode=0o700, exist_ok=True)
        environment = {**os.environ, CACHE: str(cache)}
        return subprocess.run(line, check=True, env=environment, capture_output=True, text=True).stdout

    return run


def start_bars(times: dict[str, Timing]) -> list[Bar]:
    """The compiler's share of a first call, and what a cached start adds to loading and checking a model."""
    if not times:
        return []
    least = {name: timing.minimum for name, timing in times.items()}
    warm = least["native, filled cache"]
    return [
        Bar(
            "first call of a single kernel, compiled",
            least["native, empty cache"] - warm,
            COMPILE_SECONDS,
            "s",
        ),
        Bar("cached start, beyond loading and checking", least[INSIDE], CACHED_SECONDS, "s"),
    ]
