"""A program of anybody's, given by its command line: files in, files out."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from errno import EFBIG
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from google.protobuf.message import DecodeError
from onnx import TensorProto

from sonnx.conformance.runtimes.answer import LONGEST_NAME, last_lines, shown
from sonnx.conformance.runtimes.program import EndedError, RunningProgram
from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset
from sonnx.conformance.runtimes.runtime import LateError, NoAnswerError, ProgramError, UnavailableError
from sonnx.load.files import open_plain
from sonnx.load.limits import Budget, Limits
from sonnx.load.tensors import constant_of, write_tensor
from sonnx.model.graph import Constant
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, describe

_PLACES = ("model", "inputs", "outputs")
_PLACE = re.compile(r"\{(\w*)\}")
_MOST_BYTES = 2**28
_MOST_OUTPUTS = 256
# How a program that stays alive begins its answer.
_ANSWERS = ("ok", "refused")
# So scripts report the signal that has ended what they started: 128 and its number.
_SIGNALLED = range(129, 128 + 65)
# So long a program that is asked nothing may take to end; whoever asks may end all of it before.
_TO_START = 10.0


class Command:
    """A command line such as `run {model} {inputs} {outputs}`, started anew for every question.

    `{model}` becomes the path of the ONNX file; `{inputs}` that of a folder with input_0.pb, input_1.pb, ...,
    each a TensorProto; `{outputs}` that of an empty folder in which output_0.pb, ... are looked for;
    `{here}` that of the current folder. There is no shell. An exit code other than 0 is a refusal; to be
    ended by a signal is a crash. It may take so many seconds; without a limit of its own, it is for the one
    who asks to end it.

    A program that stays `alive` is started once. For every question it reads the three paths as a line, with
    tabs between them, and answers with the line `ok` or `refused` and why. It ends when there are no more
    lines; to end before is a crash, and it is started anew.
    """

    takes_models = True

    def __init__(
        self, line: str = "", seconds: float | None = None, opset: int = NEWEST_OPSET, alive: bool = False
    ) -> None:
        """Read the command line, and look whether the program is there; nothing is started."""
        if type(alive) is not bool:
            raise ValueError(f"`alive` is true or false, not {alive!r}")
        typed = _words(line, alive=alive)
        found = shutil.which(typed[0])
        if found is None:
            raise UnavailableError(f"there is no program {typed[0]!r}: install it, or give its path")
        # It is started in another folder than the one in which its line was typed.
        program, self._here = os.path.abspath(found), os.getcwd()
        self._words = (program, *map(_from_here, typed[1:]))
        self._typed = tuple(zip(self._words, typed, strict=True))
        # Before a script there may be options of what interprets it.
        scripts = [Path(word) for word in self._words[1:] if Path(word).is_file()]
        self._files = (Path(program), *scripts[:1])
        self._seconds, self._opset = seconds, require_opset(opset)
        self._alive = alive
        self._program: tuple[RunningProgram, Path] | None = None
        # Whether the program is known to start, and why it cannot.
        self._is_there, self._absent = False, ""

    @property
    def name(self) -> str:
        """The program, without its folder; of what interprets a script, that too."""
        return " ".join(path.name for path in self._files)

    @property
    def version(self) -> str:
        """How the last of these files begins, digested: all that can be told of a program from outside."""
        with self._files[-1].open("rb") as file:
            return f"sha256 {sha256(file.read(_MOST_BYTES)).hexdigest()[:16]}"

    def supports(self, question: Question) -> bool:
        """Tell whether there is a model of it."""
        return question.has_model_in(self._opset)

    def run(self, question: Question) -> Sequence[Any]:
        """Have the program execute the model on its inputs; answers what it has written."""
        with TemporaryDirectory(prefix="sonnx-command-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            places = {"model": folder / "model.onnx", "inputs": folder / "in", "outputs": folder / "out"}
            places["model"].write_bytes(model_bytes(question, self._opset))
            places["inputs"].mkdir()
            places["outputs"].mkdir()
            for number, (operand, array) in enumerate(question.inputs.items()):
                (places["inputs"] / f"input_{number}.pb").write_bytes(tensor_bytes(operand, array))
            if self._alive:
                self._ask(places)
            else:
                self._run(places)
            return list(read_outputs(places["outputs"]))

    def _run(self, places: Mapping[str, Path]) -> None:
        """Start the program for one question, and wait for its end."""
        folder = places["model"].with_name("work")
        folder.mkdir()
        program = self._start(places, folder)
        try:
            code = _signalled(program.code(self._seconds))
            words = self._without_chance(program.said, places, folder)
        except LateError as error:
            raise LateError(f"{self.name} {error}") from None
        finally:
            program.close()
        if code < 0:
            raise ProgramError(code, words)
        if code:
            last = " / ".join(last_lines(words)) or "it printed nothing to its standard error"
            raise RuntimeError(f"exit code {code}: {last}")

    def _ask(self, places: Mapping[str, Path]) -> None:
        """Ask the program that stays alive, which is started where there is none."""
        if self._absent:
            raise UnavailableError(self._absent)
        if self._program is None:
            folder = Path(mkdtemp(prefix="sonnx-work-"))
            self._program = self._start({}, folder), folder
        program, folder = self._program
        wanted = "where the line `ok` or `refused` and why is wanted"
        try:
            answer = program.ask("\t".join(str(places[name]) for name in _PLACES), self._seconds)
        except EndedError:
            code = _signalled(program.last_code())
            said = self._without_chance(self._forgotten(), places, folder)
            if code > 0 and not self._is_there:
                self._require_startable(places)
            raise ProgramError(code, said) from None
        except LateError as error:
            self._forgotten()
            raise LateError(f"{self.name} {error}") from None
        except ValueError as error:
            self._forgotten()
            raise NoAnswerError(f"{error}, {wanted}") from None
        word, _, why = answer.strip().partition(" ")
        if word not in _ANSWERS:
            self._forgotten()
            raise NoAnswerError(f"it answered {shown(answer, 80)!r}, {wanted}")
        self._is_there = True
        if word == "refused":
            raise RuntimeError(self._without_chance(why.encode(), places, folder).decode())

    def _require_startable(self, places: Mapping[str, Path]) -> None:
        """Start a program that has never answered without a question; raises UnavailableError where it fails.

        One that is there ends well when there are no lines; then it was the question that ended it.
        """
        with TemporaryDirectory(prefix="sonnx-work-", ignore_cleanup_errors=True) as name:
            program = self._start({}, Path(name))
            try:
                code = program.code_unasked(_TO_START if self._seconds is None else self._seconds)
                words = self._without_chance(program.said, places, Path(name))
            except LateError:
                self._is_there = True  # it runs; nobody waits for that again
                return
            finally:
                program.close()
        if _signalled(code) > 0:
            last = "".join(last_lines(words)[-1:]) or "it printed nothing to its standard error"
            self._absent = f"{self.name} cannot be started: exit code {code} before any question: {last}"
            raise UnavailableError(self._absent)
        self._is_there = True

    def _forgotten(self) -> bytes:
        """End the program, of which nobody knows what it would say next; answers what it printed last."""
        assert self._program is not None
        (program, folder), self._program = self._program, None
        program.close()
        shutil.rmtree(folder, ignore_errors=True)
        return program.said

    def _start(self, places: Mapping[str, Path], folder: Path) -> RunningProgram:
        known = {"here": self._here, **places}
        line = [_PLACE.sub(lambda found: str(known[found[1]]), word) for word in self._words]
        # Whoever starts Python with -m means a module of the current folder.
        modules = [os.environ.get("PYTHONPATH", ""), self._here]
        environment = {
            **os.environ,
            "PWD": os.fspath(folder),
            "PYTHONPATH": os.pathsep.join(filter(None, modules)),
        }
        try:
            return RunningProgram(line, folder, environment, talks=self._alive)
        except OSError as error:
            raise UnavailableError(f"{self.name} cannot be started: {error.strerror}") from None

    def _without_chance(self, said: bytes, places: Mapping[str, Path], work: Path) -> bytes:
        """What a program said, with the places of its files as the command line has them.

        Their names are drawn anew for every question: what is said twice would not be the same.
        """
        folder = places["model"].parent
        named = [(os.fspath(path), f"{{{name}}}") for name, path in places.items()]
        named += [(os.fspath(work), "{work}"), (os.fspath(folder), "{folder}")]
        named += [(os.environ.get("TMPDIR") or os.fspath(folder), "{temporary}")]
        named += [pair for pair in self._typed if pair[0] != pair[1]]
        for path, name in named:
            for spelt in (os.path.realpath(path) if os.path.isabs(path) else path, path):
                said = said.replace(os.fsencode(spelt), name.encode("utf-8", "surrogateescape"))
        return said


def _signalled(code: int) -> int:
    return 128 - code if code in _SIGNALLED else code


def _from_here(word: str) -> str:
    """A word of a command line, such as `runner.py` or `--net=../net.bin`, that holds in any folder.

    What names no file and does not look like one is a word and stays so.
    """
    option, equals, path = word.partition("=") if word.startswith("-") else ("", "", word)
    looks = os.sep in path or path in (os.curdir, os.pardir) or Path(path).suffix
    if not path or not looks or _PLACE.search(path) or not os.path.exists(path):
        return word
    return f"{option}{equals}{os.path.abspath(path)}"


def _words(line: str, *, alive: bool) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise ValueError(f"the command line cannot be read ({error}): {line[:200]!r}") from None
    found = [name for word in words for name in _PLACE.findall(word)]
    unknown = [name for name in found if name not in (*_PLACES, "here")]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in (*_PLACES, "here"))
        raise ValueError(f"there is no {{{unknown[0]}}} in a command line; there are {known}")
    if alive and words:
        if not set(found) <= {"here"}:
            raise ValueError("a program that stays alive reads its paths: leave out {model} and the others")
        return words
    if not words or not {"model", "outputs"} <= set(found):
        raise ValueError(
            "a command line names a program, {model} and {outputs}, and {inputs} if need be; "
            "with --alive the program alone"
        )
    return words


def tensor_bytes(name: str, array: Array) -> bytes:
    """An array as a TensorProto, every bit of it."""
    proto = TensorProto()
    write_tensor(proto, Constant(name, describe(array)[0], array))
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def read_outputs(folder: Path) -> Iterator[Any]:
    """What a program has written: arrays, or a description of what is none that is known."""
    budget = Budget(Limits(tensor_bytes=_MOST_BYTES))
    for number in range(_MOST_OUTPUTS):
        path = folder / f"output_{number}.pb"
        if not os.path.lexists(path):
            return
        yield _output(path, budget)


def _output(path: Path, budget: Budget) -> Array | TensorType:
    proto = TensorProto()
    try:
        proto.ParseFromString(_content(path))
    except OSError as error:
        return _unread(f"file that cannot be read: {error.strerror}")
    except (DecodeError, RuntimeError, ValueError):
        return TensorType(None, None, foreign="no TensorProto")
    tensor = constant_of(proto, path.parent, budget)
    if tensor.problem:
        return _unread(f"TensorProto that cannot be read: {tensor.problem}")
    return tensor.type if tensor.data is None else tensor.data


def _content(path: Path) -> bytes:
    """The bytes of a plain file that is not too large; raises OSError for any other."""
    file, size = open_plain(path)
    with file:
        if size > 2 * _MOST_BYTES:
            raise OSError(EFBIG, f"it has {size:,} bytes")
        return file.read()


def _unread(why: str) -> TensorType:
    return TensorType(None, None, foreign=shown(why, LONGEST_NAME))
