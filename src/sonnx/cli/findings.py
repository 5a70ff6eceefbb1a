"""What commands say of a model that breaks rules. Nothing of a model is printed raw."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from sonnx.api import Graph
from sonnx.check import models
from sonnx.cli.summary import explanation, findings_summary, first_step, open_sizes_advice, stopping_rules
from sonnx.cli.terminal import highlighted, page_width, say
from sonnx.operators.rules.wording import count
from sonnx.report.grouped import grouped_text
from sonnx.report.text import findings_text, printable
from sonnx.vocabulary.rule import Finding

Detail = Literal["grouped", "brief", "all"]
# So many findings or changes are told one by one: they fit on a screen or two.
MOST_WHOLE = 5


def verdict(name: str, findings: Sequence[Finding]) -> str:
    """Say in one line whether a model conforms."""
    if not findings:
        return printable(f"{name} conforms to the profile")
    broken = len({finding.rule for finding in findings})
    more = " or more" if len(findings) >= models.MOST_FINDINGS else ""
    return printable(f"{name}: {count(len(findings), 'finding')}{more}, {count(broken, 'rule')} broken")


def say_findings(text: str, *, error: bool = False) -> None:
    """Print findings, or a text with findings in it; their first lines stand out on a terminal."""
    say(highlighted(text, error=error), error=error)


def listed(
    graph: Graph, findings: Sequence[Finding], after: Sequence[Finding] | None, detail: Detail, width: int
) -> str:
    """The findings: one line per rule, every one whole, or by what they have in common."""
    if detail == "brief":
        return findings_summary(findings, after)
    if detail == "all" or len(findings) <= MOST_WHOLE:
        return findings_text(findings)
    nodes = sum(len(scope.nodes) for scope in graph.scopes)
    return grouped_text(findings, after, nodes=nodes, width=width)


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
    text = listed(graph, findings, None, detail, page_width(error=True))
    say_findings(f"{text}\n", error=True)
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
