"""Messages between a parent and its child: a header in JSON and the bytes of arrays.

Nothing in a message is executed, and a message that is not what it should be is refused: the other side may
be a process whose memory something has overwritten.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from sonnx.conformance.runtimes.packing import MOST_AXES, Packed, PackingError, pack, unpack
from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators.catalogue import operator as operator_named

# What a message begins with: these bytes, the length of the header, the length of the arrays.
_MAGIC = b"snxf"
_PREFIX = struct.Struct("<4sIQ")
MOST_HEADER = 2**20
MOST_BYTES = 2**28
MOST_TENSORS = 256
_TYPES = {dtype.value: dtype for dtype in ALL if dtype is not DType.REAL}

Header = dict[str, Any]


class FrameError(ValueError):
    """A message that is none; the text says why."""


class TooLargeError(ValueError):
    """What was to be sent is larger than a message may be."""


def frame(header: Mapping[str, Any], arrays: Sequence[bytes] = ()) -> bytes:
    """A message; raises TooLargeError beyond the limits."""
    text = json.dumps(header).encode("ascii")
    size = sum(map(len, arrays))
    if len(text) > MOST_HEADER or size > MOST_BYTES:
        raise TooLargeError(f"a message of {len(text) + size:,} bytes; {MOST_BYTES:,} are allowed")
    return b"".join([_PREFIX.pack(_MAGIC, len(text), size), text, *arrays])


class Reader:
    """Puts messages together from whatever pieces arrive."""

    def __init__(self) -> None:
        """Nothing has arrived."""
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take what has arrived."""
        self._buffer += piece

    def take(self) -> tuple[Header, bytes] | None:
        """The next message, if all of it is there; raises FrameError where none can come of it."""
        if len(self._buffer) < _PREFIX.size:
            return None
        magic, length, size = _PREFIX.unpack_from(self._buffer)
        if magic != _MAGIC or length > MOST_HEADER or size > MOST_BYTES:
            raise FrameError(f"a message does not begin with {bytes(self._buffer[: _PREFIX.size])!r}")
        start = _PREFIX.size + length
        if len(self._buffer) < start + size:
            return None
        text = bytes(self._buffer[_PREFIX.size : start])
        content = bytes(self._buffer[start : start + size])
        del self._buffer[: start + size]
        return _header(text), content


def _header(text: bytes) -> Header:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise FrameError("a header is not in JSON") from None
    if not isinstance(found, dict):
        raise FrameError("a header is no object")
    return found


def question_frame(number: int, question: Question) -> bytes:
    """A question; `number` comes back with its answer."""
    groups = {
        group: [(name, pack(array)) for name, array in given.items()]
        for group, given in (("inputs", question.inputs), ("constants", question.constants))
    }
    described = {
        group: [{"name": name, **_described(packed)} for name, packed in listed]
        for group, listed in groups.items()
    }
    header = {
        "number": number,
        "operator": question.operator,
        "attributes": dict(question.attributes),
        "outputs": [
            {"name": name, "dtype": kind.dtype, "shape": kind.sizes}
            for name, kind in question.outputs.items()
        ],
        **described,
    }
    return frame(header, [packed.content for listed in groups.values() for _, packed in listed])


def question_of(header: Header, content: bytes) -> tuple[int, Question]:
    """The number of a question, and the question."""
    entries = {group: listed(header, group) for group in ("inputs", "constants", "outputs")}
    split = Splitter(content)
    inputs, constants = (
        {text(entry, "name"): split.array(entry) for entry in entries[group]}
        for group in ("inputs", "constants")
    )
    split.end()
    try:
        operator = operator_named(text(header, "operator"))
    except ValueError as error:
        raise FrameError(str(error)) from None
    outputs = {
        text(entry, "name"): TensorType(dtype(entry), shape(entry), dialect=operator.dialect)
        for entry in entries["outputs"]
    }
    attributes = {name: _tuples(value) for name, value in entry_of(header, "attributes", dict).items()}
    return entry_of(header, "number", int), Question(
        operator.identifier, inputs, constants, attributes, outputs
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def packed_entries(arrays: Sequence[Array | TensorType]) -> tuple[list[Header], list[bytes]]:
    """Arrays for a header, and their bytes; of what is no array of a known type the description alone.

    Raises TooLargeError before anything so large is made.
    """
    entries: list[Header] = []
    contents: list[bytes] = []
    if len(arrays) > MOST_TENSORS:
        raise TooLargeError(f"{len(arrays)} outputs; {MOST_TENSORS} are allowed")
    for array in arrays:
        if isinstance(array, TensorType):
            entries.append({"foreign": array.foreign or "?", "shape": array.sizes})
            continue
        # A view may stand for far more elements than there are.
        if array.nbytes > MOST_BYTES:
            raise TooLargeError(f"an output of {array.nbytes:,} bytes; {MOST_BYTES:,} are allowed")
        packed = pack(array)
        entries.append(_described(packed))
        contents.append(packed.content)
    return entries, contents


def unpacked_entries(header: Header, content: bytes, longest: int) -> tuple[Array | TensorType, ...]:
    """The arrays of a message; descriptions are cut after so many characters."""
    split = Splitter(content)
    found: list[Array | TensorType] = []
    for entry in listed(header, "outputs"):
        if "foreign" in entry:
            sizes = None if entry.get("shape") is None else shape(entry)
            found.append(TensorType(None, sizes, foreign=text(entry, "foreign")[:longest]))
        else:
            found.append(split.array(entry))
    split.end()
    return tuple(found)


def _described(packed: Packed) -> Header:
    return {"dtype": packed.dtype, "shape": packed.shape, "bytes": len(packed.content)}


class Splitter:
    """Cuts the bytes of a message into arrays."""

    def __init__(self, content: bytes) -> None:
        """Begin at the first byte."""
        self._content = content
        self._at = 0

    def array(self, entry: Header) -> Array:
        """The next array, which must be as its entry says."""
        kind, sizes, size = dtype(entry), shape(entry), entry_of(entry, "bytes", int)
        wanted = prod(sizes) * (1 if kind is DType.STRING else numpy_dtype(kind).itemsize)
        if not wanted <= size <= len(self._content) - self._at:
            raise FrameError(f"{kind}{list(sizes)} does not lie in {size} bytes")
        begin, self._at = self._at, self._at + size
        try:
            return unpack(Packed(kind, sizes, self._content[begin : self._at]))
        except PackingError as error:
            raise FrameError(str(error)) from None

    def end(self) -> None:
        """Refuse bytes that belong to no array."""
        if self._at != len(self._content):
            raise FrameError(f"{len(self._content) - self._at} bytes belong to no array")


def entry_of(header: Header, name: str, kind: type) -> Any:
    """An entry of exactly one type: a truth value is no number."""
    value = header.get(name)
    if type(value) is not kind:
        raise FrameError(f"`{name}` is no {kind.__name__}")
    return value


def text(header: Header, name: str) -> str:
    """An entry that is text."""
    found: str = entry_of(header, name, str)
    return found


def listed(header: Header, name: str) -> list[Header]:
    """An entry that is a list of objects."""
    found: list[Header] = entry_of(header, name, list)
    if len(found) > MOST_TENSORS or not all(type(entry) is dict for entry in found):
        raise FrameError(f"`{name}` is no list of at most {MOST_TENSORS} objects")
    return found


def dtype(entry: Header) -> DType:
    """The element type of an entry."""
    name = text(entry, "dtype")
    if name not in _TYPES:
        raise FrameError(f"there is no element type {name[:40]!r}")
    return _TYPES[name]


def shape(entry: Header) -> tuple[int, ...]:
    """The shape of an entry."""
    sizes = entry_of(entry, "shape", list)
    if len(sizes) > MOST_AXES or not all(type(size) is int and 0 <= size < 2**63 for size in sizes):
        raise FrameError("`shape` is no list of sizes")
    return tuple(sizes)
