"""Counts the tests of every operator, by what their text names."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sonnx.operators import OPERATORS
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import RULING

_RULE = re.compile(r"((?:xla\.)?\w+)(?:\.\w+)?\.[A-Z]\d+")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def count_tests(folder: Path) -> Mapping[str, int]:
    """How many test functions name each operator, by its identifier, below a folder.

    A test names an operator by the function in `sonnx` or `sonnx.xla`, by its package in `sonnx.operators`,
    by its name in a string, by a rule or a ruling; itself, or through helpers and
    constants of the same file. Tests that go through the list of all operators name none.
    """
    counts = dict.fromkeys((operator.identifier for operator in OPERATORS), 0)
    for path in sorted(folder.rglob("test_*.py")):
        for found in named_by_tests(path.read_text(encoding="utf-8")).values():
            for identifier in found:
                counts[identifier] += 1
    return counts


def named_by_tests(text: str) -> Mapping[str, frozenset[str]]:
    """The operators that each test function in a file names."""
    tree = ast.parse(text)
    aliases = _aliases(tree)
    own = {name: node for node in tree.body for name in _defined(node)}
    names = {name: frozenset(_named(node, aliases)) for name, node in own.items()}
    uses = {name: _words(node) & own.keys() for name, node in own.items()}
    return {
        name: frozenset().union(*(names[other] for other in _reached(name, uses)))
        for name, node in own.items()
        if isinstance(node, _Function) and name.startswith("test")
    }


def _reached(start: str, uses: Mapping[str, Iterable[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        fresh = set(uses[waiting.pop()]) - seen
        seen |= fresh
        waiting += fresh
    return seen


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _Function | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (part.id for each in node.targets for part in ast.walk(each) if isinstance(part, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _words(node: ast.AST) -> set[str]:
    words = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    # A fixture is named by a parameter.
    return words | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}


def _aliases(tree: ast.Module) -> Mapping[str, str]:
    """Names of the file that stand for something of the package, and its full name."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname or each.name: each.name for each in node.names if each.name == "sonnx"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sonnx":
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


def _named(node: ast.AST, aliases: Mapping[str, str]) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from (each.identifier for each in OPERATORS if _in_string(part.value, each))
        elif isinstance(part, ast.Name | ast.Attribute):
            full = _full(part, aliases)
            yield from (each.identifier for each in OPERATORS if full and _is(full, each))


def _in_string(text: str, operator: Operator) -> bool:
    if text == operator.name:
        return True
    rule = _RULE.fullmatch(text)
    return bool(rule and rule[1] == operator.identifier) or _is_its_ruling(text, operator.contract.ruling)


def _is_its_ruling(text: str, start: str) -> bool:
    """Tell whether a text is the ruling that defines an operator, or one of several that begin so."""
    return bool(start and RULING.fullmatch(text)) and (text == start or text.startswith(f"{start}-"))


def _full(node: ast.expr, aliases: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _full(node.value, aliases)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _is(full: str, operator: Operator) -> bool:
    return full == f"sonnx.{operator.identifier}" or f"{full}.".startswith(f"{operator.package}.")
