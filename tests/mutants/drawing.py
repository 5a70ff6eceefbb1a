"""Small wrong changes of the sources, drawn from a seed: what a suite is worth is how many die of it."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "sonnx"
SUFFIXES = (".py", ".c", ".h", ".mlw")

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# In C and in theories, by text: what stands between spaces is an operator.
_TOKENS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " + ": " - ",
    " - ": " + ",
    " && ": " || ",
    " || ": " && ",
    " /\\ ": " \\/ ",
}
# Kernels hold much in few lines; theories are judged by provers, one by one, at a price.
_WEIGHTS = {"kernels": 4.0, "theories": 0.1}
_TOKEN = re.compile("|".join(re.escape(token) for token in sorted(_TOKENS, key=len, reverse=True)))


@dataclass(frozen=True)
class Mutant:
    """One change: in the line that reads `text`, `before` at `column` becomes `after`."""

    path: str
    line: int
    text: str
    column: int
    before: str
    after: str

    @property
    def layer(self) -> str:
        """The folder below the package, where kernels and theories are layers of their own."""
        path = Path(self.path).relative_to("src/sonnx")
        kinds = {".c": "kernels", ".h": "kernels", ".mlw": "theories"}
        return kinds.get(path.suffix, path.parts[0] if len(path.parts) > 1 else "top")

    def place(self, source: str) -> int | None:
        """The line of a source, counted from 0, that is meant: the nearest one that reads as it did."""
        lines = source.splitlines()
        same = [number for number, text in enumerate(lines) if text.strip() == self.text.strip()]
        return min(same, key=lambda number: abs(number + 1 - self.line), default=None)

    def column_in(self, line: str) -> int:
        """Where the part stands in that line, which may be further in by now."""
        return self.column + _indent(line) - _indent(self.text)

    def applied(self, source: str) -> str | None:
        """The source with the change in it, or None where its line is gone."""
        at = self.place(source)
        if at is None:
            return None
        lines = source.splitlines(keepends=True)
        column = self.column_in(lines[at])
        lines[at] = lines[at][:column] + self.after + lines[at][column + len(self.before) :]
        return "".join(lines)


def drawn(number: int, seed: int) -> list[Mutant]:
    """Draw that many mutants: at least two of every layer, more of the larger ones."""
    chance, layers = Random(seed), _layers()
    shares = _shares({layer: len(found) for layer, found in layers.items()}, number)
    return [
        mutant for layer, share in sorted(shares.items()) for mutant in chance.sample(layers[layer], share)
    ]


@cache
def _layers() -> dict[str, list[Mutant]]:
    """All mutants there are, by layer; to find them takes seconds."""
    layers: dict[str, list[Mutant]] = {}
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in SUFFIXES:
            for mutant in _of_file(path):
                layers.setdefault(mutant.layer, []).append(mutant)
    return layers


def _shares(sizes: dict[str, int], number: int) -> dict[str, int]:
    """By the square roots of sizes, so that a large layer does not take everything."""
    shares = {layer: min(2, size) for layer, size in sizes.items()}
    while sum(shares.values()) < number:
        layer = max(shares, key=lambda layer: (_WEIGHTS.get(layer, 1) * sizes[layer]) ** 0.5 / shares[layer])
        shares[layer] += 1
    return shares


def _of_file(path: Path) -> Iterator[Mutant]:
    source, name = path.read_text(), path.relative_to(ROOT).as_posix()
    lines = source.splitlines()
    found = _of_python(source) if path.suffix == ".py" else _of_text(lines)
    for line, column, before, after in found:
        if lines[line - 1][column : column + len(before)] == before:  # no letters of several bytes before it
            yield Mutant(name, line, lines[line - 1], column, before, after)


def _of_text(lines: Sequence[str]) -> Iterator[tuple[int, int, str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith(("/*", "* ", "//", "(*", "#include")):
            for match in _TOKEN.finditer(line):
                yield number, match.start(), match.group(), _TOKENS[match.group()]


def _of_python(source: str) -> Iterator[tuple[int, int, str, str]]:
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    seen, lines = set(), source.splitlines()
    for function in functions:
        for statement in function.body:
            for node in ast.walk(statement):
                changed = _changed(node)
                if changed is None or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
                    continue
                segment = lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()
                place = (node.lineno, node.col_offset, segment)
                if (place, changed) not in seen:
                    seen.add((place, changed))
                    yield (*place, changed)


def _changed(node: ast.AST) -> str | None:
    """What an expression is changed to, in parentheses where it had an operator."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
            return f"({ast.unparse(ast.Compare(left, [_COMPARISONS[type(op)]()], [right]))})"
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            return f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC and not _of_words(left, right):
            return f"({ast.unparse(ast.BinOp(left, _ARITHMETIC[type(op)](), right))})"
        case ast.UnaryOp(ast.Not(), operand):
            return f"({ast.unparse(operand)})"
        case ast.Constant(bool() as value):
            return str(not value)
        case ast.Constant(int() as value):
            return str(value + 1)
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _of_words(*operands: ast.expr) -> bool:
    return any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple) or _is_word(one) for one in operands)


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
