"""A process that sends files through the stages: numbers in; names of stages and an answer in JSON out."""

import importlib
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutations import MODEL, mutated
from tests.fuzz.stages import STAGES, Stage, judge

# Where a stack of calls is longer, its end says enough.
_LONGEST_TRACE = 4000


def stage_of(name: str) -> Stage:
    """A stage by the name of its module and its own: `package.module:function`."""
    module, _, function = name.partition(":")
    stage: Stage = getattr(importlib.import_module(module), function)
    return stage


def limit_memory(more: int) -> int:
    """Allow this process so much more memory than it has now; answers what it has, in bytes."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    return used


def resident() -> int:
    """The most memory that this process had in use since it last forgot about it, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak() -> None:
    """Start to measure anew; where the system does not allow that, the measure only grows."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def furnish(folder: Path) -> None:
    """Put into the folder what external data must not be read from."""
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("..")
    (folder / "circle").symlink_to("circle")


class Clock:
    """The stages of one file, announced as they begin, and the processor's time that each one takes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Nothing has begun."""
        self._tell = tell
        self._stage, self._start = "", time.process_time()
        self.slowest = (0.0, "")

    def begins(self, stage: str) -> None:
        """Another stage begins, and the last one is over."""
        now = time.process_time()
        self.slowest = max(self.slowest, (now - self._start, self._stage))
        self._stage, self._start = stage, now
        self._tell(stage)


def examine(folder: Path, seed: int, number: int, stages: tuple[Stage, ...]) -> dict[str, object]:
    """Write the files of one number, judge them, remove them."""
    files = mutated(seed, number)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    forget_peak()
    before, clock = resident(), Clock(_say)
    try:
        kind, problem = judge(folder / MODEL, stages, clock.begins), ""
    except Exception as error:  # whatever it is, it is what this program looks for
        kind = "failed"
        lines = "".join(traceback.format_exception(error))[-_LONGEST_TRACE:]
        problem = f"{type(error).__name__}: {str(error)[:300]!a}\n{lines}"
    clock.begins("over")
    seconds, stage = clock.slowest
    taken = resident() - before
    for name in files:
        (folder / name).unlink()
    return {
        "number": number,
        "kind": kind,
        "problem": problem,
        "seconds": seconds,
        "stage": stage,
        "bytes": taken,
    }


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until there are no more numbers."""
    folder, seed, more = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    furnish(folder)
    # A first file loads whatever is loaded late, so that it does not count as memory of another.
    examine(folder, seed, -1, STAGES)
    used = limit_memory(more)
    stages = STAGES + tuple(map(stage_of, sys.argv[4:]))
    _say(json.dumps({"ready": used}))
    for line in sys.stdin:
        _say(json.dumps(examine(folder, seed, int(line), stages)))


if __name__ == "__main__":
    main()
