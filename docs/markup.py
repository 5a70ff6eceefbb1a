"""Text that comes from data, made safe for Markdown and HTML at once."""

import re
from collections.abc import Iterable

from sonnx.report.text import printable
from sonnx.vocabulary.rule import RULING

# Everything that Markdown or HTML could take for markup; as an entity it is a plain character for both.
_SPECIAL = re.compile(r"[&<>\"'`*_{}\[\]#|$\\~^!@=]")
_CODE = re.compile(r"`([^`]+)`")


class DocsError(Exception):
    """Something that the site needs and that is missing or wrong, said for people."""


def escape(text: str) -> str:
    """Make text safe inside a paragraph, a table cell, an element or a quoted attribute."""
    return entities(printable(text))


def entities(text: str) -> str:
    """Write every character that could be markup as an entity; control characters stay."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)


def prose(text: str) -> str:
    """Escape a sentence in which `words between backticks` are code."""
    pieces = _CODE.split(text)
    return "".join(code(piece) if n % 2 else escape(piece) for n, piece in enumerate(pieces))


def code(text: str) -> str:
    """Show a short text as code."""
    return f"<code>{escape(text)}</code>"


def block(text: str, kind: str = "") -> str:
    """Show lines as they are; `kind` is a class for the style sheet."""
    # Newlines as entities: a blank line must not end the block of raw HTML.
    lines = "&#10;".join(map(escape, text.split("\n")))
    return f'<pre class="{kind}"><code>{lines}</code></pre>' if kind else f"<pre><code>{lines}</code></pre>"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Make a Markdown table of cells that are safe already; empty cells are allowed."""
    head = list(heads)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def slug(text: str) -> str:
    """Turn a title into an anchor of lower-case letters, digits and single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def anchor(identifier: str) -> str:
    """The anchor of a rule on its page: `conv.pads.C2` has `conv-pads-c2`."""
    return identifier.lower().replace(".", "-")


def rulings_in(text: str) -> tuple[str, ...]:
    """List the rulings that a text names, each once, in the order of their first place."""
    return tuple(dict.fromkeys(RULING.findall(text)))
