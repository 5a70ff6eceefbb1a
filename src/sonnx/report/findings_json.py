"""Findings as JSON, for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

from sonnx.model.location import Location
from sonnx.report.text import LONGEST_NAME, cut, location_text, printable, site_page
from sonnx.sources import reference
from sonnx.vocabulary.rule import Finding


class About(TypedDict):
    """What a report says of the model's file, and of itself.

    `complete` is false where there are more findings than the report lists.
    """

    file: str
    sha256: str
    size: int
    version: str
    complete: NotRequired[bool]


def findings_json(findings: Sequence[Finding], **about: Unpack[About]) -> str:
    """Write `findings_document` as text; it is pure ASCII, whatever the model's names are."""
    return json_text(findings_document(findings, **about), 2)


def findings_document(findings: Sequence[Finding], **about: Unpack[About]) -> dict[str, Any]:
    """Give the verdict on a model, and every finding with its place and values.

    Names stand as the model has them, except that lone surrogates, which no UTF-8 can hold, are written
    as escapes, and that names beyond 200 characters are cut; so is any text beyond 1000.
    """
    # By identity: thousands of places may lie in one call, which need not be held anew for each.
    parts: dict[int, dict[str, Any]] = {}
    return {
        "tool": "sonnx",
        "version": about["version"],
        "specification": reference(),
        "file": _sound(about["file"]),
        "size": about["size"],
        "sha256": about["sha256"],
        "conforms": not findings,
        "complete": about.get("complete", True),
        "counts": dict(Counter(finding.rule for finding in findings)),
        "findings": [_finding(finding, parts) for finding in findings],
    }


def several_json(documents: Sequence[dict[str, Any]], unread: Sequence[tuple[str, str]], version: str) -> str:
    """Write what `findings_document` gives of several models as one text, with why others cannot be read."""
    failed = [{"file": _sound(file), "error": _text(problem)} for file, problem in unread]
    whole = {
        "tool": "sonnx",
        "version": version,
        "conforms": not failed and all(document["conforms"] for document in documents),
        "files": [*documents, *failed],
    }
    return json_text(whole, 4)


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
        "follows": finding.follows,
        "page": site_page(finding.page),
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
