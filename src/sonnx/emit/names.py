"""Names of a model in C: as identifiers, and as words in comments, strings and tables.

Names are whatever the author of a file wrote. Nothing of them may end a comment, a string or a line, form a
trigraph, or turn the direction of text.
"""

import re
from string import ascii_letters, digits

LONGEST = 40
_LONGEST_SHOWN = 100
# Without * ? \ " ` and |: no comment, string or table can end in it, and no trigraph begin.
_SHOWN = frozenset(ascii_letters + digits + " _./:;,()[]{}=+-#@$%&^~<>!'")
# Beginnings that C's library keeps for itself, now or later, and those that emitted names have.
_RESERVED = re.compile(r"(str|mem|wcs|is|to|fe|atomic)[a-z]|(t|in|out|node|buffer|float|half)(_|$)|\d|$")


def word(name: str) -> str:
    """Letters, digits and single underscores, to stand behind a prefix; perhaps nothing."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name[: 4 * LONGEST]).strip("_")[:LONGEST].strip("_")


def prefix(name: str) -> str:
    """What begins every external name of a project."""
    found = word(name)[:20].strip("_")
    return f"model_{found}".strip("_")[:20].strip("_") if _RESERVED.match(found) else found


def shown(name: str) -> str:
    """A name as it may stand in a comment, a string or a table."""
    cut = name[:_LONGEST_SHOWN]
    text = "".join(c if c in _SHOWN else f"<U+{ord(c):04X}>" for c in cut)
    return text if len(name) <= _LONGEST_SHOWN else f"{text}..."
