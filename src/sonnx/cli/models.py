"""What `sonnx check` and `sonnx normalize` do. Nothing of a model is printed raw."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.check import graphs
from sonnx.cli.summary import (
    advice,
    argument,
    changes_summary,
    explanation,
    findings_summary,
    first_step,
    left_by_normalize,
    open_sizes_advice,
    stopping_rules,
)
from sonnx.cli.terminal import CONFORMS, FINDINGS, PAGE, UNREADABLE, fail, highlighted, page_width, say
from sonnx.load.arrays import digest
from sonnx.load.limits import LoadError
from sonnx.load.reader import from_bytes
from sonnx.load.whole_file import whole_file
from sonnx.load.writer import to_bytes
from sonnx.model.rule import Finding
from sonnx.operators import profile_rules
from sonnx.operators.shared.predicates import count
from sonnx.report.changes import changes_text
from sonnx.report.findings_json import About, findings_document, findings_json, several_json
from sonnx.report.grouped import grouped_text
from sonnx.report.sarif import several_sarif
from sonnx.report.text import findings_text, printable

Format = Literal["text", "json", "sarif"]
Detail = Literal["grouped", "brief", "all"]
# So many findings or changes are told one by one: they fit on a screen or two.
MOST_WHOLE = 5


def verdict(name: str, findings: Sequence[Finding]) -> str:
    """Say in one line whether a model conforms."""
    if not findings:
        return printable(f"{name} conforms to the profile")
    broken = len({finding.rule for finding in findings})
    more = " or more" if len(findings) >= graphs.MOST_FINDINGS else ""
    return printable(f"{name}: {count(len(findings), 'finding')}{more}, {count(broken, 'rule')} broken")


def say_findings(text: str, *, error: bool = False) -> None:
    """Print findings, or a text with findings in it; their first lines stand out on a terminal."""
    say(highlighted(text, error=error), error=error)


def is_same_file(path: str | Path, other: Path) -> bool:
    """Tell whether two paths lead to one file that is there, by whatever name or link."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class CheckOptions:
    """What `sonnx check` was asked for."""

    form: Format = "text"
    output: str | None = None
    memory: int | None = None
    detail: Detail = "grouped"


@dataclass(frozen=True)
class _Judged:
    """A model's findings, what a report says of its file, and the text for people where that is asked for."""

    findings: Sequence[Finding]
    about: About
    text: str

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        return verdict(self.about["file"], self.findings)


def check_models(paths: Sequence[Path], options: CheckOptions) -> int:
    """Check models and print or write one report; the exit code is that of the worst."""
    output = options.output
    paths = list(dict.fromkeys(paths))
    if output not in (None, "-") and any(is_same_file(str(output), path) for path in paths):
        return fail(f"{output} is the model itself, which is never changed; name another file")
    judged: list[_Judged] = []
    unread: list[tuple[str, str]] = []
    for path in paths:
        try:
            judged.append(_judged(path, options))
        except LoadError as problem:
            fail(str(problem))
            unread.append((str(path), str(problem)))
    if not judged:
        return UNREADABLE
    short = [each.verdict for each in judged]
    report = _report(judged, unread, options.form)
    if len(paths) > 1:
        short.append(_tally(judged, unread))
        report += f"\n\n{short[-1]}" if options.form == "text" else ""
    failed = _deliver(report, output, "\n".join(short))
    return failed or max(UNREADABLE if unread else 0, *(FINDINGS if each.findings else 0 for each in judged))


def _judged(path: Path, options: CheckOptions) -> _Judged:
    graph = load(path, memory=options.memory)
    findings = graph.check()
    about: About = {
        "file": str(path),
        "sha256": graph.file_sha256,
        "size": graph.file_size,
        "version": __version__,
        "complete": len(findings) < graphs.MOST_FINDINGS,
    }
    width = page_width(error=False) if options.output in (None, "-") else PAGE
    text = _text(graph, path, options.detail, width) if options.form == "text" else ""
    return _Judged(findings, about, text)


def _report(judged: Sequence[_Judged], unread: Sequence[tuple[str, str]], form: Format) -> str:
    """One model as ever; several in one document."""
    alone = len(judged) == 1 and not unread
    if form == "text":
        return "\n\n".join(each.text for each in judged)
    if form == "sarif":
        reports = [(each.findings, each.about) for each in judged]
        return several_sarif(reports, profile_rules(), unread).rstrip("\n")
    if alone:
        return findings_json(judged[0].findings, **judged[0].about).rstrip("\n")
    documents = [findings_document(each.findings, **each.about) for each in judged]
    return several_json(documents, unread, __version__).rstrip("\n")


def _tally(judged: Sequence[_Judged], unread: Sequence[object]) -> str:
    broken = sum(bool(each.findings) for each in judged)
    told = [(len(judged) - broken, "conforming"), (broken, "with findings"), (len(unread), "unreadable")]
    few = ", ".join(f"{number} {what}" for number, what in told if number)
    return f"{len(judged) + len(unread)} files: {few}"


def _text(graph: Graph, path: Path, detail: Detail, width: int) -> str:
    """The report for people: what is broken, then the verdict and what helps."""
    findings = graph.check()
    last = f"{verdict(str(path), findings)}\nsha256 {graph.file_sha256}"
    if not findings:
        return last
    stopped = stopping_rules(graph, ())
    after = None if stopped else left_by_normalize(graph, findings)
    parts = [_listed(graph, findings, after, detail, width)]
    if detail == "all" and len(findings) > len({finding.rule for finding in findings}):
        parts.append(findings_summary(findings, after))
    every = [f"help: `sonnx check {argument(path)} --all` lists every finding"]
    folded = detail == "grouped" and len(findings) > MOST_WHOLE
    helps = [*map(printable, every if folded else ()), *advice(path, graph, findings, after)]
    return "\n\n".join([*parts, "\n".join([last, *helps])])


def _listed(
    graph: Graph, findings: Sequence[Finding], after: Sequence[Finding] | None, detail: Detail, width: int
) -> str:
    """The findings: one line per rule, every one whole, or by what they have in common."""
    if detail == "brief":
        return findings_summary(findings, after)
    if detail == "all" or len(findings) <= MOST_WHOLE:
        return findings_text(findings)
    nodes = sum(len(scope.nodes) for scope in graph.scopes)
    return grouped_text(findings, after, nodes=nodes, width=width)


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
    path: Path, output: Path, dims: Mapping[str, int], memory: int | None, detail: Detail
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


def refuse(
    path: Path,
    graph: Graph,
    outcome: str,
    *,
    normalized: bool,
    detail: Detail = "grouped",
    sizes: Sequence[str] = (),
) -> None:
    """Say which rules a model breaks, what kept it from being normalized, how open sizes can be fixed.

    `sizes` says the latter in another way, where there is one.
    """
    findings = graph.check()
    listed = _listed(graph, findings, None, detail, page_width(error=True))
    say_findings(f"{listed}\n", error=True)
    lines = [f"{verdict(str(path), findings)}; {outcome}"]
    stopping = stopping_rules(graph, {finding.rule for finding in findings}) if normalized else []
    if stopping:
        what = "nothing else" if graph.changes else "nothing"
        lines.append(f"{what} was changed because of {', '.join(stopping)}: mend that first")
        lines += first_step(path, graph, stopping[0])
    elif normalized:
        lines += open_sizes_advice(graph) or [explanation("cannot mend this", findings)]
    else:
        lines += sizes or open_sizes_advice(graph, "--normalize ")
    say("\n".join(lines), error=True)
