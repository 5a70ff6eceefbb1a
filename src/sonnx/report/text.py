"""Findings and calls as text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sonnx.model.location import Location
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.rule import Finding

# Names of a model may be as long as its file, and one may stand in thousands of findings.
LONGEST_NAME = 200
_LONGEST_TEXT = 1000
_MOST_NAMES = 20


def cut(text: str, most: int = _LONGEST_TEXT) -> str:
    """Leave out what is beyond the given number of characters, and say so."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} more characters)"


def short(name: object) -> str:
    """A name or a type of a model for a message: its beginning is enough to know it by."""
    return cut(str(name), LONGEST_NAME)


def inputs_text(inputs: Iterable[tuple[str, object]]) -> str:
    """What a model takes, on one line: names and types, the first ones where there are many."""
    listed = [f"{short(name)}: {short(kind)}" for name, kind in inputs]
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    return f"inputs of the model: {', '.join(listed[:_MOST_NAMES]) or 'none'}{more}"


def site_page(page: str) -> str:
    """The page of a rule as the documentation's site has it."""
    return page.replace(".md", ".html", 1)


def findings_text(findings: Sequence[Finding]) -> str:
    """Print findings one after the other: rule, place, values, help, where to read more."""
    return "\n\n".join(map(finding_text, findings))


def finding_text(finding: Finding) -> str:
    """Print one finding; nothing of it reaches the terminal as a control character."""
    place = location_text(finding.location) if finding.location else f"call of {finding.operator}"
    head = f"error[{finding.rule}]: {finding.statement.removesuffix('.')}"
    lines = [head, f"  --> {place}", *_values(finding)]
    lines += [f"  help: {finding.help}", f"  more: sonnx explain {finding.rule}"]
    return "\n".join(map(printable, lines))


def location_text(location: Location) -> str:
    """Say where something is: `net.onnx: node 3 `layer3/conv` (Conv)`."""
    head = f"{location.file}: " if location.file else ""
    return head + ", ".join(map(_part_text, location.path))


def _part_text(part: Location) -> str:
    if part.kind == "model":
        return "the model"
    index = "" if part.index is None else f" {part.index}"
    name = f" `{short(part.name)}`" if part.name else ""
    operator = f" ({short(part.operator)})" if part.kind == "node" else ""
    return f"{part.kind}{index}{name}{operator}"


def _values(finding: Finding) -> list[str]:
    shown = [[short(text) for text in (v.name, v.value, v.note)] for v in finding.values]
    names = max((len(name) for name, _, _ in shown), default=0)
    texts = max((len(value) for _, value, note in shown if note), default=0)
    return [
        f"   {name:<{names}} {_relation(value)} {value:<{texts}}   {note}".rstrip()
        for name, value, note in shown
    ]


def _relation(value: str) -> str:
    """Types are announced with a colon, values with an equals sign."""
    return ":" if value[:1].isalpha() and value.endswith("]") else "="


def printable(line: str) -> str:
    """Show control and other unprintable characters as escapes instead of sending them to a terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def call_text(call: Call) -> str:
    """Write a call on one line: `Conv(X: float[1,2,5,5], W: float[3,2,3,3]; pads=[1, 1])`."""
    inputs = ", ".join(
        f"{name}: {kind}{_constant(call.constants, name)}" for name, kind in call.inputs.items()
    )
    attributes = ", ".join(
        f"{name}={attribute_text(value)}" for name, value in call.attributes.items() if value is not ABSENT
    )
    outputs = ", ".join(f"{name}: {kind}" for name, kind in call.outputs.items())
    arrow = f" -> {outputs}" if outputs else ""
    version = "" if call.version is None else f" in version {call.version}"
    return f"{call.operator}({inputs}{'; ' if attributes else ''}{attributes}){arrow}{version}"


def _constant(constants: Mapping[str, tuple[Any, ...]], name: str) -> str:
    return f" = {list(constants[name])}" if name in constants else ""


def attribute_text(value: Any) -> str:
    """Write the value of an attribute as style demands: lists in brackets, text in quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(list(value)) if isinstance(value, (list, tuple)) else str(value)
