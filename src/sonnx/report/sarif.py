"""Findings as SARIF 2.1.0, the format that code hosts and viewers of findings read."""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256 as sha_256
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import quote

from sonnx.model.location import Location
from sonnx.report.findings_json import About, json_text
from sonnx.report.text import LONGEST_NAME, cut, printable, site_page
from sonnx.sources import reference
from sonnx.vocabulary.rule import AnyRule, Finding

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")

Object = dict[str, Any]
# The findings of a model and what is said of its file; a file that cannot be read, and why.
Report = tuple[Sequence[Finding], About]
Unread = tuple[str, str]


def sarif(findings: Sequence[Finding], rules: Sequence[AnyRule], **about: Unpack[About]) -> str:
    """Write `sarif_document` as text; it is pure ASCII, whatever the model's names are."""
    return several_sarif([(findings, about)], rules)


def several_sarif(reports: Sequence[Report], rules: Sequence[AnyRule], unread: Sequence[Unread] = ()) -> str:
    """Write the findings of several models as one text."""
    return json_text(_log(reports, rules, unread), 6)


def sarif_document(findings: Sequence[Finding], rules: Sequence[AnyRule], **about: Unpack[About]) -> Object:
    """Give the findings of one model, with all rules that it was held against."""
    return _log([(findings, about)], rules, ())


def _log(reports: Sequence[Report], rules: Sequence[AnyRule], unread: Sequence[Unread]) -> Object:
    """The findings of models, at least one, in one run; hosts take no second run of one tool.

    `unread` names files that hold no model that could be judged, and says why.
    """
    places = _Places()
    indices = {rule.identifier: index for index, rule in enumerate(rules)}
    artifacts, results = [], []
    for index, (findings, about) in enumerate(reports):
        artifact = {**_artifact_location(about["file"]), "index": index}
        hashes = {"sha-256": about["sha256"]}
        roles = ["analysisTarget"]
        artifacts.append({"location": artifact, "length": about["size"], "roles": roles, "hashes": hashes})
        results += [
            _result(finding, indices, _location(finding, artifact, places), fingerprint)
            for finding, fingerprint in zip(findings, _fingerprints(findings), strict=True)
        ]
    run = {
        "tool": {"driver": _driver(rules, reports[0][1]["version"])},
        "invocations": [_invocation(reports, unread)],
        "artifacts": artifacts,
        "columnKind": "unicodeCodePoints",
        "logicalLocations": places.listed,
        "results": results,
    }
    return {"version": "2.1.0", "$schema": _SCHEMA, "runs": [run]}


def _invocation(reports: Sequence[Report], unread: Sequence[Unread]) -> Object:
    complete = all(about.get("complete", True) for _, about in reports)
    told = [
        {
            "level": "error",
            "message": _message(printable(cut(problem))),
            "locations": [{"physicalLocation": {"artifactLocation": _artifact_location(file)}}],
        }
        for file, problem in unread
    ]
    notifications = {"toolExecutionNotifications": told} if told else {}
    return {"executionSuccessful": not told, **notifications, "properties": {"complete": complete}}


def _driver(rules: Sequence[AnyRule], version: str) -> Object:
    semantic = {"semanticVersion": version} if _SEMANTIC.fullmatch(version) else {}
    return {
        "name": "sonnx",
        "version": version,
        **semantic,
        "properties": {"specification": reference()},
        "rules": [_descriptor(rule) for rule in rules],
    }


def _descriptor(rule: AnyRule) -> Object:
    command = f"sonnx explain {rule.identifier}"
    properties = {"restrictsOnnx": rule.restricts_onnx, "ruling": rule.ruling, "also": list(rule.also)}
    return {
        "id": rule.identifier,
        "shortDescription": _message(rule.statement),
        "fullDescription": _message(rule.reason),
        "help": {
            **_message(f"{rule.statement}\nWhy: {rule.reason}\nMore: {command}"),
            "markdown": _no_placeholders(
                f"{rule.statement}\n\n**Why:** {rule.reason}\n\n**More:** `{command}`"
            ),
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {**properties, "page": site_page(rule.page)},
    }


def _result(finding: Finding, indices: dict[str, int], location: Object, fingerprint: str) -> Object:
    return {
        "ruleId": finding.rule,
        "ruleIndex": indices.get(finding.rule, -1),  # -1 is the standard's word for none
        "kind": "fail",
        "level": "error",
        "message": _message("\n".join(_lines(finding))),
        "locations": [location],
        "partialFingerprints": {"ruleAndPlace/v1": fingerprint},
        **({"properties": {"follows": finding.follows}} if finding.follows else {}),
    }


def _lines(finding: Finding) -> list[str]:
    values = [
        f"{shown.name}: {shown.value}" + (f" ({shown.note})" if shown.note else "")
        for shown in finding.values
    ]
    lines = [finding.statement, *values, f"Help: {finding.help.removesuffix('.')}."]
    return [printable(cut(line)) for line in lines]


def _message(text: str) -> Object:
    # A name such as [x](https://example.org) must not become a link in somebody's viewer.
    return {"text": _no_placeholders(text.replace("](", "] ("))}


def _no_placeholders(text: str) -> str:
    """Double the braces, as the standard wants them where they do not stand for an argument."""
    return text.replace("{", "{{").replace("}", "}}")


def _artifact_location(file: str) -> Object:
    path = Path(file)
    # The standard wants paths through parent folders resolved: links would lead a reader elsewhere.
    if path.is_absolute() or ".." in path.parts:
        absolute = Path(os.path.realpath(path)) if ".." in path.parts else path
        return {"uri": absolute.as_uri().replace("file:////", "file:///")}
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": "%SRCROOT%"}


class _Places:
    """The logical locations of a run, each once, after the ones that it lies in."""

    def __init__(self) -> None:
        """Start with none."""
        self.listed: list[Object] = []
        self._indices: dict[str, int] = {}
        # By identity: thousands of places may lie in one call, which need not be written anew for each.
        self._known: dict[int, Object] = {}

    def add(self, location: Location) -> Object:
        """Refer to a location, which is listed now if it was not before."""
        for part in location.path:
            if id(part) not in self._known:
                self._known[id(part)] = self._add(part)
        return dict(self._known[id(location)])

    def _add(self, part: Location) -> Object:
        place = _place(part, self._known[id(part.inside)] if part.inside else None)
        index = self._indices.setdefault(json.dumps(place), len(self.listed))
        if index == len(self.listed):
            self.listed.append(place)
        return {"index": index, **{key: place[key] for key in ("name", "fullyQualifiedName", "kind")}}


def _place(part: Location, outer: Object | None) -> Object:
    name = _shown_name(_name(part))
    place: Object = {"name": name, "fullyQualifiedName": name, "kind": part.kind}
    if outer is not None:
        place["fullyQualifiedName"] = cut(f"{outer['fullyQualifiedName']}/{name}")
        place["parentIndex"] = outer["index"]
    if part.kind == "node":
        place["properties"] = {"index": part.index, "operator": _shown_name(part.operator)}
    return place


def _shown_name(name: str) -> str:
    return printable(cut(name, LONGEST_NAME))


def _name(part: Location) -> str:
    """Name a part; one without a name is named by what it is."""
    return part.name or (part.kind if part.index is None else f"{part.kind} {part.index}")


def _location(finding: Finding, artifact: Object, places: _Places) -> Object:
    logical = {"logicalLocations": [places.add(finding.location)]} if finding.location else {}
    return {"physicalLocation": {"artifactLocation": dict(artifact)}, **logical}


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Tell findings apart by what stays when a model is edited elsewhere: rule and names of the place.

    What rule and names leave open is settled by counting.
    """
    seen: Counter[str] = Counter()
    fingerprints = []
    for finding in findings:
        path = finding.location.path if finding.location else ()
        parts = [(part.kind, cut(_name(part)), cut(part.operator)) for part in path]
        shown = [cut(value.name) for value in finding.values]
        written = json.dumps([finding.rule, cut(finding.operator), parts, shown])
        # Names may be long and findings many: only the digest is kept.
        key = sha_256(written.encode()).hexdigest()
        fingerprints.append(sha_256(f"{written} {seen[key]}".encode()).hexdigest())
        seen[key] += 1
    return fingerprints
