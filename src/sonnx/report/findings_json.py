"""Findings as JSON, for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sonnx.model.location import Location
from sonnx.model.rule import Finding
from sonnx.report.text import LONGEST_NAME, cut, location_text, printable


def findings_json(
    findings: Sequence[Finding], *, file: str, sha256: str, size: int, version: str, complete: bool = True
) -> str:
    """Write `findings_document` as text; it is pure ASCII, whatever the model's names are."""
    document = findings_document(
        findings, file=file, sha256=sha256, size=size, version=version, complete=complete
    )
    return json_text(document, 2)


def findings_document(
    findings: Sequence[Finding], *, file: str, sha256: str, size: int, version: str, complete: bool = True
) -> dict[str, Any]:
    """Give the verdict on a model, and every finding with its place and values.

    `complete` tells whether the list holds all findings, or the check stopped at its limit.
    Names stand as the model has them, except that lone surrogates, which no UTF-8 can hold, are written
    as escapes, and that names beyond 200 characters are cut; so is any text beyond 1000.
    """
    # By identity: thousands of places may lie in one call, which need not be held anew for each.
    parts: dict[int, dict[str, Any]] = {}
    return {
        "tool": "sonnx",
        "version": version,
        "file": _sound(file),
        "size": size,
        "sha256": sha256,
        "conforms": not findings,
        "complete": complete,
        "counts": dict(Counter(finding.rule for finding in findings)),
        "findings": [_finding(finding, parts) for finding in findings],
    }


def json_text(document: Any, levels: int) -> str:
    """Write JSON for programs that people can read as well: what lies below `levels` is on one line."""
    return "".join(_written(document, levels, "\n")) + "\n"


def _written(value: Any, levels: int, line: str) -> Iterator[str]:
    if levels == 0 or not value or not isinstance(value, dict | list):
        yield json.dumps(value)
        return
    inner = f"{line}  "
    if isinstance(value, dict):
        entries = [(f"{json.dumps(key)}: ", entry) for key, entry in value.items()]
    else:
        entries = [("", entry) for entry in value]
    yield "{" if isinstance(value, dict) else "["
    for index, (key, entry) in enumerate(entries):
        yield f"{',' if index else ''}{inner}{key}"
        yield from _written(entry, levels - 1, inner)
    yield f"{line}{'}' if isinstance(value, dict) else ']'}"


def _place_text(finding: Finding) -> str:
    """Say where a finding is, fit to be shown."""
    location = finding.location
    return printable(cut(location_text(location) if location else f"call of {finding.operator}"))


def _finding(finding: Finding, parts: dict[int, dict[str, Any]]) -> dict[str, Any]:
    path = finding.location.path if finding.location else ()
    for part in path:
        if id(part) not in parts:
            parts[id(part)] = _part(part)
    return {
        "rule": finding.rule,
        "statement": finding.statement,
        "operator": _name(finding.operator),
        "location": {"text": _place_text(finding), "parts": [parts[id(part)] for part in path]},
        "values": [
            {"name": _text(shown.name), "value": _text(shown.value), "note": _text(shown.note)}
            for shown in finding.values
        ],
        "help": _text(finding.help),
        "page": finding.page,
        "more": f"sonnx explain {finding.rule}",
    }


def _part(part: Location) -> dict[str, Any]:
    operator = part.operator if part.kind == "node" else ""
    return {"kind": part.kind, "name": _name(part.name), "index": part.index, "operator": _name(operator)}


def _name(text: str) -> str:
    return _sound(cut(text, LONGEST_NAME))


def _text(text: str) -> str:
    return _sound(cut(text))


def _sound(text: str) -> str:
    """Make a text one that any reader of JSON takes."""
    return text.encode("utf-8", "backslashreplace").decode()
