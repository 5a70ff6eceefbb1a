"""Rules as text: the list of all, and one explained."""

from collections.abc import Iterable

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sonnx.check.calls import check_call
from sonnx.model.call import Call
from sonnx.model.rule import Rule
from sonnx.operators import operator
from sonnx.report.text import findings_text


def rules_table(rules: Iterable[Rule]) -> Table:
    """One line per rule: identifier, whether it restricts ONNX, statement."""
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("restricts ONNX", justify="center")
    table.add_column("statement")
    for rule in rules:
        table.add_row(Text(rule.identifier), "yes" if rule.restricts_onnx else "", Text(rule.statement))
    return table


def explanation(rule: Rule) -> Group:
    """All there is to know of a rule, with a call that breaks it and one that does not."""
    facts = Table.grid(padding=(0, 2))
    for name, fact in _facts(rule):
        facts.add_row(Text(name, style="bold"), Text(fact))
    findings = findings_text(check_call(operator(rule.failing.operator), rule.failing))
    return Group(
        Text(rule.identifier, style="bold"),
        Text(f"{rule.statement}\n"),
        facts,
        Text("\nA call that breaks it", style="bold"),
        Text(f"{call_text(rule.failing)}\n"),
        Text(f"{findings}\n"),
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


def call_text(call: Call) -> str:
    """Write a call with types for operands: `Clip(input: float[2,3], min: float[], ...) -> ...`."""
    parts = [f"{name}: {kind}{_elements(call, name)}" for name, kind in call.inputs.items()]
    parts += [f"{name}={_value(value)}" for name, value in call.attributes.items()]
    declared = ", ".join(f"{name}: {kind}" for name, kind in call.outputs.items())
    return f"{call.operator}({', '.join(parts)})" + (f" -> {declared}" if declared else "")


def _elements(call: Call, name: str) -> str:
    return f" = {list(call.constants[name])}" if name in call.constants else ""


def _value(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(value)
