"""Many files through processes that are watched: none may take too long, too much memory, or die."""

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory, mkdtemp
from threading import Thread
from typing import IO, Any

from tests.fuzz.mutations import mutated

ROOT = Path(__file__).parents[2]
# Above what a process takes when everything is imported.
MEMORY = 2**30
PATIENCE = 6
# A process has so many seconds to start.
_START = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Answer:
    """What became of one file; `problem` is empty where all went well, `stage` is the slowest one."""

    number: int
    kind: str
    problem: str = ""
    seconds: float = 0.0
    stage: str = ""
    bytes: int = 0


@dataclass(frozen=True)
class Settings:
    """How files are examined; `stages` are added to the usual ones, by name.

    A stage may take `seconds` of the processor's time. On a busy machine, or asleep, it may take `PATIENCE`
    times as long by the clock.
    """

    seed: int = 0
    seconds: float = 10.0
    memory: int = MEMORY
    processes: int = 2
    stages: Sequence[str] = ()


@dataclass
class Summary:
    """What came out, over all files."""

    settings: Settings
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[Answer] = field(default_factory=list)
    slowest: tuple[float, str, int] = (0.0, "", -1)
    largest: tuple[int, int] = (0, -1)

    def add(self, answer: Answer) -> None:
        """Count one file."""
        self.kinds[answer.kind] += 1
        self.slowest = max(self.slowest, (answer.seconds, answer.stage, answer.number))
        self.largest = max(self.largest, (answer.bytes, answer.number))
        if answer.problem:
            self.failures.append(answer)

    def text(self) -> str:
        """The summary for people."""
        kinds = [f"{self.kinds[kind]} {kind}" for kind in ("unreadable", "with findings", "conforming")]
        (seconds, stage, slow), (size, large) = self.slowest, self.largest
        return (
            f"{sum(self.kinds.values())} files: {', '.join(kinds)}, {len(self.failures)} failed\n"
            f"slowest stage: {seconds:.2f} s in {stage}, file {slow} (limit {self.settings.seconds:g} s)\n"
            f"most memory: {size / 2**20:.0f} MiB, file {large} "
            f"(limit {self.settings.memory // 2**20} MiB above what the imports take)"
        )


class _Worker:
    """A process that examines one file after the other."""

    def __init__(self, settings: Settings, folder: str) -> None:
        """Start it, and wait until it is ready."""
        paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        # Unbuffered, because what lies in a buffer would not wake up `select`.
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.fuzz.worker",
                mkdtemp(dir=folder),
                str(settings.seed),
                str(settings.memory),
                *settings.stages,
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        answer, _ = self._answer(_START)
        if answer is None:
            raise RuntimeError(f"a process of the fuzzer could not start (exit code {self.end()})")

    def _answer(self, seconds: float) -> tuple[dict[str, Any] | None, str]:
        """Its next answer, and the stage that it named last; None where it died or a stage takes too long."""
        stream, stage = self._process.stdout, ""
        assert stream is not None
        while self._in_time(stream, seconds):
            line = stream.readline().decode().strip()
            if line.startswith("{"):
                return json.loads(line), stage
            if not line:
                self._process.wait()
                break
            stage = line
        return None, stage

    def _in_time(self, stream: IO[bytes], seconds: float) -> bool:
        """Wait for a line; False where there is none after the time that a stage may take."""
        spent = _processor_time(self._process.pid)
        for _ in range(PATIENCE):
            if select.select([stream], [], [], seconds)[0]:
                return True
            if _processor_time(self._process.pid) - spent >= seconds:
                return False
        return False

    def ask(self, number: int, seconds: float) -> Answer:
        """Let it examine a file; it is ended where it takes too long."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has died, which shows below
            self._process.stdin.write(f"{number}\n".encode())
        answer, stage = self._answer(seconds)
        if answer is not None:
            return Answer(**answer)
        died = not self.alive
        code = self.end()
        what = f"the process died with exit code {code}" if died else f"more than {seconds:g} s"
        return Answer(number, "failed", f"{what} in the stage {stage}", 0.0 if died else seconds, stage)

    @property
    def alive(self) -> bool:
        """Whether it can examine another file."""
        return self._process.returncode is None

    def end(self) -> int:
        """End it, busy or not; answers its exit code."""
        self._process.kill()
        code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        return code


def _processor_time(process: int) -> float:
    """The seconds that a process has kept a processor busy."""
    about = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    # After the program's name, which stands in parentheses, the user's time is entry 12, the system's 13.
    entries = about.rpartition(")")[2].split()
    return (int(entries[11]) + int(entries[12])) / _TICKS


def _serve(
    todo: SimpleQueue[int], done: SimpleQueue[Answer | Exception], settings: Settings, folder: str
) -> None:
    """Examine files until there are none left, with a new process wherever one had to be ended."""
    worker = None
    try:
        while True:
            number = todo.get_nowait()
            if worker is None or not worker.alive:
                worker = _Worker(settings, folder)
            done.put(worker.ask(number, settings.seconds))
    except Empty:
        return
    except Exception as error:  # it belongs to whoever waits for answers
        done.put(error)
    finally:
        if worker is not None and worker.alive:
            worker.end()


def examine(numbers: Sequence[int], settings: Settings) -> Iterator[Answer]:
    """Answer for every file, as they are done."""
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[Answer | Exception] = SimpleQueue()
    for number in numbers:
        todo.put(number)
    with TemporaryDirectory() as folder:
        arguments = todo, done, settings, folder
        threads = [Thread(target=_serve, args=arguments, daemon=True) for _ in range(settings.processes)]
        for thread in threads:
            thread.start()
        try:
            for _ in numbers:
                answer: Any = done.get()
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        finally:
            while not todo.empty():
                todo.get()
            for thread in threads:
                thread.join(PATIENCE * (settings.seconds + _START))


def keep(seed: int, failure: Answer, folder: Path) -> Path:
    """Write the files of a failure, and what went wrong, where somebody can look at them."""
    place = folder / f"seed{seed}-{failure.number}"
    place.mkdir(parents=True, exist_ok=True)
    for name, content in mutated(seed, failure.number).items():
        (place / name).write_bytes(content)
    (place / "problem.txt").write_text(failure.problem, encoding="utf-8")
    return place
