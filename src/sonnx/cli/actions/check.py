"""What `sonnx check` does. Nothing of a model is printed raw."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.check import models
from sonnx.cli.files import is_same_file
from sonnx.cli.findings import MOST_WHOLE, Detail, listed, say_findings, verdict
from sonnx.cli.summary import advice, argument, findings_summary, left_by_normalize, stopping_rules
from sonnx.cli.terminal import FINDINGS, PAGE, UNREADABLE, fail, page_width, say
from sonnx.load.limits import LoadError
from sonnx.load.whole_file import whole_file
from sonnx.operators import profile_rules
from sonnx.report.findings_json import About, findings_document, findings_json, several_json
from sonnx.report.sarif import several_sarif
from sonnx.report.text import printable
from sonnx.vocabulary.rule import Finding

Format = Literal["text", "json", "sarif"]


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
        "complete": len(findings) < models.MOST_FINDINGS,
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
    parts = [listed(graph, findings, after, detail, width)]
    if detail == "all" and len(findings) > len({finding.rule for finding in findings}):
        parts.append(findings_summary(findings, after))
    every = [f"help: `sonnx check {argument(path)} --all` lists every finding"]
    folded = detail == "grouped" and len(findings) > MOST_WHOLE
    helps = [*map(printable, every if folded else ()), *advice(path, graph, findings, after)]
    return "\n\n".join([*parts, "\n".join([last, *helps])])


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
