"""Text out of a file that may hold anything."""


def text_of(value: str | bytes) -> str:
    """A name; bytes that are no UTF-8 become lone surrogates, which no rule takes for printable."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def quoted(text: str) -> str:
    """Text for a message, cut where it is long; unprintable characters are shown as escapes by the report."""
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
