"""What came of a question, and the message that says so."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sonnx.conformance.runtimes.frames import (
    FrameError,
    Header,
    entry_of,
    frame,
    packed_entries,
    text,
    unpacked_entries,
)
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.report.text import cut, printable

AnswerKind = Literal["outputs", "refused", "unsupported", "crashed", "late", "too large"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
LONGEST_MESSAGE = 2000
LONGEST_NAME = 200
LAST_LINES = 12
# How libraries say that there is no memory left.
_NO_MEMORY = re.compile(
    r"bad_alloc|MemoryError|out of memory|cannot allocate memory|failed to allocate memory|bad allocation",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Answer:
    """What became of a question.

    `outputs`: it was answered; an output that is no array of one of the profile's types is its description,
    a TensorType. `refused`: the runtime raised `error`. `unsupported`: it does not know the operator.
    `crashed`: the process ended, or what it sent could not be read; `code` is the exit code, below 0 for a
    signal. `late`: it had to be stopped. `too large`: it needed more memory than was allowed. `said` are the
    last lines that it printed to its standard error.
    """

    kind: AnswerKind
    outputs: tuple[Array | TensorType, ...] = ()
    error: str = ""
    message: str = ""
    code: int | None = None
    said: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer in words, on one line."""
        if self.kind == "outputs":
            return f"{len(self.outputs)} outputs"
        parts = [self.kind, self.error, "" if self.code is None else code_text(self.code), self.message]
        return ": ".join(part for part in parts if part)


def code_text(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"signal {-code}" + (f" ({names[-code]})" if -code in names else "")


def seconds_text(seconds: float) -> str:
    """A time in words."""
    return f"{seconds:g} second" + ("" if seconds == 1 else "s")


def shown(message: str, most: int = LONGEST_MESSAGE) -> str:
    """A message on one line that may be printed, cut where it is long."""
    return printable(cut(" ".join(message[: 4 * most].split()), most))


def last_lines(said: bytes) -> tuple[str, ...]:
    """The last lines of what a process printed, fit to be printed again."""
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return tuple(printable(cut(line.rstrip(), LONGEST_NAME)) for line in lines[-LAST_LINES:])


def lacks_memory(message: str) -> bool:
    """Tell whether a message is about memory that could not be had."""
    return _NO_MEMORY.search(message) is not None


def answer_frame(number: int, answer: Answer) -> bytes:
    """The message of an answer; raises TooLargeError where its outputs are too large for one."""
    entries, contents = packed_entries(answer.outputs)
    header = {
        "number": number,
        "kind": answer.kind,
        "error": answer.error,
        "message": answer.message,
        "code": answer.code,
        "said": answer.said,
        "outputs": entries,
    }
    return frame(header, contents)


def answer_of(header: Header, content: bytes, number: int) -> Answer:
    """The answer to the question of that number; raises FrameError where the message is none."""
    if entry_of(header, "number", int) != number:
        raise FrameError(f"an answer to question {number} was to come")
    kind = next((kind for kind in KINDS if kind == header.get("kind")), None)
    if kind is None:
        raise FrameError("there is no such kind of answer")
    code = header.get("code")
    if code is not None and (type(code) is not int or not -256 < code < 256):
        raise FrameError("`code` is no exit code")
    said = entry_of(header, "said", list)
    if not all(isinstance(line, str) for line in said):
        raise FrameError("`said` is no list of lines")
    outputs = unpacked_entries(header, content, LONGEST_NAME)
    if outputs and kind != "outputs":
        raise FrameError(f"an answer that is {kind} has no outputs")
    error, message = shown(text(header, "error"), LONGEST_NAME), shown(text(header, "message"))
    return Answer(kind, outputs, error, message, code, _lines(said))


def _lines(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(shown(line, LONGEST_NAME) for line in said[-LAST_LINES:])
