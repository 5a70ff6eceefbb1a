"""Hand-written pages: placeholders, formulas and identifiers in them become what they stand for."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from docs.examples import Examples
from docs.formulas import formula
from docs.markup import DocsError
from sonnx.vocabulary.rule import RULING

# What follows the name in a placeholder → the Markdown that takes its place; raises DocsError.
Block = Callable[[str], str]

_FENCE = re.compile(r" *(`{3,}|~{3,}) *(\w*)")
_PLACEHOLDER = re.compile(r"\{\{ *(\w+) *([^{}]*?) *\}\}")
_INLINE = re.compile(
    r"(?P<link>!?\[[^\]\n]*\]\([^)\n]*\))"
    r"|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<dollar>\\\$)"
    r"|(?P<escape>\\.)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<inline>(?:[^$\\]|\\.)+)\$"
    r"|(?P<lone>\$)"
    r"|(?P<braces>\{\{.*?(?:\}\}|$))"
    rf"|(?P<ruling>{RULING.pattern})",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Links:
    """Where identifiers lead, as seen from one page.

    `addresses` has one for every rule, every other label of it, and every name of the package; `owners` are
    the first words of rule identifiers, so that a rule which does not exist is noticed. `rulings` is the page
    of all rulings.
    """

    addresses: Mapping[str, str]
    owners: frozenset[str]
    rulings: str


@dataclass(frozen=True)
class Expanded:
    """The Markdown of a page, what is wrong with it, and which placeholders it had."""

    text: str
    problems: tuple[str, ...]
    used: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Piece:
    """Some lines of a page that are treated alike; `kind` is code, placeholder or text."""

    kind: str
    line: int
    text: str
    language: str = ""


@dataclass
class _State:
    """What is gathered while going through one page."""

    source: str
    problems: list[str] = field(default_factory=list)
    used: list[tuple[str, str]] = field(default_factory=list)
    anchored: set[str] = field(default_factory=set)
    origins: Sequence[int] = ()

    def complain(self, line: int, what: str) -> None:
        written = self.origins[line - 1] if self.origins else line
        self.problems.append(f"{self.source}:{written}: {what}")


def expand(
    source: str, text: str, blocks: Mapping[str, Block], links: Links, origins: Sequence[int] = ()
) -> Expanded:
    """Fill in a page; `source` is its path for messages, `origins` has the line there of each line here.

    Besides `blocks` every page may say `{{ output }}` under an example in Python or of commands: it is run,
    in a folder that all examples of the page share, and what it printed is shown.
    """
    state = _State(source, origins=origins)
    with TemporaryDirectory() as folder, chdir(folder):
        parts = list(_expanded(text, blocks, links, state))
    return Expanded("\n".join(parts) + "\n", tuple(state.problems), tuple(state.used))


def _expanded(text: str, blocks: Mapping[str, Block], links: Links, state: _State) -> Iterator[str]:
    examples = Examples()
    ready: dict[str, Block] = {**blocks, "output": examples.output}
    # The table of rulings explains them, so anchors go there and not to an earlier mention.
    tabled = frozenset(re.findall(rf"^\| *({RULING.pattern}) *\|", text, re.MULTILINE))
    for piece in _pieces(text):
        if piece.kind == "placeholder":
            yield f"\n{_placeholder(piece, ready, state)}\n"
        elif piece.kind == "code":
            examples.read(piece.language, piece.text.split("\n", 1)[1].rsplit("\n", 1)[0])
            yield piece.text
        else:
            yield _inline(piece, links, tabled, state)


def require(expanded: Expanded, source: str, names: Sequence[str]) -> Iterator[str]:
    """List the placeholders that a page must have exactly once and has not."""
    for name in names:
        times = sum(used == name for used, _ in expanded.used)
        if times != 1:
            yield f"{source}: needs {{{{ {name} }}}} once, has it {times} times"


def _pieces(text: str) -> Iterator[_Piece]:
    lines, number = text.split("\n"), 0
    while number < len(lines):
        start, fence = number, _FENCE.match(lines[number])
        if fence:
            number += 1
            while number < len(lines) and not _closes(lines[number], fence[1]):
                number += 1
            number += 1
            yield _Piece("code", start + 1, "\n".join(lines[start:number]), fence[2])
        elif _PLACEHOLDER.fullmatch(lines[start]):
            number += 1
            yield _Piece("placeholder", start + 1, lines[start])
        else:
            # Up to a blank line, so that a dollar without partner cannot swallow the page.
            while number < len(lines) and lines[number].strip() and not _special(lines[number]):
                number += 1
            number = max(number, start + 1)
            yield _Piece("text", start + 1, "\n".join(lines[start:number]))


def _closes(line: str, fence: str) -> bool:
    return line.strip().startswith(fence) and not line.strip(" " + fence[0])


def _special(line: str) -> bool:
    return _FENCE.match(line) is not None or _PLACEHOLDER.fullmatch(line) is not None


def _placeholder(piece: _Piece, blocks: Mapping[str, Block], state: _State) -> str:
    name, argument = _PLACEHOLDER.fullmatch(piece.text).groups()  # type: ignore[union-attr]  # _pieces matched
    if name not in blocks:
        known = ", ".join(sorted(blocks))
        state.complain(piece.line, f"unknown placeholder {piece.text}; there are {known}")
        return ""
    state.used.append((name, argument))
    try:
        return blocks[name](argument)
    except DocsError as error:
        state.complain(piece.line, f"{piece.text}: {error}")
        return ""


def _inline(piece: _Piece, links: Links, tabled: frozenset[str], state: _State) -> str:
    def replace(match: re.Match[str]) -> str:
        line = piece.line + piece.text.count("\n", 0, match.start())
        try:
            return _token(match, links, tabled, state)
        except DocsError as error:
            state.complain(line, str(error))
            return match[0]

    return _INLINE.sub(replace, piece.text)


def _token(match: re.Match[str], links: Links, tabled: frozenset[str], state: _State) -> str:
    match match.lastgroup:
        case "display":
            return formula(match["display"], display=True)
        case "inline":
            return formula(match["inline"])
        case "dollar":
            return "&#36;"
        case "lone":
            raise DocsError("a dollar sign without a partner; write \\$ for the sign itself")
        case "braces":
            raise DocsError(f"{match[0]} must stand on a line of its own, without indentation")
        case "code":
            return _code_link(match[0], match["code"], links)
        case "ruling":
            in_table = match.string[: match.start()].endswith("| ")
            return _ruling_link(match[0], in_table or match[0] not in tabled, links, state)
    return match[0]


def _code_link(shown: str, code: str, links: Links) -> str:
    if code in links.addresses:
        return f"[{shown}]({links.addresses[code]})"
    if re.fullmatch(r"(\w+)(\.\w+)?\.[A-Z]\d+", code) and code.partition(".")[0] in links.owners:
        raise DocsError(f"there is no rule {code}")
    return shown


def _ruling_link(name: str, may_anchor: bool, links: Links, state: _State) -> str:
    target = f"{links.rulings}#{name.lower()}"
    if not may_anchor or name in state.anchored:
        return f"[{name}]({target}){{ .ruling }}"
    state.anchored.add(name)
    return f"[{name}]({target}){{ #{name.lower()} .ruling }}"
