"""Nothing but its folder and its line in the catalogue names an operator: code knows it by its data."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sonnx
from sonnx.operators import OPERATORS, REWRITINGS

pytestmark = pytest.mark.measured

PACKAGE = Path(sonnx.__file__).parent
ROOT = PACKAGE.parents[1]
NAMES = {name for op in OPERATORS for name in (op.name, op.contract.name)} | {*REWRITINGS}
CONSTANTS = {op.folder.upper() for op in OPERATORS}
RULES = tuple(f"{op.identifier}." for op in OPERATORS)
PACKAGES = {op.package for op in OPERATORS}
# Who may name operators, which ones, and why.
ALLOWED: dict[str, tuple[frozenset[str], str]] = {
    "src/sonnx/operators/general/contract.py": (
        frozenset({"Clip", "Conv"}),
        "examples of rules on calls must be calls of something",
    ),
    "src/sonnx/operators/graph/examples.py": (
        frozenset({"Clip", "CLIP", "Conv"}),
        "examples of rules on graphs must be graphs of something",
    ),
    "src/sonnx/operators/graph/figures.py": (
        frozenset({"Clip", "Conv", "Expand", "Where"}),
        "figures of graphs draw an example",
    ),
    "src/sonnx/operators/shared/expanding.py": (
        frozenset({"Expand"}),
        "it is how a graph writes broadcasting, which normalizing makes visible (D-ALL-5)",
    ),
    "src/sonnx/operators/shared/filling.py": (
        frozenset({"EXPAND", "sonnx.operators.onnx.expand"}),
        "the same in the body of a composition",
    ),
    "src/sonnx/operators/rewritten/pow.py": (
        frozenset({"Pow", "Mul"}),
        "a module of that folder says of one operator what is written in its place (D-POW)",
    ),
    "src/sonnx/xla/builder.py": (frozenset({"CALL"}), "a builder's own method: it takes a computation"),
    "src/sonnx/xla/functions.py": (frozenset({"CALL"}), "the same as a function"),
    "src/sonnx/xla/computation.py": (
        frozenset({"Broadcast", "sonnx.operators.xla.call.callee"}),
        "what a computation passes on unchanged is written as a node that changes nothing; "
        "a call refers to what is called",
    ),
    "src/sonnx/xla/computation_text.py": (frozenset({"Call"}), "how XLA writes a node that names a function"),
}


def named(source: str) -> Iterator[str]:
    """What a source names: operators and their rules by a string, by a constant called so, by an import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant):
            text = str(node.value)
            if text in NAMES or text.startswith(RULES):
                yield text
        elif isinstance(node, ast.Name) and node.id in CONSTANTS:
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in CONSTANTS:
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and any(
            f"{node.module}.".startswith(f"{package}.") for package in PACKAGES
        ):
            yield str(node.module)


def sources() -> Iterator[tuple[str, Path]]:
    """The package and what makes its documentation, but for the operators' own folders."""
    homes = [PACKAGE.parent / package.replace(".", "/") for package in PACKAGES]
    for folder in (PACKAGE, ROOT / "docs"):
        for path in sorted(folder.rglob("*.py")):
            if not any(home in path.parents for home in homes):
                yield path.relative_to(ROOT).as_posix(), path


@pytest.mark.no_cover
def test_no_source_names_an_operator_but_those_that_say_why() -> None:
    found = {place: set(named(path.read_text(encoding="utf-8"))) for place, path in sources()}
    assert {place: names for place, names in found.items() if names} == {
        place: set(names) for place, (names, _) in ALLOWED.items()
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('if node.operator == "Clip": pass', "Clip"),
        ('table = {"xla.Clamp": 1}', "xla.Clamp"),
        ("from sonnx.operators.onnx.conv.geometry import axes", "sonnx.operators.onnx.conv.geometry"),
        ("from sonnx.operators.onnx.relu import OPERATOR", "sonnx.operators.onnx.relu"),
        ('decided = {"expand.shape.D3"}', "expand.shape.D3"),
        ('f"xla.conv.{place}"', "xla.conv."),
        ("found is WHERE", "WHERE"),
        ("catalogue.EXPAND", "EXPAND"),
    ],
)
def test_a_name_is_noticed(text: str, name: str) -> None:
    assert list(named(text)) == [name]


def test_common_words_are_no_names() -> None:
    assert list(named('clip = "clip it"\nfrom sonnx.operators.rules import made\nfrom os import path')) == []
