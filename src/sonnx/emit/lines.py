"""Lines of emitted C that are too long to be read: broken where the text of C and of ACSL may be."""

import re
from collections.abc import Iterator

WIDTH = 110
_STEP = " " * 4
# Where a line may be broken, the best places first; what stands before the mark stays on the line.
_PLACES = tuple(map(re.compile, (r"(?<= ==>) ", r" (?=[?:] )", r" (?=(?:&&|\|\|) )", r"(?<=,) ")))
# What is told of the model in a comment stays as it is, and so do heads of functions and directives.
_WHOLE = re.compile(r"\S|.*`|\s*/\*(?!@)|\s*#")


def narrowed(text: str) -> str:
    """The same C and ACSL on lines of at most 110 characters, as far as they can be broken."""
    return "\n".join(part for line in text.split("\n") for part in _narrowed(line))


def _narrowed(line: str) -> Iterator[str]:
    if len(line) <= WIDTH or _WHOLE.match(line):
        yield line
        return
    pad = line[: len(line) - len(line.lstrip())]
    # An annotation that ends with its line cannot be broken; the other kind can.
    rest = re.sub(r"^(\s*)//@ (.*)$", r"\1/*@ \2 */", line)
    while len(rest) > WIDTH and (place := _best(rest, len(pad) + len(_STEP))):
        yield rest[:place]
        rest = f"{pad}{_STEP}{rest[place:].lstrip()}"
    yield rest


def _best(line: str, least: int) -> int:
    """Where to break: in as few brackets as possible, then at the best mark, then as late as possible."""
    deep = _depths(line)
    found = [
        (-deep[each.start()], -rank, each.start())
        for rank, place in enumerate(_PLACES)
        for each in place.finditer(line, least, WIDTH + 1)
    ]
    return max(found)[-1] if found else 0


def _depths(line: str) -> list[int]:
    """How many brackets are open before each character."""
    found, depth = [], 0
    for character in line:
        found.append(depth)
        depth += (character in "([") - (character in ")]")
    return found
