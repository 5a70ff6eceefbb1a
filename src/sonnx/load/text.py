"""Text out of a file that may hold anything."""

# Characters of a text that a message shows.
_LONGEST_TEXT = 80


def text_of(value: str | bytes) -> str:
    """A name; bytes that are no UTF-8 become lone surrogates, which no rule takes for printable."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def quoted(text: str) -> str:
    """Text for a message: in quotes, unprintable characters as escapes, cut where it is long."""
    return repr(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}...")


def path_text(path: object) -> str:
    """A path for a message; as the user wrote it, unless that could not be printed."""
    text = str(path)
    return text if text.isprintable() else repr(text)
