"""The page of an operator: the sections that every page has, with what its page.md says in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docs.markup import DocsError

_HEADING = re.compile(r"## (?P<name>.+)")
_HEAD = ("| ruling | what the source left open or got wrong | what holds here |", "|---|---|---|")
_NO_ERROR = (
    "Once these hold, every input has a result: there is no other error condition. In the reals alone, a run "
    "also stops where roots are too close to what they are compared with."
)
# A line with its number in the file, which problems are told by.
_Line = tuple[int, str]


@dataclass(frozen=True)
class Section:
    """A section that pages have: its heading, what stands before, after or in place of the prose."""

    heading: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()
    # Whether a page has it that says nothing in it.
    always: bool = True


@dataclass(frozen=True)
class Page:
    """The Markdown of a page, and for each of its lines the one in the file, if they are others."""

    text: str
    origins: tuple[int, ...] = ()


def assemble(title: str, written: str, figures: Sequence[str], *, formula: bool = False) -> Page:
    """Put what is written into the sections; `figures` are those to be shown somewhere; raises DocsError.

    `formula` says that the definition gives one, which is shown first where the page does not place it.

    A section that places a block itself, such as `{{ examples }}`, has it there. Sections of the operator's
    own stay behind the one that they follow.
    """
    if written.startswith("# "):
        raise DocsError("begin with the first sentence: the title is put in")
    missing = [f"{{{{ figure {name} }}}}" for name in figures if f"{{{{ figure {name} }}}}" not in written]
    lead, bodies, behind = _split(written)
    lines: list[_Line] = [(1, f"# {title}"), (1, ""), *lead]
    for section in _sections(missing, formula):
        own = bodies.get(section.heading, [])
        if own or section.always:
            lines += _filled(section, own)
        lines += behind.get(section.heading, [])
    return Page("\n".join(text for _, text in lines), tuple(number for number, _ in lines))


def _sections(figures: Sequence[str], formula: bool = False) -> tuple[Section, ...]:
    return (
        Section("Signature", before=("{{ signature }}",)),
        Section("Types", before=("{{ types }}",)),
        Section("Definition", before=("{{ formula }}",) * formula, after=tuple(figures)),
        Section("Rules", before=(_NO_ERROR, "{{ rules }}")),
        Section("Examples", after=("{{ examples }}",)),
        Section("Numerical accuracy", otherwise=("{{ accuracy }}",)),
        Section("Rulings and errata", always=False),
        Section("How real engines differ", always=False),
    )


_NAMES = frozenset(section.heading for section in _sections(()))


_Bodies = dict[str, list[_Line]]


def _split(written: str) -> tuple[list[_Line], _Bodies, _Bodies]:
    """What stands before all sections, what in each, and the operator's own sections behind each."""
    lead: list[_Line] = []
    bodies: _Bodies = {}
    behind: _Bodies = {}
    section, current = "", lead
    for number, line in enumerate(written.split("\n"), 1):
        heading = _HEADING.fullmatch(line)
        if heading and heading["name"] in _NAMES:
            section = heading["name"]
            current = bodies.setdefault(section, [])
            current.append((number, ""))
            continue
        if heading and section:
            current = behind.setdefault(section, [])
            current.append((number, ""))
        current.append((number, line))
    return lead, bodies, behind


def _filled(section: Section, own: list[_Line]) -> Iterator[_Line]:
    first, last = (own[0][0], own[-1][0]) if own else (1, 1)
    placed = {line for _, line in own}
    yield from ((first, ""), (first, f"## {section.heading}"), (first, ""))
    given = section.before if own else (*section.before, *section.otherwise)
    yield from ((first, text) for block in given if block not in placed for text in (block, ""))
    table = False
    for number, line in own:
        if line.startswith("| D-") and not table:
            table = True
            yield from ((number, head) for head in _HEAD)
        yield number, line
    yield from ((last, text) for block in section.after if block not in placed for text in ("", block))
