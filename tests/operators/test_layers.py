"""Engines import operators and never each other; the arrows of the design run one way."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import sonnx

pytestmark = pytest.mark.measured

PACKAGE = Path(sonnx.__file__).parent
# What each part may import of the package.
ALLOWED: Mapping[str, set[str]] = {
    "model": {"model"},
    "vocabulary": {"model", "numeric", "terms", "vocabulary"},
    "numeric": {"model", "numeric"},
    "drawing": {"drawing"},
    # The language of definitions knows no array and no type.
    "terms": {"terms"},
    # The text of operations for XLA: lowerings by hand and derived ones write with it.
    "mlir": {"model", "numeric", "mlir"},
    # What follows from definitions knows no operator and no engine.
    "derive": {"model", "vocabulary", "numeric", "terms", "mlir", "derive"},
    "operators": {"model", "vocabulary", "numeric", "terms", "operators", "drawing", "mlir"},
    # Whether a constant lies in a domain is asked of the definition (D-ALL-11).
    "check": {"model", "vocabulary", "derive", "operators", "check"},
    # XLA is an engine as well: it knows the operators and no other engine.
    "stablehlo": {"model", "vocabulary", "derive", "numeric", "operators", "mlir", "report", "stablehlo"},
    "evaluate": {"model", "vocabulary", "derive", "numeric", "operators", "check", "report", "evaluate"},
    # What both compiled engines begin with knows no engine.
    "plan": {"model", "vocabulary", "derive", "numeric", "operators", "plan"},
    # What is kept between runs is files alone, what is run is programs.
    "storage": set(),
    # Where the specification comes from is data that knows nobody.
    "sources": set(),
    "processes": set(),
    "native": {
        "model",
        "derive",
        "vocabulary",
        "numeric",
        "operators",
        "plan",
        "report",
        "processes",
        "storage",
        "native",
    },
    "emit": {"model", "vocabulary", "derive", "numeric", "operators", "plan", "report", "emit"},
    # Whoever judges runtimes asks the definitions, and our engines as runtimes among others.
    "conformance": {
        *("__init__", "__version__", "api", "conformance", "engines", "evaluate", "load", "model", "numeric"),
        *("operators", "processes", "report", "sources", "vocabulary", "derive"),
    },
    # Provers judge texts: theories beside the operators, C that was emitted. They know no engine.
    "prove": {"report", "processes", "sources", "storage", "prove"},
    # The one place where texts for provers come together: by hand, from definitions, from cases.
    "definitions": {"derive", "operators", "prove"},
    "report": {"model", "vocabulary", "report", "sources"},
    "load": {"model", "numeric", "load"},
    "normalize": {"model", "vocabulary", "numeric", "operators", "check", "normalize"},
}
# Who may speak to the engine that executes definitions: the package itself and what prints for people.
CALLERS = {
    "__init__",
    "__main__",
    "api",
    "backend",
    "cli",
    "conformance",
    "engines",
    "evaluate",
    "tour",
    "xla",
}
# Who may speak to compiled kernels, and to what writes C: those who choose an engine for people.
COMPILERS = {"__init__", "api", "backend", "cli", "engines", "native"}
EMITTERS = {"__init__", "api", "cli", "emit"}
PROVERS = {"cli", "definitions", "prove"}
# Who may read and write files of models: what people and tools call; the rest knows graphs alone.
READERS = {"__init__", "api", "backend", "cli", "conformance", "load"}
# Who may know the format of ONNX's files: what reads them, and what is called with parsed models.
PROTOBUF = {"onnx", "google"}
SPEAKERS = {"load", "backend", "conformance"}


def part_of(path: Path, package: Path) -> str:
    """The first folder below the package, or the name of a module that lies directly in it."""
    inside = path.relative_to(package)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that a tree imports, wherever the statement stands; relative imports are refused."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            # `from sonnx import evaluate` imports a part as well.
            yield from (f"sonnx.{alias.name}" for alias in node.names if node.module == "sonnx")


def arrows(package: Path) -> set[tuple[str, str]]:
    """Pairs of a part and a part it imports; the package as a whole counts as `__init__`."""
    modules = ((part, module.split(".")) for part, module in modules_of(package))
    return {(part, "".join(rest[:1]) or "__init__") for part, (root, *rest) in modules if root == "sonnx"}


def protobuf_arrows(package: Path) -> set[tuple[str, str]]:
    """Pairs of a part and a module of ONNX's or protobuf's that it imports."""
    return {(part, module) for part, module in modules_of(package) if module.split(".")[0] in PROTOBUF}


def modules_of(package: Path) -> Iterator[tuple[str, str]]:
    """Every import of the package: the part in which it stands, and the module."""
    for path in package.rglob("*.py"):
        for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
            yield part_of(path, package), module


def wrong_arrows(found: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Imports against the order of the layers."""
    against = {(part, other) for part, other in found if part in ALLOWED and other not in ALLOWED[part]}
    guards = {"evaluate": CALLERS, "load": READERS, "native": COMPILERS, "emit": EMITTERS, "prove": PROVERS}
    for guarded, callers in guards.items():
        against |= {(part, other) for part, other in found if other == guarded and part not in callers}
    return against


@pytest.mark.no_cover
def test_imports_follow_the_layers() -> None:
    assert wrong_arrows(arrows(PACKAGE)) == set()


@pytest.mark.no_cover
def test_only_load_and_the_backend_know_protobuf() -> None:
    found = protobuf_arrows(PACKAGE)
    assert {part for part, _ in found} <= SPEAKERS
    assert ("load", "onnx") in found


def test_every_layer_is_there_to_be_judged() -> None:
    assert set(ALLOWED) <= {part_of(path, PACKAGE) for path in PACKAGE.rglob("*.py")}


WRONG = {
    ("numeric", "import sonnx.operators"): ("numeric", "operators"),
    ("numeric", "from sonnx.operators.onnx import clip"): ("numeric", "operators"),
    ("operators", "def f():\n    from sonnx.check.calls import check_call"): ("operators", "check"),
    ("operators", "import sonnx"): ("operators", "__init__"),
    ("check", "from sonnx import evaluate"): ("check", "evaluate"),
    ("check", "from sonnx.numeric.bits import same_bits"): ("check", "numeric"),
    ("evaluate", "import sonnx.native.kernels"): ("evaluate", "native"),
    ("evaluate", "from sonnx.emit import c"): ("evaluate", "emit"),
    ("evaluate", "from sonnx.prove import why3"): ("evaluate", "prove"),
    ("native", "from sonnx.evaluate.apply import apply"): ("native", "evaluate"),
    ("native", "from sonnx.emit.fast import files"): ("native", "emit"),
    ("native", "from sonnx.stablehlo import engine"): ("native", "stablehlo"),
    ("native", "def f():\n    from sonnx.engines import compile_graph"): ("native", "engines"),
    ("native", "from sonnx.check.models import check_graph"): ("native", "check"),
    ("native", "from sonnx.cli import terminal"): ("native", "cli"),
    ("emit", "from sonnx.native.engine import Executable"): ("emit", "native"),
    ("emit", "from sonnx.evaluate.execution import execute"): ("emit", "evaluate"),
    ("emit", "from sonnx.load.arrays import write_array"): ("emit", "load"),
    ("plan", "import sonnx.native.memory"): ("plan", "native"),
    ("plan", "from sonnx.emit import layout"): ("plan", "emit"),
    ("plan", "from sonnx.evaluate.execution import Settings"): ("plan", "evaluate"),
    ("plan", "from sonnx.report.text import printable"): ("plan", "report"),
    ("prove", "from sonnx.emit.project import project"): ("prove", "emit"),
    ("prove", "from sonnx.operators import rules"): ("prove", "operators"),
    ("report", "from sonnx.prove.result import Proofs"): ("report", "prove"),
    ("api", "from sonnx.prove.theories import prove_theories"): ("api", "prove"),
    ("storage", "from sonnx.native.cache import kernel"): ("storage", "native"),
    ("operators", "from sonnx.plan.program import Buffer"): ("operators", "plan"),
    ("model", "from sonnx.plan.slots import Lifetime"): ("model", "plan"),
    ("stablehlo", "from sonnx.native import engine"): ("stablehlo", "native"),
    ("tour", "from sonnx.native.engine import Executable"): ("tour", "native"),
    ("tour", "from sonnx.emit.project import project"): ("tour", "emit"),
    ("engines", "from sonnx.emit.project import project"): ("engines", "emit"),
    ("evaluate", "from sonnx.load.reader import load"): ("evaluate", "load"),
    ("evaluate", "from sonnx.normalize.passes import normalize_graph"): ("evaluate", "normalize"),
    ("check", "from sonnx.load.limits import Limits"): ("check", "load"),
    ("normalize", "from sonnx.evaluate import execution"): ("normalize", "evaluate"),
    ("normalize", "from sonnx.load import writer"): ("normalize", "load"),
    ("normalize", "from sonnx.report.text import printable"): ("normalize", "report"),
    ("load", "from sonnx.check.models import check_graph"): ("load", "check"),
    ("load", "from sonnx.operators import rules"): ("load", "operators"),
    ("native", "from sonnx.load.reader import load"): ("native", "load"),
    ("tour", "from sonnx.load.reader import load"): ("tour", "load"),
    ("report", "from sonnx.normalize.changes import Change"): ("report", "normalize"),
    ("model", "from sonnx.numeric.arrays import Array"): ("model", "numeric"),
    ("model", "from sonnx.vocabulary.rule import Rule"): ("model", "vocabulary"),
    ("vocabulary", "from sonnx.operators import rules"): ("vocabulary", "operators"),
    ("numeric", "from sonnx.vocabulary.call import Call"): ("numeric", "vocabulary"),
    ("load", "from sonnx.vocabulary.operator import Operator"): ("load", "vocabulary"),
}


@pytest.mark.parametrize(("part", "text"), WRONG)
def test_an_import_against_the_layers_is_noticed(part: str, text: str, tmp_path: Path) -> None:
    (tmp_path / part / "deep").mkdir(parents=True)
    (tmp_path / part / "deep" / "module.py").write_text(text, encoding="utf-8")
    assert WRONG[part, text] in wrong_arrows(arrows(tmp_path))


PROTOBUF_USERS = {
    "import onnx": ("check", "onnx"),
    "import onnx.helper": ("check", "onnx.helper"),
    "from onnx import defs": ("check", "onnx"),
    "def f():\n    from google.protobuf.message import DecodeError": ("check", "google.protobuf.message"),
}


@pytest.mark.parametrize("text", PROTOBUF_USERS)
def test_an_import_of_protobuf_is_noticed(text: str, tmp_path: Path) -> None:
    (tmp_path / "check").mkdir()
    (tmp_path / "check" / "module.py").write_text(text, encoding="utf-8")
    assert protobuf_arrows(tmp_path) == {PROTOBUF_USERS[text]}


def test_the_operators_of_onnx_are_not_taken_for_protobuf(tmp_path: Path) -> None:
    (tmp_path / "cli.py").write_text("from sonnx.operators.onnx import clip\n", encoding="utf-8")
    assert protobuf_arrows(tmp_path) == set()


def test_an_import_along_the_layers_is_not(tmp_path: Path) -> None:
    (tmp_path / "operators").mkdir()
    (tmp_path / "operators" / "module.py").write_text(
        "import numpy\nfrom sonnx.numeric import bits\n", encoding="utf-8"
    )
    (tmp_path / "cli.py").write_text("from sonnx.evaluate.apply import apply\n", encoding="utf-8")
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / "engine.py").write_text("from sonnx.plan import slots\n", encoding="utf-8")
    (tmp_path / "engines.py").write_text("from sonnx.native.engine import Executable\n", encoding="utf-8")
    assert arrows(tmp_path) == {
        ("operators", "numeric"),
        ("cli", "evaluate"),
        ("native", "plan"),
        ("engines", "native"),
    }
    assert wrong_arrows(arrows(tmp_path)) == set()


def test_a_relative_import_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cli.py").write_text("from . import report\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="imports are absolute"):
        arrows(tmp_path)
