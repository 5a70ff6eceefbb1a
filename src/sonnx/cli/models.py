"""What `sonnx check` and `sonnx normalize` do. Nothing of a model is printed raw."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.check import graphs
from sonnx.cli.summary import (
    advice,
    changes_summary,
    findings_summary,
    left_by_normalize,
    open_sizes_advice,
    stopping_rules,
)
from sonnx.cli.terminal import CONFORMS, FINDINGS, colourful, fail, say
from sonnx.load.arrays import digest
from sonnx.load.limits import LoadError
from sonnx.load.reader import from_bytes
from sonnx.load.whole_file import whole_file
from sonnx.load.writer import to_bytes
from sonnx.model.rule import Finding
from sonnx.operators import profile_rules
from sonnx.operators.shared.predicates import count
from sonnx.report.changes import changes_text
from sonnx.report.findings_json import About, findings_json
from sonnx.report.sarif import sarif
from sonnx.report.text import findings_text, printable

Format = Literal["text", "json", "sarif"]


def verdict(name: str, findings: Sequence[Finding]) -> str:
    """Say in one line whether a model conforms."""
    if not findings:
        return printable(f"{name} conforms to the profile")
    broken = len({finding.rule for finding in findings})
    more = " or more" if len(findings) >= graphs.MOST_FINDINGS else ""
    return printable(f"{name}: {count(len(findings), 'finding')}{more}, {count(broken, 'rule')} broken")


def say_findings(text: str, *, error: bool = False) -> None:
    """Print findings, or a text with findings in it; their first lines stand out on a terminal."""
    lines = text.split("\n")
    say("\n".join(map(_highlighted, lines) if colourful(error=error) else lines), error=error)


def _highlighted(line: str) -> str:
    return click.style(line, fg="red", bold=True) if line.startswith("error[") else line


def is_same_file(path: str | Path, other: Path) -> bool:
    """Tell whether two paths lead to one file that is there, by whatever name or link."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def check_model(path: Path, form: Format, output: str | None, memory: int | None, brief: bool) -> int:
    """Check a model and print or write the report."""
    if output not in (None, "-") and is_same_file(str(output), path):
        return fail(f"{output} is the model itself, which is never changed; name another file")
    try:
        graph = load(path, memory=memory)
    except LoadError as problem:
        return fail(str(problem))
    findings = graph.check()
    about: About = {
        "file": str(path),
        "sha256": graph.file_sha256,
        "size": graph.file_size,
        "version": __version__,
        "complete": len(findings) < graphs.MOST_FINDINGS,
    }
    if form == "json":
        report = findings_json(findings, **about)
    elif form == "sarif":
        report = sarif(findings, profile_rules(), **about)
    else:
        report = _text(graph, findings, path, brief)
    return _deliver(report.rstrip("\n"), output, verdict(str(path), findings)) or (
        FINDINGS if findings else CONFORMS
    )


def _text(graph: Graph, findings: Sequence[Finding], path: Path, brief: bool) -> str:
    """The report for people: every finding, then one line per rule, then the verdict and what helps."""
    last = f"{verdict(str(path), findings)}\nsha256 {graph.file_sha256}"
    if not findings:
        return last
    left = left_by_normalize(graph, findings)
    parts = [] if brief else [findings_text(findings)]
    if brief or len(findings) > len({finding.rule for finding in findings}):
        parts.append(findings_summary(findings, left))
    return "\n\n".join([*parts, "\n".join([last, *advice(path, graph, findings, left)])])


def _deliver(report: str, output: str | None, short: str) -> int:
    """Print the report, or write it and print what it comes to; answers 0, or the exit code of a failure."""
    if output is None or output == "-":
        say_findings(report)
        return 0
    try:
        with whole_file(output) as file:
            file.write(f"{report}\n".encode("utf-8", "backslashreplace"))
    except OSError as problem:
        return fail(f"{output}: cannot be written: {problem.strerror}")
    say(short)
    return 0


def normalize_model(
    path: Path, output: Path, dims: Mapping[str, int], memory: int | None, brief: bool
) -> int:
    """Make a model conform, say what was changed, and write it if it does."""
    problem = _unfit(output, path)
    if problem:
        return fail(f"{output} {problem}; name another file")
    try:
        graph = load(path, memory=memory).normalize(dims)
    except ValueError as error:  # a LoadError, or a size that nothing has
        return fail(str(error))
    if any(is_same_file(output, Path(file)) for file in graph.external_files):
        return fail(f"{output} holds data of the model, which is never changed; name another file")
    if graph.changes:
        say(changes_summary(graph.changes) if brief else changes_text(graph.changes))
        say("")
    if graph.check():
        refuse(path, graph, "nothing was written", normalized=True, brief=brief)
        return FINDINGS
    try:
        content = to_bytes(graph)
        written = Graph.of(from_bytes(content, str(output), output.parent))
        # What is judged is what was written, whatever the way there.
        if written.check():
            refuse(output, written, "nothing was written", normalized=False, brief=brief)
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


def export_model(path: Path, output: Path, dims: Mapping[str, int] | None, memory: int | None) -> int:
    """Write a model as StableHLO; `dims` is given where it is to be made to conform first."""
    printed = str(output) == "-"
    problem = "" if printed else _unfit(output, path)
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


def _unfit(output: Path, model: Path) -> str:
    """Why a path is none that a model may be written to; nothing where it is."""
    if str(output) == "-":
        return "stands for the terminal, which is no place for a model"
    if is_same_file(output, model):
        return "is the model itself, which is never changed"
    return "is not a plain file" if output.exists() and not output.is_file() else ""


def refuse(path: Path, graph: Graph, outcome: str, *, normalized: bool, brief: bool = False) -> None:
    """Say which rules a model breaks, what kept it from being normalized, how open sizes can be fixed."""
    findings = graph.check()
    listed = findings_summary(findings, None) if brief else findings_text(findings)
    say_findings(f"{listed}\n", error=True)
    lines = [f"{verdict(str(path), findings)}; {outcome}"]
    stopping = stopping_rules(graph, {finding.rule for finding in findings}) if normalized else ""
    if stopping:
        what = "nothing else" if graph.changes else "nothing"
        lines.append(f"{what} was changed because of {stopping}: mend that first")
    lines += open_sizes_advice(graph)
    say("\n".join(lines), error=True)
