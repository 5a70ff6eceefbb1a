"""A program of anybody's, given by its command line: files in, files out."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from errno import EFBIG
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.message import DecodeError
from onnx import TensorProto

from sonnx.conformance.runtimes.answer import LONGEST_NAME, last_lines, seconds_text, shown
from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset
from sonnx.conformance.runtimes.runtime import LateError, ProgramError, UnavailableError
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
_LONGEST_SAID = 2**14
# So scripts report the signal that has ended what they started: 128 and its number.
_SIGNALLED = range(129, 128 + 65)


class Command:
    """A command line such as `run {model} {inputs} {outputs}`, started anew for every question.

    `{model}` becomes the path of the ONNX file; `{inputs}` that of a folder with input_0.pb, input_1.pb, ...,
    each a TensorProto; `{outputs}` that of an empty folder in which output_0.pb, ... are looked for. There is
    no shell. An exit code other than 0 is a refusal; to be ended by a signal is a crash. It may take so many
    seconds; without a limit of its own, it is for the one who asks to end it.
    """

    takes_models = True

    def __init__(self, line: str = "", seconds: float | None = None, opset: int = NEWEST_OPSET) -> None:
        """Read the command line, and look whether the program is there; nothing is started."""
        self._words = _words(line)
        if shutil.which(self._words[0]) is None:
            raise UnavailableError(f"there is no program {self._words[0]!r}: install it, or give its path")
        # Before a script there may be options of what interprets it.
        scripts = [Path(word) for word in self._words[1:] if Path(word).is_file()]
        self._files = (Path(str(shutil.which(self._words[0]))), *scripts[:1])
        self._seconds, self._opset = seconds, require_opset(opset)

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
        return question.has_model

    def run(self, question: Question) -> Sequence[Any]:
        """Start the program on the model and its inputs; answers what it has written."""
        with TemporaryDirectory(prefix="sonnx-command-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            places = {"model": folder / "model.onnx", "inputs": folder / "in", "outputs": folder / "out"}
            places["model"].write_bytes(model_bytes(question, self._opset))
            places["inputs"].mkdir()
            places["outputs"].mkdir()
            for number, (operand, array) in enumerate(question.inputs.items()):
                (places["inputs"] / f"input_{number}.pb").write_bytes(tensor_bytes(operand, array))
            self._start(places)
            return list(read_outputs(places["outputs"]))

    def _start(self, places: Mapping[str, Path]) -> None:
        line = [_PLACE.sub(lambda found: str(places[found[1]]), word) for word in self._words]
        said = places["model"].with_name("said")
        try:
            with said.open("w+b") as file:
                # It stays among the processes of this one: whoever ends those ends it too.
                done = subprocess.run(
                    line,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=file,
                    timeout=self._seconds,
                    check=False,
                )
                file.seek(max(0, file.seek(0, 2) - _LONGEST_SAID))
                words = _without_chance(file.read(), places)
        except subprocess.TimeoutExpired:
            raise LateError(f"{self.name} did not end within {seconds_text(self._seconds or 0)}") from None
        except OSError as error:
            raise UnavailableError(f"{self.name} cannot be started: {error.strerror}") from None
        code = done.returncode
        if code in _SIGNALLED:
            code = 128 - code
        if code < 0:
            raise ProgramError(code, words)
        if code:
            last = " / ".join(last_lines(words)) or "it printed nothing to its standard error"
            raise RuntimeError(f"exit code {code}: {last}")


def _without_chance(said: bytes, places: Mapping[str, Path]) -> bytes:
    """What a program said, with the places of its files as the command line has them.

    Their names are drawn anew for every question: what is said twice would not be the same.
    """
    folder = places["model"].parent
    named = [(path, f"{{{name}}}") for name, path in places.items()]
    named += [(folder, "{folder}"), (Path(os.environ.get("TMPDIR") or folder), "{temporary}")]
    for path, name in named:
        for spelt in (os.path.realpath(path), path):
            said = said.replace(os.fsencode(spelt), name.encode())
    return said


def _words(line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise ValueError(f"the command line cannot be read ({error}): {line[:200]!r}") from None
    found = [name for word in words for name in _PLACE.findall(word)]
    unknown = [name for name in found if name not in _PLACES]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in _PLACES)
        raise ValueError(f"there is no {{{unknown[0]}}} in a command line; there are {known}")
    if not words or not {"model", "outputs"} <= set(found):
        raise ValueError("a command line names a program, {model} and {outputs}, and {inputs} if need be")
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
