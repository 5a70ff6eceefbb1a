"""What `sonnx export` does. Nothing of a model is printed raw."""

from collections.abc import Mapping
from pathlib import Path

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.cli.files import is_same_file, unfit
from sonnx.cli.findings import refuse
from sonnx.cli.terminal import CONFORMS, FINDINGS, fail, say
from sonnx.load.arrays import digest
from sonnx.load.whole_file import whole_file
from sonnx.operators.rules.wording import count
from sonnx.report.text import printable


def export_model(path: Path, output: Path, dims: Mapping[str, int] | None, memory: int | None) -> int:
    """Write a model as StableHLO; `dims` is given where it is to be made to conform first."""
    printed = str(output) == "-"
    problem = "" if printed else unfit(output, path)
    if problem:
        return fail(f"{output} {problem}; name another file")
    try:
        graph = load(path, memory=memory)
        graph = graph if dims is None else graph.normalize(dims)
        if graph.check():
            advice = "" if dims is not None else "; `--normalize` makes explicit what it can"
            refuse(path, graph, f"nothing was written{advice}", normalized=dims is not None)
            return FINDINGS
        if any(is_same_file(output, Path(file)) for file in graph.external_files):
            return fail(f"{output} holds data of the model, which is never changed; name another file")
        text = f"{_header(graph)}\n{graph.to_stablehlo()}"
        if printed:
            say(text.rstrip("\n"))
            return CONFORMS
        with whole_file(output) as file:
            file.write(text.encode())
    except OSError as error:
        return fail(f"{output}: cannot be written: {error.strerror}")
    except ValueError as error:  # a LoadError, an ExportError, or a size that nothing has
        return fail(str(error))
    say(printable(f"{output}: {count(len(graph.nodes), 'node')} as StableHLO, {len(text):,} characters"))
    say(f"sha256 {digest(text.encode())}")
    say(f"model sha256 {graph.file_sha256}")
    return CONFORMS


def _header(graph: Graph) -> str:
    """Comments that say where a text of MLIR comes from, and what its meaning hangs on."""
    changed = f", after {count(len(graph.changes), 'change')} by normalizing" if graph.changes else ""
    return (
        f"// sonnx {__version__}, from the model file with sha256 {graph.file_sha256}{changed}\n"
        "// compile with xla_allow_excess_precision=false: every rounding that is written here is meant"
    )
