"""The child process that asks a runtime: questions in, answers out, through pipes of its own."""

import json
import os
import re
import resource
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Set
from itertools import islice
from pathlib import Path
from typing import Any

from sonnx.conformance.runtimes.answer import (
    LONGEST_NAME,
    Answer,
    AnswerKind,
    answer_frame,
    lacks_memory,
    last_lines,
    shown,
)
from sonnx.conformance.runtimes.frames import MOST_TENSORS, Reader, TooLargeError, frame, question_of
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import (
    LateError,
    NoAnswerError,
    ProgramError,
    Runtime,
    UnavailableError,
    named,
)
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, describe

_CHUNK = 2**16
# More than any output that is read.
MOST_FILE_BYTES = 2**30


def answer_to(runtime: Runtime, question: Question) -> Answer:
    """Put a question to a runtime; whatever it raises is an answer."""
    try:
        if not runtime.supports(question):
            return Answer("unsupported")
        given = runtime.run(question)
        wrong = _no_list(given)
        if wrong:
            return Answer("outputs", (TensorType(None, None, foreign=f"{wrong}, where a list is wanted"),))
        # One more than can be sent shows that there are too many, and some lists have no end.
        return Answer("outputs", tuple(map(_output, islice(given, MOST_TENSORS + 1))))
    except MemoryError as error:
        return Answer("too large", message=_message(error))
    except LateError as error:
        return Answer("late", message=_message(error))
    except NoAnswerError as error:
        return Answer("crashed", message=_message(error))
    except ProgramError as error:
        said = last_lines(error.said)
        return Answer("too large" if lacks_memory("\n".join(said)) else "crashed", code=error.code, said=said)
    except Exception as error:  # of a library that nobody here knows
        message = _message(error)
        kind: AnswerKind = "too large" if lacks_memory(message) else "refused"
        return Answer(kind, error=shown(type(error).__name__, LONGEST_NAME), message=message)


def _no_list(given: Any) -> str:
    """What was given in the place of a list of outputs; nothing where it is one.

    A bare array would be taken for a list of its rows.
    """
    if hasattr(type(given), "__array__"):
        return "array"
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Set | Generator):
        return ""
    return "nothing" if given is None else f"Python {shown(type(given).__name__, LONGEST_NAME // 2)}"


def _message(error: BaseException) -> str:
    try:
        return shown(str(error))
    except Exception:  # an error whose text is another error
        return ""


def _output(value: Any) -> Array | TensorType:
    """An array as it is sent; what is none of the profile's types is described."""
    if isinstance(value, TensorType):
        return value
    kind, array = describe(value)
    if array is None:
        sizes = kind.shape if kind.sizes is not None else None
        return TensorType(None, sizes, foreign=shown(kind.foreign or str(kind), LONGEST_NAME))
    if kind.dtype is DType.REAL:
        return TensorType(None, kind.sizes, foreign="Python Fraction")
    return array


def limit_memory(more: int) -> None:
    """Allow this process so many bytes more than it has now, where the system can tell how many those are.

    What is reserved and not used does not count: libraries reserve much.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return
    found = re.search(r"^VmData:\s*(\d+) kB", status, re.MULTILINE)
    if found is not None:
        limits = int(found[1]) * 1024 + more, resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = min(limit for limit in limits if limit != resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def limit_files(most: int = MOST_FILE_BYTES) -> None:
    """Let no file that this process and its programs write grow beyond so many bytes."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


class Line:
    """The pipes to and from the parent; a process that a runtime forks does not have them."""

    def __init__(self, questions: int, answers: int, lifeline: int) -> None:
        """Keep the pipes from programs that are started."""
        self._questions, self._answers = questions, answers
        self._process = os.getpid()
        self._reader = Reader()
        pipes = (questions, answers, lifeline)
        for pipe in pipes:
            os.set_inheritable(pipe, False)

        def close() -> None:
            for pipe in pipes:
                os.close(pipe)

        os.register_at_fork(after_in_child=close)

    def question(self) -> tuple[int, Question] | None:
        """The next question; None where there will be none."""
        while (message := self._reader.take()) is None:
            self._require_own()
            piece = os.read(self._questions, _CHUNK)
            if not piece:
                return None
            self._reader.feed(piece)
        return question_of(*message)

    def send(self, message: bytes) -> None:
        """Send all of a message."""
        self._require_own()
        rest = memoryview(message)
        while rest:
            rest = rest[os.write(self._answers, rest) :]

    def _require_own(self) -> None:
        """End a process that a runtime has forked and that came back from it."""
        if os.getpid() != self._process:
            os._exit(0)


def _started(make: Callable[[], Runtime]) -> tuple[Runtime | None, bytes]:
    """The runtime, and the message that it is there, or why it is not."""
    try:
        runtime = make()
        about = {
            "name": str(runtime.name)[:LONGEST_NAME],
            "version": str(runtime.version)[:LONGEST_NAME],
            "models": getattr(runtime, "takes_models", False) is True,
        }
    except (UnavailableError, ValueError) as error:  # the latter of options, whose texts say all
        return None, frame({"failed": _message(error)})
    except Exception as error:  # of a library that nobody here knows
        return None, frame({"failed": f"{type(error).__name__}: {_message(error)}"})
    return runtime, frame({"ready": about})


def serve(line: Line, runtime: Runtime) -> None:
    """Answer until there are no more questions."""
    while (asked := line.question()) is not None:
        number, question = asked
        answer = answer_to(runtime, question)
        try:
            message = answer_frame(number, answer)
        except (TooLargeError, MemoryError) as error:
            message = answer_frame(number, Answer("too large", message=_message(error)))
        line.send(message)


def main() -> None:
    """Make the runtime and serve."""
    told = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    line = Line(*told["pipes"])
    limit_files()
    folder = os.environ["TMPDIR"]
    # What a user has named is looked for where the user is.
    runtime, message = _started(named(told["runtime"], **told["options"]))
    # From here on it writes where nobody else does, and where all is removed in the end.
    os.chdir(folder)
    if runtime is not None and told["memory"] is not None:
        limit_memory(told["memory"])
    line.send(message)
    if runtime is not None:
        serve(line, runtime)


if __name__ == "__main__":
    main()
