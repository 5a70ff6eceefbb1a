"""What can be read off the text of a theory: its modules, its laws, and what in it would go unproved."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

# Reasons for what `loopholes` finds, by the theory's file and the line without spaces around it.
ASSUMPTIONS: dict[tuple[str, str], str] = {}

# Words by which Why3 takes something for granted, or is told to look away. `absurd` is none: Why3 asks for a
# proof that it is never reached.
_LOOPHOLES = frozenset(
    {
        *("axiom", "assume", "admit", "any", "val"),
        *("diverges", "partial", "private", "abstract", "meta"),
    }
)
_UNCHECKED = re.compile(r"\[@\s*(vc:[^\]]*?)\s*\]")
_OPENING = frozenset({"module", "theory", "scope", "match", "try", "begin"})
_BEFORE_EXPRESSIONS = frozenset({"=", ";", "in", "then", "else", ">", "(", "begin", "do", "|"})
_TOKEN = re.compile(r"[A-Za-z_][\w']*|\S")
_NAME = re.compile(r"[A-Za-z_][\w']*")
# `(*)` is an operator, or nothing inside a comment; there, a quote is nothing either.
_OUTSIDE = re.compile(r'\(\*\)|\(\*|"(?:[^"\\]|\\.)*"|\[@[^\]]*\]', re.DOTALL)
_INSIDE = re.compile(r"\(\*\)|\(\*|\*\)")


class TheoryError(ValueError):
    """A text that is not laid out as a theory."""


@dataclass(frozen=True)
class Law:
    """A theorem; `goal` is the name that Why3 gives to what is to be proved of it."""

    name: str
    goal: str
    line: int


@dataclass(frozen=True)
class Module:
    """A module: its lines in the file, the place of its `end`, its laws, whether it has scopes."""

    name: str
    first: int
    last: int
    end: int
    laws: tuple[Law, ...]
    scoped: bool


@dataclass(frozen=True)
class Theory:
    """A file of modules; `file` is its path below the folder of operators."""

    subject: str
    file: str
    text: str
    modules: tuple[Module, ...]

    def module_at(self, line: int) -> Module | None:
        """The module that a line lies in."""
        return next((module for module in self.modules if module.first <= line <= module.last), None)


@dataclass(frozen=True)
class Loophole:
    """A place at which something is taken for granted; `reason` is None where nobody has said why."""

    line: int
    word: str
    shown: str
    reason: str | None


@dataclass(frozen=True)
class _Token:
    text: str
    offset: int
    line: int


def subject_of(file: str) -> str:
    """What a theory is about: `onnx/clip` for `onnx/clip/laws.mlw`, `graph` for `graph/theory.mlw`.

    A theory defines what it speaks of; laws speak of what was defined elsewhere.
    """
    path = PurePosixPath(file)
    return str(path.parent if path.stem in ("laws", "theory") else path.with_suffix(""))


def read_theory(file: str, text: str) -> Theory:
    """Find the modules and laws in a text; raises TheoryError where it is not laid out as one."""
    return Theory(subject_of(file), file, text, tuple(_modules(file, text)))


def loopholes(theory: Theory) -> list[Loophole]:
    """Every place at which a theory takes something for granted."""
    lines = theory.text.split("\n")
    found = [(token.line, token.text) for token in _tokens(theory.text) if token.text in _LOOPHOLES]
    bare = _without_comments(theory.text, attributes=True)
    found += [(_line(bare, match.start()), match[1]) for match in _UNCHECKED.finditer(bare)]
    shown = [(line, word, lines[line - 1].strip()) for line, word in sorted(found)]
    return [Loophole(*parts, ASSUMPTIONS.get((theory.file, parts[2]))) for parts in shown]


def used_files(theory: Theory) -> frozenset[str]:
    """The files below the folder of operators that a theory names, if they are there."""
    bare = _without_comments(theory.text)
    paths = re.findall(r"\b(?:use|clone)\s+(?:import\s+|export\s+)?((?:[\w']+\.)+)[\w']+", bare)
    return frozenset(f"{path.rstrip('.').replace('.', '/')}.mlw" for path in paths)


def _modules(file: str, text: str) -> Iterator[Module]:
    tokens = list(_tokens(text))
    depth, start = 0, 0
    for index, token in enumerate(tokens):
        if depth == 0 and token.text not in {"module", "theory"}:
            where = f"{file}, line {token.line}"
            # `module A : B`, or what a module opens without a name, is nothing this project writes.
            raise TheoryError(f"{where}: {token.text!r} stands outside of any module")
        if token.text in _OPENING:
            start = index if depth == 0 else start
            depth += 1
        elif token.text == "end":
            depth -= 1
            if depth == 0:
                yield _module(tokens[start : index + 1])
    if depth:
        raise TheoryError(f"{file}, line {tokens[start].line}: this module has no `end`")


def _module(tokens: list[_Token]) -> Module:
    name, last = tokens[1].text, tokens[-1]
    scoped = any(token.text == "scope" for token in tokens)
    return Module(name, tokens[0].line, last.line, last.offset, tuple(_laws(tokens)), scoped)


def _laws(tokens: list[_Token]) -> Iterator[Law]:
    for index in range(1, len(tokens) - 1):
        before, token, name = tokens[index - 1 : index + 2]
        # After `with` or a comma it is part of a clone, and speaks of what is cloned.
        if token.text not in {"goal", "lemma"} or before.text in {"with", ","} or not _NAME.match(name.text):
            continue
        program = before.text in {"let", "rec", "ghost"}
        if program and _is_within_a_proof(tokens[:index]):
            continue
        yield Law(name.text, f"{name.text}'vc" if program else name.text, token.line)


def _is_within_a_proof(tokens: list[_Token]) -> bool:
    """Whether the `let` that these tokens end with stands where an expression does: it is a step, no law."""
    first = len(tokens) - 1
    while tokens[first].text in {"rec", "ghost"}:
        first -= 1
    return tokens[first - 1].text in _BEFORE_EXPRESSIONS


def _tokens(text: str) -> Iterator[_Token]:
    bare = _without_comments(text)
    line, seen = 1, 0
    for match in _TOKEN.finditer(bare):
        line += bare.count("\n", seen, match.start())
        seen = match.start()
        yield _Token(match[0], match.start(), line)


def _without_comments(text: str, *, attributes: bool = False) -> str:
    """A text with spaces for its comments and strings, and for attributes unless they are wanted."""
    parts, depth, seen = [], 0, 0
    while match := (_INSIDE if depth else _OUTSIDE).search(text, seen):
        between, found = text[seen : match.start()], match[0]
        plain = not depth and (found == "(*)" or (attributes and found.startswith("[@")))
        parts += [_blank(between) if depth else between, found if plain else _blank(found)]
        depth += {"(*": 1, "*)": -1}.get(found, 0)
        seen = match.end()
    if depth:
        raise TheoryError("a comment has no end")
    return "".join([*parts, text[seen:]])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
