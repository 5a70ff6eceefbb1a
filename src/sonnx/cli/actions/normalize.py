"""What `sonnx normalize` does. Nothing of a model is printed raw."""

from collections.abc import Mapping
from pathlib import Path

from sonnx.api import Graph, load
from sonnx.cli.files import is_same_file, unfit
from sonnx.cli.findings import MOST_WHOLE, Detail, refuse
from sonnx.cli.summary import changes_summary
from sonnx.cli.terminal import CONFORMS, FINDINGS, fail, say
from sonnx.load.arrays import digest
from sonnx.load.reader import from_bytes
from sonnx.load.whole_file import whole_file
from sonnx.load.writer import to_bytes
from sonnx.operators.rules.wording import count
from sonnx.report.changes import changes_text
from sonnx.report.text import printable


def normalize_model(
    path: Path, output: Path, dims: Mapping[str, int], memory: int | None, detail: Detail
) -> int:
    """Make a model conform, say what was changed, and write it if it does."""
    problem = unfit(output, path)
    if problem:
        return fail(f"{output} {problem}; name another file")
    try:
        graph = load(path, memory=memory).normalize(dims)
    except ValueError as error:  # a LoadError, or a size that nothing has
        return fail(str(error))
    if any(is_same_file(output, Path(file)) for file in graph.external_files):
        return fail(f"{output} holds data of the model, which is never changed; name another file")
    findings = graph.check()
    if graph.changes:
        # What is not written need not be read change by change.
        few = detail == "brief" or (detail == "grouped" and findings and len(graph.changes) > MOST_WHOLE)
        say(changes_summary(graph.changes) if few else changes_text(graph.changes))
        say("")
    if findings:
        refuse(path, graph, "nothing was written", normalized=True, detail=detail)
        return FINDINGS
    try:
        content = to_bytes(graph)
        written = Graph.of(from_bytes(content, str(output), output.parent))
        # What is judged is what was written, whatever the way there.
        if written.check():
            refuse(output, written, "nothing was written", normalized=False, detail=detail)
            return FINDINGS
        with whole_file(output) as file:
            file.write(content)
    except OSError as error:
        return fail(f"{output}: cannot be written: {error.strerror}")
    except ValueError as error:
        return fail(f"{output}: cannot be written: {error}")
    say(printable(f"{output} conforms to the profile after {count(len(graph.changes), 'change')}"))
    say(f"sha256 {digest(content)}")
    return CONFORMS
