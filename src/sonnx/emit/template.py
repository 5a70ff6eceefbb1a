"""C templates: `$name` stands for a text; `//if NAME`, `//else`, `//end` are lines that ask for a flag."""

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

_MARK = re.compile(r"//(if|else|end)(?: (\w+))?")
_HERE = Path(__file__).parent / "c"


def own(name: str) -> str:
    """A template of the emitter itself."""
    return (_HERE / name).read_text(encoding="utf-8")


def shared(name: str) -> str:
    """C that several operators need, as it is."""
    return (files("sonnx.operators") / "shared" / name).read_text(encoding="utf-8")


def fill(text: str, values: Mapping[str, str | int], flags: Mapping[str, bool] | None = None) -> str:
    """Fill a template in; a name or flag that nobody gives is a KeyError."""
    return Template(_chosen(text, flags or {})).substitute(values)


def _chosen(text: str, flags: Mapping[str, bool]) -> str:
    """Leave out what stands under a flag that is not set, whatever is asked within."""
    kept: list[str] = []
    wanted: list[bool] = []
    for line in text.split("\n"):
        mark = _MARK.fullmatch(line)
        if mark is None:
            kept += [line] if all(wanted) else []
        elif mark[1] == "if":
            wanted.append(flags[mark[2]])
        elif mark[1] == "else":
            wanted[-1] = not wanted[-1]
        else:
            wanted.pop()
    return "\n".join(kept)
