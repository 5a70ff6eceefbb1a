"""Rules as text: the list of all, and one explained."""

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sonnx.model.rule import Finding, Rule
from sonnx.report.text import call_text, findings_text


def rules_table(rules: Iterable[Rule]) -> Table:
    """One line per rule: identifier, whether it restricts ONNX, statement."""
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("restricts ONNX", justify="center")
    table.add_column("statement")
    for rule in rules:
        table.add_row(Text(rule.identifier), "yes" if rule.restricts_onnx else "", Text(rule.statement))
    return table


def explanation(rule: Rule, findings: Sequence[Finding]) -> Group:
    """All there is to know of a rule, with a call that breaks it, its findings, and one that obeys it."""
    facts = Table.grid(padding=(0, 2))
    for name, fact in _facts(rule):
        facts.add_row(Text(name, style="bold"), Text(fact))
    return Group(
        Text(rule.identifier, style="bold"),
        Text(f"{rule.statement}\n"),
        facts,
        Text("\nA call that breaks it", style="bold"),
        Text(f"{call_text(rule.failing)}\n"),
        Text(f"{findings_text(findings)}\n"),
        Text("A call that obeys it", style="bold"),
        Text(call_text(rule.passing)),
    )


def _facts(rule: Rule) -> Iterable[tuple[str, str]]:
    yield "why", rule.reason
    yield "restricts ONNX", "yes" if rule.restricts_onnx else "no"
    if rule.ruling:
        yield "ruling", rule.ruling
    if rule.also:
        yield "also stated as", ", ".join(rule.also)
    yield "page", f"{rule.page.replace('.md', '.html')} in the documentation (make docs)"
