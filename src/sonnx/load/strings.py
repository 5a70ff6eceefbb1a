"""Text out of a file that may hold anything, and back."""

from collections.abc import Iterable
from typing import Any

from sonnx.model.graph import NO_NOTES, Notes

# Characters of a text that a message shows.
_LONGEST_TEXT = 80


def text_of(value: str | bytes) -> str:
    """A name; bytes that are no UTF-8 become lone surrogates, which no rule takes for printable."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def pairs_of(entries: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """Entries of a list of names and values."""
    return tuple((text_of(entry.key), text_of(entry.value)) for entry in entries)


def notes_of(proto: Any) -> Notes:
    """What a part of a model says to people."""
    if not proto.doc_string and not proto.metadata_props:
        return NO_NOTES
    return Notes(text_of(proto.doc_string), pairs_of(proto.metadata_props))


def write_notes(proto: Any, notes: Notes) -> None:
    """Write them back."""
    if notes.documentation:
        proto.doc_string = notes.documentation
    write_pairs(proto.metadata_props, notes.metadata)


def write_pairs(entries: Any, pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and values."""
    for key, value in pairs:
        entries.add(key=key, value=value)


def quoted(text: str) -> str:
    """Text for a message: in quotes, unprintable characters as escapes, cut where it is long."""
    return repr(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}...")


def path_text(path: object) -> str:
    """A path for a message; as the user wrote it, unless that could not be printed."""
    text = str(path)
    return text if text.isprintable() else repr(text)
