"""Runtimes asked in child processes: whatever one does to its process, this one goes on."""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from sonnx.conformance.runtimes.answer import (
    Answer,
    answer_of,
    code_text,
    lacks_memory,
    last_lines,
    seconds_text,
    shown,
)
from sonnx.conformance.runtimes.frames import FrameError, entry_of, question_frame, text
from sonnx.conformance.runtimes.pipes import EndedError, LateError, Worker, require_pipes
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import UnavailableError, named

DEFAULT_SECONDS = 20.0
DEFAULT_MEMORY = 4 * 2**30
# A process has so many seconds to import its libraries.
_START = 120.0
# Questions that lie in the pipe while one is answered.
_MOST_AHEAD = 64
_MOST_AHEAD_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class _Sent:
    """A question that waits for its answer; its message has `size` bytes."""

    number: int
    question: Question
    size: int


class Child:
    """A runtime in a process of its own, which is started when it is first asked, and anew when it has died.

    `runtime` and the options are those of `named`. The process may take `memory` bytes more than the
    runtime takes once it is there, and `start_seconds` to get there. To be used by one thread at a time.
    """

    def __init__(
        self,
        runtime: str,
        /,
        *,
        memory: int | None = DEFAULT_MEMORY,
        start_seconds: float = _START,
        **options: Any,
    ) -> None:
        """Raises ValueError where there is no such runtime or option; nothing is started.

        Raises UnavailableError where the system has no such processes.
        """
        named(runtime, **options)
        require_pipes()
        self._told = {"runtime": runtime, "options": options, "memory": memory}
        try:
            json.dumps(self._told)
        except TypeError:
            raise ValueError("options of a runtime are text, numbers and truth values") from None
        self._start_seconds = start_seconds
        self._folder = TemporaryDirectory(prefix="sonnx-runtime-", ignore_cleanup_errors=True)
        self._worker: Worker | None = None
        self._about: tuple[str, str, bool] | None = None
        self._asking = False

    def __enter__(self) -> "Child":
        """Take it as it is."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    @property
    def name(self) -> str:
        """What the runtime calls itself; starts it where it has not been."""
        return self._known()[0]

    @property
    def version(self) -> str:
        """The runtime's version; starts it where it has not been."""
        return self._known()[1]

    @property
    def takes_models(self) -> bool:
        """Tell whether the runtime is given ONNX models; starts it where it has not been."""
        return self._known()[2]

    def _known(self) -> tuple[str, str, bool]:
        if self._about is None:
            self._ready()
        assert self._about is not None  # which a start has found out
        return self._about

    def close(self) -> None:
        """End the process, and all that it has started; remove its temporary files."""
        self._end()
        self._folder.cleanup()

    def ask(self, question: Question, seconds: float = DEFAULT_SECONDS) -> Answer:
        """Put one question; an answer comes within so many seconds, once the process has started.

        Raises UnavailableError where the runtime cannot be had.
        """
        (answer,) = self.ask_many([question], seconds)
        return answer

    def ask_many(self, questions: Iterable[Question], seconds: float = DEFAULT_SECONDS) -> Iterator[Answer]:
        """The answers in the order of the questions, each of which has so many seconds.

        Questions are sent ahead, so that the process need not wait for this one. Raises UnavailableError
        where the runtime cannot be had, RuntimeError where answers to others have not all been taken.
        """
        if self._asking:
            raise RuntimeError("the answers to other questions have not all been taken")
        self._asking = True
        sent: deque[_Sent] = deque()
        try:
            yield from self._answers(iter(questions), sent, seconds)
        finally:
            self._asking = False
            if sent:  # answers that nobody awaits any more
                self._end()

    def _answers(self, questions: Iterator[Question], sent: deque[_Sent], seconds: float) -> Iterator[Answer]:
        again: deque[Question] = deque()
        number = ahead = 0
        while True:
            worker = self._worker if sent and self._worker is not None else self._ready()
            while len(sent) < _MOST_AHEAD and ahead < _MOST_AHEAD_BYTES:
                question = again.popleft() if again else next(questions, None)
                if question is None:
                    break
                number += 1
                message = question_frame(number, question)
                worker.send(message)
                sent.append(_Sent(number, question, len(message)))
                ahead += len(message)
            if not sent:
                return
            answer = self._awaited(worker, sent[0].number, seconds)
            ahead -= sent.popleft().size
            if self._worker is None:  # the others were asked of a process that is no more
                again.extendleft(each.question for each in reversed(sent))
                sent.clear()
                ahead = 0
            yield answer

    def _awaited(self, worker: Worker, number: int, seconds: float) -> Answer:
        """The answer to one question; where the process did not survive it, there is none any more."""
        try:
            answer = answer_of(*worker.receive(seconds), number)
        except LateError:
            self._end()
            message = f"no answer within {seconds_text(seconds)}"
            return Answer("late", message=message, said=last_lines(worker.said))
        except FrameError as error:
            self._end()
            message = shown(f"what it sent cannot be read: {error}")
            return Answer("crashed", message=message, said=last_lines(worker.said))
        except EndedError:
            return self._ended(worker)
        if answer.kind == "too large":  # nobody knows what it still holds
            self._end()
        return answer

    def _ended(self, worker: Worker) -> Answer:
        self._worker = None
        code = worker.ended()
        said = last_lines(worker.said)
        if lacks_memory("\n".join(said)):
            return Answer("too large", code=code, said=said)
        message = "it closed its pipes and lived on" if code is None else ""
        return Answer("crashed", message=message, code=code, said=said)

    def _ready(self) -> Worker:
        """A process that waits for questions."""
        if self._worker is not None and self._worker.gone:
            self._end()
        if self._worker is None:
            self._worker = Worker(self._told, self._folder.name)
            try:
                self._about = self._started(self._worker)
            except BaseException:
                self._end()
                raise
        return self._worker

    def _started(self, worker: Worker) -> tuple[str, str, bool]:
        """Name and version of the runtime, and whether it takes models; raises UnavailableError."""
        runtime = self._told["runtime"]
        try:
            header, _ = worker.receive(self._start_seconds)
            if "failed" in header:
                raise UnavailableError(shown(text(header, "failed")))
            about = entry_of(header, "ready", dict)
            models = entry_of(about, "models", bool)
            return shown(text(about, "name")), shown(text(about, "version")), models
        except LateError:
            how = f"did not start within {seconds_text(self._start_seconds)}"
        except FrameError as error:
            how = f"sent what cannot be read: {error}"
        except EndedError:
            self._worker = None
            code = worker.ended()
            how = f"ended while it started, with {'no exit code' if code is None else code_text(code)}"
        said = last_lines(worker.said)
        raise UnavailableError(shown(f"the process of {runtime} {how}: {' / '.join(said)}".rstrip(": ")))

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()
