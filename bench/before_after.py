"""Processor time of these sources over that of older ones, sample by sample in turn.

`python -m bench.before_after OLD_SRC` starts one worker for each tree, which has the same subjects; a ratio
above 1.03 is marked. Whoever asks by `--only` sees some of the subjects alone.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from statistics import median
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

Array = NDArray[Any]
Run = Callable[[], object]
HERE = Path(__file__).resolve().parents[1]
ALLOWED = 1.03
# So many seconds a sample lasts at least: the clock of processors is coarse.
SAMPLE = 0.01
SIZES = {"small": (4, 4), "10^4": (100, 100), "10^6": (1000, 1000)}
# Fractions of a million elements take a minute a round.
REAL_SIZES = ("small", "10^4")
TYPES = ("float32", "float16", "int32")
# Channels, size, kernel, groups.
CONVOLUTIONS = {
    "small": (4, 8, 3, 1),
    "10^4": (16, 25, 3, 1),
    "10^6": (16, 250, 3, 1),
    "depthwise 10^4": (16, 25, 3, 16),
    "depthwise 10^6": (32, 176, 3, 32),
    "1x1 10^6": (256, 62, 1, 1),
}
COMMANDS = {
    "import sonnx": ("-c", "import sonnx"),
    "sonnx --help": ("-m", "sonnx", "--help"),
    "sonnx check, 1,000 nodes, 100 MB": ("-m", "sonnx", "check", "large.onnx"),
}


# --- what a worker does -------------------------------------------------------------------------------------


def data(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    """Numbers about 0 of a type."""
    return (rng.standard_normal(shape) * 4).astype(kind)


def lift(kind: str) -> Callable[[Array], Any]:
    """What makes operands of numbers: of a type as they are, or the exact reals that they are."""
    import sonnx  # noqa: PLC0415  the worker's own

    return sonnx.real if kind == "real" else lambda array: array


def moves(kind: str, shape: tuple[int, ...]) -> Mapping[str, Run]:
    """Operators that treat elements one by one, or move them."""
    import sonnx  # noqa: PLC0415  the worker's own

    rng = np.random.default_rng(5)
    held, operand = ("float32" if kind == "real" else kind), lift(kind)
    x, y = (operand(data(rng, shape, held)) for _ in range(2))
    line = operand(data(rng, (1, shape[1]), held))
    low, high = (operand(np.array(bound, held)) for bound in (-2, 3))
    condition = rng.random(shape) < 0.5
    return {
        "Clip": lambda: sonnx.clip(x, low, high),
        "Where": lambda: sonnx.where(condition, x, y),
        "Expand": lambda: sonnx.expand(line, shape),
        "Broadcast": lambda: sonnx.broadcast(x, line),
        "Clamp": lambda: sonnx.xla.clamp(x, low, high),
        "Clamp by tensors": lambda: sonnx.xla.clamp(x, y, y),
        "Concatenate": lambda: sonnx.xla.concatenate([x, line, y], 0),
    }


def convolutions(kind: str, size: str) -> Mapping[str, Run]:
    """Convolutions of one image; on integers XLA has one."""
    import sonnx  # noqa: PLC0415  the worker's own

    channels, extent, kernel, group = CONVOLUTIONS[size]
    rng = np.random.default_rng(6)
    held, operand = ("float32" if kind == "real" else kind), lift(kind)
    X = operand(data(rng, (1, channels, extent, extent), held))
    W = operand(data(rng, (min(channels, 64), channels // group, kernel, kernel), held))
    if kind == "int32":
        return {"Conv": lambda: sonnx.xla.conv(X, W, (1, 1), "SAME")} if group == 1 else {}
    written: dict[str, Any] = {
        "strides": [1, 1],
        "pads": [kernel // 2] * 4,
        "dilations": [1, 1],
        "group": group,
        "kernel_shape": [kernel] * 2,
    }
    found: dict[str, Run] = {"Conv": lambda: sonnx.conv(X, W, **written)}
    if kind == "float32" and size != "10^6" and kernel > 1:  # an emulated step takes a hundred times as long
        found["Conv fused"] = lambda: sonnx.conv(X, W, accumulate="fused", **written)
    return found


def native(key: str) -> Run:
    """A subject of the contest of engines on the native engine; it is compiled beforehand."""
    import sonnx  # noqa: PLC0415  the worker's own
    from bench.engines.subjects import SUBJECTS, prepare  # noqa: PLC0415  loads onnx

    subject = next(one for one in SUBJECTS if one.key == key)
    with tempfile.TemporaryDirectory() as folder:
        case = prepare(subject, Path(folder))
        compiled = sonnx.load(case.path).compile()
    return lambda: compiled(case.inputs)


def subjects() -> Iterator[tuple[str, Callable[[], Run]]]:
    """Names, and what makes the thing to be timed: none is made before it is asked for."""
    for kind in (*TYPES, "real"):
        for size, shape in SIZES.items():
            if kind != "real" or size in REAL_SIZES:
                for name in (
                    "Clip",
                    "Where",
                    "Expand",
                    "Broadcast",
                    "Clamp",
                    "Clamp by tensors",
                    "Concatenate",
                ):
                    yield f"{name}, {kind}, {size}", partial(pick, name, moves, kind, shape)
        for size, (_, _, _, group) in CONVOLUTIONS.items():
            if (kind != "real" or "10^6" not in size) and (kind != "int32" or group == 1):
                yield f"Conv, {kind}, {size}", partial(pick, "Conv", convolutions, kind, size)
                if kind == "float32" and "10^6" not in size:
                    yield f"Conv fused, {kind}, {size}", partial(pick, "Conv fused", convolutions, kind, size)
    from bench.engines.subjects import SUBJECTS  # noqa: PLC0415  loads onnx and sonnx

    for subject in SUBJECTS:
        yield f"native {subject.title}", partial(native, subject.key)


def pick(name: str, make: Callable[..., Mapping[str, Run]], *arguments: Any) -> Run:
    return make(*arguments)[name]


def work() -> None:
    """Answer each line `repetitions subject` by the seconds that one call took."""
    made = dict(subjects())
    kept: dict[str, Run] = {}
    for line in sys.stdin:
        repetitions, _, name = line.rstrip("\n").partition(" ")
        if name not in kept:
            kept = {name: made[name]()}  # one at a time: they are large
        run = kept[name]
        begin = time.process_time()
        for _ in range(int(repetitions)):
            run()
        print((time.process_time() - begin) / int(repetitions), flush=True)


# --- what is asked of workers -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A worker that imports one of both trees; and how commands of it are started."""

    environment: Mapping[str, str]
    folder: Path
    into: IO[str]
    out: IO[str]

    def seconds(self, name: str, repetitions: int = 1) -> float:
        if name in COMMANDS:
            return self.command(COMMANDS[name])
        self.into.write(f"{repetitions} {name}\n")
        self.into.flush()
        return float(self.out.readline())

    def command(self, arguments: tuple[str, ...]) -> float:
        started = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.folder,
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode:
            raise SystemExit(f"{' '.join(arguments)} failed")
        return used.ru_utime + used.ru_stime


def tree(source: Path, folder: Path, stack: ExitStack) -> Tree:
    """Start a worker; what Python compiles is kept in the folder, beside neither of both trees."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{source}:{HERE}",
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    line = [sys.executable, "-m", "bench.before_after", "--work"]
    worker = stack.enter_context(
        subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )
    )
    into, out = worker.stdin, worker.stdout
    if into is None or out is None:
        raise AssertionError("both were asked for")
    stack.callback(into.close)
    return Tree(environment, folder, into, out)


def compared(old: Tree, new: Tree, name: str, rounds: int) -> tuple[float, float, float]:
    """Milliseconds of the old and the new one, the least of all rounds, and the median of their ratios."""
    once = min(one.seconds(name) for one in (old, new, old, new))
    repetitions = 1 if name in COMMANDS else max(1, ceil(SAMPLE / max(once, 1e-7)))
    seconds: dict[str, list[float]] = {"old": [], "new": []}
    for lap in range(rounds):
        pair = [("old", old), ("new", new)]
        for which, one in pair if lap % 2 else reversed(pair):
            seconds[which].append(one.seconds(name, repetitions))
    ratio = median(new / old for old, new in zip(seconds["old"], seconds["new"], strict=True))
    return min(seconds["old"]) * 1e3, min(seconds["new"]) * 1e3, ratio


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.before_after", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD_SRC", help="the folder that has the older `sonnx`")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="subjects with these letters in their name"
    )
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    asked = parser.parse_args()
    names = [
        name for name in (*(name for name, _ in subjects()), *COMMANDS) if asked.only.lower() in name.lower()
    ]
    table = Table("subject", title="processor time, new / old", title_justify="left")
    for title in ("old ms", "new ms", "of least", "of medians", ""):
        table.add_column(title, justify="right")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if any("large.onnx" in COMMANDS.get(name, ()) for name in names):
            from bench.reference.models import large_model  # noqa: PLC0415  takes seconds

            large_model().rename(folder / "large.onnx")
        old, new = (tree(source.resolve(), folder, stack) for source in (asked.old, HERE / "src"))
        for name in track(names, "measuring", disable=not sys.stdout.isatty()):
            before, after, ratio = compared(old, new, name, asked.rounds)
            slower = min(after / before, ratio) > ALLOWED
            figures = f"{before:.3f}", f"{after:.3f}", f"{after / before:.3f}", f"{ratio:.3f}"
            table.add_row(name, *figures, "SLOWER" if slower else "")
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--work"] else main()
