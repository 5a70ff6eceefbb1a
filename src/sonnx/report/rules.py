"""Rules as text: the list of all, and one explained."""

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sonnx.report.findings_json import json_text
from sonnx.report.graph_text import graph_text
from sonnx.report.text import call_text, findings_text, site_page
from sonnx.sources import reference
from sonnx.vocabulary.rule import AnyRule, Finding, GraphRule


def rules_table(rules: Iterable[AnyRule]) -> Table:
    """One line per rule: identifier, whether it restricts ONNX (where one does), statement."""
    listed = list(rules)
    restricts = any(rule.restricts_onnx for rule in listed)
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    if restricts:
        table.add_column("restricts ONNX", justify="center")
    table.add_column("statement")
    for rule in listed:
        flag = ["yes" if rule.restricts_onnx else ""] if restricts else []
        table.add_row(Text(rule.identifier), *flag, Text(rule.statement))
    return table


def rules_json(rules: Iterable[AnyRule], version: str) -> str:
    """Write rules for programs; `restricts_onnx` is null for those on XLA operations."""
    listed = [
        {
            "rule": rule.identifier,
            "statement": rule.statement,
            "reason": rule.reason,
            "restricts_onnx": None if rule.identifier.startswith("xla.") else rule.restricts_onnx,
            "rulings": [name for name in rule.ruling.split(", ") if name],
            "also": list(rule.also),
            "page": site_page(rule.page),
        }
        for rule in rules
    ]
    return json_text({"tool": "sonnx", "version": version, "specification": reference(), "rules": listed}, 2)


def explanation(rule: AnyRule, findings: Sequence[Finding]) -> Group:
    """All there is to know of a rule, with an example that breaks it, its findings, and one that obeys it."""
    kind, failing, passing = _examples(rule)
    facts = Table.grid(padding=(0, 2))
    for name, fact in _facts(rule):
        facts.add_row(Text(name, style="bold"), Text(fact))
    return Group(
        Text(rule.identifier, style="bold"),
        Text(f"{rule.statement}\n"),
        facts,
        Text(f"\nA {kind} that breaks it", style="bold"),
        Text(f"{failing}\n"),
        Text(f"{findings_text(findings)}\n"),
        Text(f"A {kind} that obeys it", style="bold"),
        Text(passing),
    )


def _examples(rule: AnyRule) -> tuple[str, str, str]:
    """What the examples are, the failing one and the passing one."""
    if isinstance(rule, GraphRule):
        return "model", graph_text(rule.failing), graph_text(rule.passing)
    return "call", call_text(rule.failing), call_text(rule.passing)


def _facts(rule: AnyRule) -> Iterable[tuple[str, str]]:
    yield "why", rule.reason
    if not rule.identifier.startswith("xla."):
        yield "restricts ONNX", "yes" if rule.restricts_onnx else "no"
    if rule.ruling:
        yield "ruling", rule.ruling
    if rule.also:
        yield "also stated as", ", ".join(rule.also)
    yield "page", f"{site_page(rule.page)} in the documentation (make docs)"
