"""Findings as text for a terminal."""

from collections.abc import Sequence

from sonnx.model.rule import Finding


def findings_text(findings: Sequence[Finding]) -> str:
    """Print findings one after the other: rule, place, values, help, where to read more."""
    return "\n\n".join(map(finding_text, findings))


def finding_text(finding: Finding) -> str:
    """Print one finding; nothing of it reaches the terminal as a control character."""
    place = finding.location or f"call of {finding.operator}"
    head = f"error[{finding.rule}]: {finding.statement.removesuffix('.')}"
    lines = [head, f"  --> {place}", *_values(finding)]
    lines += [f"  help: {finding.help}", f"  more: sonnx explain {finding.rule}"]
    return "\n".join(map(printable, lines))


def _values(finding: Finding) -> list[str]:
    names = max((len(value.name) for value in finding.values), default=0)
    texts = max((len(value.value) for value in finding.values if value.note), default=0)
    return [
        f"   {value.name:<{names}} {_relation(value.value)} {value.value:<{texts}}   {value.note}".rstrip()
        for value in finding.values
    ]


def _relation(value: str) -> str:
    """Types are announced with a colon, values with an equals sign."""
    head = value.removeprefix("sparse ")[:1]
    return ":" if head.isalpha() and value.endswith("]") else "="


def printable(line: str) -> str:
    """Show control and other unprintable characters as escapes instead of sending them to a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
