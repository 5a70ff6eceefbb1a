"""Findings as JSON, for programs."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sonnx.model.location import Location
from sonnx.model.rule import Finding
from sonnx.report.text import location_text, printable

# Names of a model may be as long as its file, and one may stand in thousands of findings.
_LONGEST = 1000


def findings_json(findings: Sequence[Finding], *, file: str, sha256: str, size: int, version: str) -> str:
    """Write `findings_document` as text; it is pure ASCII, whatever the model's names are."""
    document = findings_document(findings, file=file, sha256=sha256, size=size, version=version)
    return json.dumps(document, indent=2) + "\n"


def findings_document(
    findings: Sequence[Finding], *, file: str, sha256: str, size: int, version: str
) -> dict[str, Any]:
    """Give the verdict on a model, and every finding with its place and values.

    Names stand as the model has them, except that lone surrogates, which no UTF-8 can hold, are written
    as escapes, and that text beyond 1000 characters is cut.
    """
    document: dict[str, Any] = {
        "tool": "sonnx",
        "version": version,
        "file": file,
        "size": size,
        "sha256": sha256,
        "conforms": not findings,
        "counts": dict(Counter(finding.rule for finding in findings)),
        "findings": [_finding(finding) for finding in findings],
    }
    return {key: _sound(value) for key, value in document.items()}


def place_text(finding: Finding) -> str:
    """Say where a finding is, fit to be shown."""
    location = finding.location
    return printable(cut(location_text(location) if location else f"call of {finding.operator}"))


def cut(text: str, most: int = _LONGEST) -> str:
    """Leave out what is beyond the given number of characters, and say so."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} more characters)"


def _finding(finding: Finding) -> dict[str, Any]:
    parts = finding.location.path if finding.location else ()
    return {
        "rule": finding.rule,
        "statement": finding.statement,
        "operator": finding.operator,
        "location": {"text": place_text(finding), "parts": [_part(part) for part in parts]},
        "values": [
            {"name": shown.name, "value": shown.value, "note": shown.note} for shown in finding.values
        ],
        "help": finding.help,
        "page": finding.page,
        "more": f"sonnx explain {finding.rule}",
    }


def _part(part: Location) -> dict[str, Any]:
    operator = part.operator if part.kind == "node" else ""
    return {"kind": part.kind, "name": part.name, "index": part.index, "operator": operator}


def _sound(value: Any) -> Any:
    """Make every text below a value one that any reader of JSON takes."""
    if isinstance(value, str):
        return cut(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_sound(element) for element in value]
    if isinstance(value, dict):
        return {key: _sound(element) for key, element in value.items()}
    return value
