"""Copies of the project with a Python environment each, in which a change may be made and tests be run."""

import ast
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.mutants.drawing import ROOT, Mutant

_COPIED = ("src", "tests", "bench", "docs", "examples", "proofs")
_PROBE = '''
import os

_SEEN = set()


def reached(number):
    """True; that a test came here is written down, in whatever process it does."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (number, test) not in _SEEN:
        _SEEN.add((number, test))
        with open(os.environ["SONNX_REACHED"], "a") as file:
            file.write(f"{number}\\t{test}\\n")
    return True
'''


def make_tree(folder: Path) -> Path:
    """A copy of the project, and an environment whose `sonnx` is that copy; gives its python."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, folder)
    venv.create(folder / ".venv", symlinks=True)
    ours = folder / ".venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    # The copy stands first; what the packages' own folder would add (this project) is not read from there.
    (ours / "tree.pth").write_text(f"{folder / 'src'}\n{packages}\n")
    command = folder / ".venv/bin/sonnx"
    command.write_text(
        f"#!{folder}/.venv/bin/python\nimport sys\nfrom sonnx.cli import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    return folder / ".venv/bin/python"


def put_probes(tree: Path, mutants: Sequence[Mutant]) -> None:
    """Have the expressions that mutants would change write down which test evaluates them."""
    (tree / "src/sonnx_reached.py").write_text(_PROBE)
    for path in {mutant.path for mutant in mutants if mutant.path.endswith(".py")}:
        source = (tree / path).read_text()
        numbers = {
            (at + 1, mutant.column_in(source.splitlines()[at]), mutant.before): number
            for number, mutant in enumerate(mutants)
            if mutant.path == path and (at := mutant.place(source)) is not None
        }
        changed = _Probes(source, numbers).visit(ast.parse(source))
        at = next(k for k, node in enumerate(changed.body) if not _must_be_first(node))
        changed.body.insert(at, ast.parse("from sonnx_reached import reached as _reached").body[0])
        (tree / path).write_text(ast.unparse(ast.fix_missing_locations(changed)))


class _Probes(ast.NodeTransformer):
    def __init__(self, source: str, numbers: Mapping[tuple[int, int, str], int]) -> None:
        self.source, self.numbers = source, numbers
        self.places = {(line, column) for line, column, _ in numbers}

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if not isinstance(node, ast.expr) or (node.lineno, node.col_offset) not in self.places:
            return node
        segment = ast.get_source_segment(self.source, node) or ""
        number = self.numbers.get((node.lineno, node.col_offset, segment))
        if number is None:
            return node
        call = ast.Call(ast.Name("_reached", ast.Load()), [ast.Constant(number)], [])
        return ast.BoolOp(ast.And(), [call, node])


def _must_be_first(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def run_tests(
    python: Path, tree: Path, tests: Iterable[str], seconds: float, options: Sequence[str] = ()
) -> tuple[str, str]:
    """Run some tests, cheapest first, until one fails: ("dies"|"hangs"|"lives"|"broken", which test)."""
    wanted = list(tests)
    if not wanted:
        return "lives", ""
    chosen = tree / "chosen.json"
    chosen.write_text(json.dumps(wanted))
    files = sorted({test.partition("::")[0] for test in wanted})
    command = [os.fspath(python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["-p", "tests.mutants.choosing", *options, *files]
    environment = {**os.environ, "SONNX_CHOSEN": os.fspath(chosen)}
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return "hangs", ""
    failed = [line.split(" ")[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if process.returncode in (0, 5):
        return "lives", ""
    return ("dies", failed[0]) if failed else ("broken", output[-300:])
