"""The number of fields in a protobuf message, counted before anything of it takes memory.

An empty message inside another takes two bytes of a file and a hundred in memory.
"""

from collections.abc import Mapping
from typing import Any

# Field number → the fields of the message there; None for anything that is no message.
Table = Mapping[int, "Table | None"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_GROUP = (3, 4)


def table_of(descriptor: Any, known: dict[str, dict[int, Any]] | None = None) -> Table:
    """The message fields of a message type; types may hold themselves."""
    known = {} if known is None else known
    if descriptor.full_name not in known:
        table = known[descriptor.full_name] = {}
        for field in descriptor.fields:
            inner = field.message_type
            table[field.number] = None if inner is None else table_of(inner, known)
    return known[descriptor.full_name]


def has_more_fields(content: bytes, table: Table, most: int) -> bool:
    """Tell whether a message has more than so many fields, those of inner messages included, or a group.

    A malformed message is counted as far as it can be read; reading it in earnest finds what is wrong.
    """
    left = most
    todo = [(0, len(content), table)]
    while todo:
        place, end, inner = todo.pop()
        while place < end:
            left -= 1
            if left < 0:
                return True
            # Nearly all tags and many lengths are one byte, which needs no call.
            tag, place = (content[place], place + 1) if content[place] < 128 else _varint(content, place)
            if tag & 7 == _BYTES:
                size, place = _varint(content, place)
                held = inner.get(tag >> 3)
                if held is not None:
                    todo.append((place, min(place + size, end), held))
                place += size
            elif tag & 7 == _VARINT:
                _, place = _varint(content, place)
            elif tag & 7 in (_FIXED64, _FIXED32):
                place += 8 if tag & 7 == _FIXED64 else 4
            elif tag & 7 in _GROUP:
                return True  # ONNX has no groups; a reader would skip this one and go on uncounted
            else:
                break  # garbage: no reader goes on
    return False


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A number and the place after it; past the end of the content there are zeros."""
    value = shift = 0
    while place < len(content):
        byte = content[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128 or shift > 63:
            break
    return value, place
