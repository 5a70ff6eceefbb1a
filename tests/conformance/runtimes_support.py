"""Questions, and a runtime that does whatever a question tells it to, good or bad."""

import ctypes
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import ml_dtypes
import numpy as np

from sonnx.conformance.runtimes.frames import frame
from sonnx.conformance.runtimes.question import Question, question
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

F = np.float32
EVIL = "tests.conformance.runtimes_support:Evil"
ATTRIBUTES = {
    "strides": (1, 2),
    "pads": (1, 0, 1, 0),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (2, 2),
}


def trial(inputs: Mapping[str, Array], attributes: Mapping[str, Any] | None = None, *constants: str) -> Trial:
    return Trial("trial", inputs, (), "a trial", attributes or {}, frozenset(constants))


def clip_question(*numbers: float, **changes: Any) -> Question:
    bounds = {"min": np.array(-1, F), "max": np.array(1, F)}
    return question("clip", trial({"input": np.array(numbers or (-2, 0.5, 3), F), **bounds}, **changes))


def conv_question(*constants: str) -> Question:
    """Small integers, whose sums are the same in every order."""
    X = np.arange(2 * 2 * 4 * 5, dtype=F).reshape(2, 2, 4, 5)
    W = np.arange(3 * 2 * 2 * 2, dtype=F).reshape(3, 2, 2, 2) - 5
    return question("conv", trial({"X": X, "W": W, "B": np.array([1, -2, 3], F)}, ATTRIBUTES, *constants))


def deed(name: str) -> Question:
    """A question that makes Evil do something; its inputs are echoed by other runtimes."""
    return Question("clip", {"input": np.array([name], object)}, {}, {}, {})


def echo(**arrays: Array) -> Question:
    return Question("where", arrays, {}, {}, {})


def every_type() -> dict[str, Array]:
    """Arrays of every type that can be sent, of odd bits and odd shapes."""
    floats: dict[Any, Array] = {
        np.float16: np.array([0x7C01, 0xFE03, 0x8000, 1, 0xFC00, 0x3C00], np.uint16),
        ml_dtypes.bfloat16: np.array([0x7F81, 0xFFC3, 0x8000, 1, 0xFF80, 0x3F80], np.uint16),
        np.float32: np.array([0x7F800001, 0xFFC00003, 0x80000000, 1, 0xFF800000, 7], np.uint32),
        np.float64: np.array([0x7FF0000000000001, 0xFFF8000000000003, 1 << 63, 1, 7, 9], np.uint64),
    }
    found = {np.dtype(kind).name: bits.view(kind) for kind, bits in floats.items()}
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        ends = np.iinfo(kind)
        found[np.dtype(kind).name] = np.array([ends.min, 0, ends.max, 1], kind).reshape(2, 1, 2)
    found["complex64"] = floats[np.float32].view(np.complex64)
    found["complex128"] = floats[np.float64].view(np.complex128)
    found["bool"] = np.array([True, False, True])
    found["strange_bool"] = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    found["string"] = np.array([["", "\0", "a\0b\0"], ["ünï", "\U0001f600", "\n"]], object)
    found["scalar"] = np.array(3, F)
    found["scalar_string"] = np.array("ä\0", object)
    found["empty"] = np.zeros((2, 0, 3), np.int16)
    found["empty_string"] = np.zeros((0,), object)
    found["transposed"] = np.arange(6, dtype=F).reshape(2, 3).T
    return found


class Evil:
    """Does what a question's text says, and echoes the inputs of every other question."""

    name = "evil\x1b[31m"
    version = "6.6"

    def supports(self, question: Question) -> bool:
        return question.operator != "xla.collapse"

    def run(self, question: Question) -> Sequence[Any]:
        if question.operator == "clip" and question.inputs["input"].dtype == np.dtype(object):
            done: Sequence[Any] = DEEDS[str(question.inputs["input"][0])]()
            return done
        return [*question.inputs.values(), *question.constants.values()]


EVIL_MADE = Evil()


class CannotBeMade:
    def __init__(self, way: str = "raise") -> None:
        if way == "raise":
            raise KeyError("no such thing")
        if way == "unprintable":
            raise UnprintableError
        if way == "hang":
            time.sleep(1000)
        sys.stderr.write("a last word\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGSEGV)


class OnlyRuns:
    """Almost a runtime."""

    version = "1"

    def run(self, question: Question) -> Sequence[Any]:
        return []


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("the text of an error is another error")


class FakeBackend:
    """A backend in the sense of ONNX that knows one model."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU") -> "FakeBackend":
        assert [node.op_type for node in model.graph.node] == ["Clip"]
        assert device == "CPU"
        return cls()

    def run(self, inputs: Any) -> tuple[Any, ...]:
        assert type(inputs) is list
        return (inputs[0] + inputs[2],)


class BareBackend(FakeBackend):
    """Gives its output itself."""

    def run(self, inputs: Any) -> Any:
        return inputs[0]


def _raise(error: BaseException) -> Any:
    raise error


def _kill(number: int) -> Any:
    os.kill(os.getpid(), number)


def _eat() -> Any:
    eaten = []
    while True:
        eaten.append(bytearray(2**24))


def _die_of_hunger() -> Any:
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def _print_rubbish() -> Any:
    print("rubbish", flush=True)  # noqa: T201  which is what libraries do
    os.write(1, b"snxf" + bytes(range(256)) * 4096)
    return [np.array(1, F)]


def _flood_stderr() -> Any:
    for _ in range(64):
        os.write(2, b"x" * 2**16 + b"\n")
    return [np.array(1, F)]


def _flood_and_die() -> Any:
    _flood_stderr()
    os.write(2, b"a last \x1b[31mword\n")
    os.abort()


def _fork_and_come_back() -> Any:
    os.fork()
    return [np.array(os.getpid(), np.int64)]


def _fork_and_look() -> Any:
    """Which of the pipes a forked process has."""
    forked = os.fork()
    if not forked:
        os._exit(sum(_is_open(pipe) << bit for bit, pipe in enumerate(_pipes())))
    return [np.array(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]), np.int64)]


def _is_open(pipe: int) -> bool:
    try:
        os.fstat(pipe)
    except OSError:
        return False
    return True


def _fork_and_reopen() -> Any:
    """What a forked process writes that comes back with a file of its own in the place of the pipe."""
    with TemporaryFile() as file:
        forked = os.fork()
        if not forked:
            os.dup2(file.fileno(), _pipes()[1])
            return [np.array(1, F)]
        os.waitpid(forked, 0)
        return [np.array(os.fstat(file.fileno()).st_size, np.int64)]


def _fork_and_stay() -> Any:
    forked = os.fork()
    if not forked:
        time.sleep(1000)
    return [np.array([os.getpid(), forked], np.int64)]


def _detach() -> Any:
    """A daemon: its parent is gone, it has a session of its own, and no pipe of this process."""
    receive, send = os.pipe()
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.write(send, str(os.getpid()).encode())
            os.closerange(0, 64)
            time.sleep(1000)
        os._exit(0)
    os.wait()
    return [np.array(int(os.read(receive, 20)), np.int64)]


def _detach_and_die() -> Any:
    os.write(2, f"{_detach()[0]}\n".encode())
    os.abort()


def _litter() -> Any:
    Path("litter").write_text("of mine", encoding="ascii")
    return [np.array(os.getcwd(), object)]


def _write_without_end() -> Any:
    with open("large", "wb") as file:
        file.truncate(2**40)


def _fork_unseen_and_die() -> Any:
    """A process that has all pipes outlives this one, for a while."""
    if ctypes.CDLL(None).fork() == 0:
        time.sleep(1000)
    os.abort()


def _pipes() -> list[int]:
    pipes: list[int] = json.loads(sys.argv[1])["pipes"]
    return pipes


def _close_pipes() -> Any:
    for pipe in _pipes()[:2]:
        os.close(pipe)
    time.sleep(1000)


def _send(message: bytes) -> Callable[[], Any]:
    def lie() -> Any:
        os.write(_pipes()[1], message)
        time.sleep(1000)

    return lie


# What comes of a message when it is taken for the answer to question 1.
HONEST = {"number": 1, "kind": "outputs", "error": "", "message": "", "code": None, "said": [], "outputs": []}
_FLOATS = {"dtype": "float", "shape": [2], "bytes": 8}


def _with(content: bytes = b"", **changes: Any) -> bytes:
    return frame({**HONEST, **changes}, [content])


LIES: dict[str, bytes] = {
    "other bytes": b"HTTP/1.1 200 OK\r\n\r\n",
    "endless header": b"snxf\xff\xff\xff\xff" + bytes(8),
    "endless arrays": b"snxf\x02\0\0\0" + b"\xff" * 8,
    "no json": b"snxf\x02\0\0\0" + bytes(8) + b"{]",
    "deep json": frame({})[:4] + (90_000).to_bytes(4, "little") + bytes(8) + b"[" * 90_000,
    "no object": b"snxf\x02\0\0\0" + bytes(8) + b"[]",
    "nothing": frame({}),
    "another number": _with(number=7),
    "a truth for a number": _with(number=True),
    "unknown kind": _with(kind="praised"),
    "a list for a kind": _with(kind=[]),
    "no code": _with(kind="crashed", code="9"),
    "lines that are none": _with(said=[1]),
    "outputs of a refusal": _with(b"\0" * 8, kind="refused", outputs=[_FLOATS]),
    "unknown type": _with(b"\0" * 8, outputs=[{**_FLOATS, "dtype": "object"}]),
    "real": _with(b"\0" * 8, outputs=[{**_FLOATS, "dtype": "real"}]),
    "negative size": _with(b"\0" * 8, outputs=[{**_FLOATS, "shape": [-2]}]),
    "size that is none": _with(b"\0" * 8, outputs=[{**_FLOATS, "shape": [2.0]}]),
    "too many axes": _with(b"\0" * 4, outputs=[{**_FLOATS, "shape": [1] * 65, "bytes": 4}]),
    "too large a shape": _with(b"\0" * 8, outputs=[{**_FLOATS, "shape": [2**40]}]),
    "impossible shape": _with(outputs=[{**_FLOATS, "shape": [0, 2**62, 2**62], "bytes": 0}]),
    "too few bytes": _with(b"\0" * 7, outputs=[_FLOATS]),
    "too many bytes": _with(b"\0" * 9, outputs=[_FLOATS]),
    "bytes beyond": _with(b"\0" * 8, outputs=[{**_FLOATS, "bytes": 2**40}]),
    "wrong bytes": _with(b"\0" * 9, outputs=[{**_FLOATS, "bytes": 9}]),
    "strings too short": _with(b"\x09\0\0\0a", outputs=[{"dtype": "string", "shape": [1], "bytes": 5}]),
    "strings without lengths": _with(b"\0", outputs=[{"dtype": "string", "shape": [1], "bytes": 1}]),
    "no utf-8": _with(b"\x01\0\0\0\xff", outputs=[{"dtype": "string", "shape": [1], "bytes": 5}]),
    "too many outputs": _with(outputs=[{"foreign": "x"}] * 300),
    "an output that is none": _with(outputs=["x"]),
    "a description that is none": _with(outputs=[{"foreign": 3}]),
}

DEEDS: dict[str, Callable[[], Any]] = {
    "abort": os.abort,
    "segfault": lambda: _kill(signal.SIGSEGV),
    "exit": lambda: os._exit(3),
    "sys.exit": lambda: sys.exit(4),
    "hang": lambda: time.sleep(1000),
    "spin": lambda: sum(itertools.repeat(0)),
    "eat": _eat,
    "die of hunger": _die_of_hunger,
    "say that memory is out": lambda: _raise(RuntimeError("Failed to allocate memory for 7 bytes")),
    "print rubbish": _print_rubbish,
    "flood stderr": _flood_stderr,
    "flood and die": _flood_and_die,
    "raise": lambda: _raise(ValueError("bad \x1b[31m news\n" + "x" * 10_000)),
    "raise what cannot be printed": lambda: _raise(UnprintableError()),
    "wrong type": lambda: [np.array([1.0])],
    "wrong shape": lambda: [np.zeros((7, 1), F)],
    "no outputs": list,
    "three outputs": lambda: [np.array(number, F) for number in range(3)],
    "endless outputs": lambda: itertools.repeat(np.array(1, F)),
    "a vast view": lambda: [np.broadcast_to(np.array(1, F), (2**20, 2**20))],
    "objects": lambda: [np.array([None, 1], object)],
    "a list": lambda: [[1.0, 2.0]],
    "float8": lambda: [np.zeros(3, ml_dtypes.float8_e4m3fn)],
    "nothing at all": lambda: None,
    "a bare array": lambda: np.zeros(300, F),
    "a bare number": lambda: F(1),
    "text": lambda: "text",
    "outputs by name": lambda: {"y": np.array(1, F)},
    "a generator": lambda: (np.array(1, F) for _ in range(1)),
    "a tuple": lambda: (np.array(1, F),),
    "fork and come back": _fork_and_come_back,
    "fork and look": _fork_and_look,
    "fork and reopen": _fork_and_reopen,
    "fork and stay": _fork_and_stay,
    "fork unseen and die": _fork_unseen_and_die,
    "detach": _detach,
    "detach and die": _detach_and_die,
    "litter": _litter,
    "write without end": _write_without_end,
    "close pipes": _close_pipes,
    **{name: _send(message) for name, message in LIES.items()},
}


def alive(process: int) -> bool:
    """Tell whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return about.rpartition(")")[2].split()[0] not in ("Z", "X")


def ends(process: int, seconds: float = 10.0) -> bool:
    """Tell whether a process ends within so many seconds."""
    deadline = time.monotonic() + seconds
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(process)
