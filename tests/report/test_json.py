"""Findings as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.loops import for_each

from sonnx.check.models import check_graph
from sonnx.model.location import Location
from sonnx.operators import GRAPH_RULES
from sonnx.operators.rulebook import rules
from sonnx.report.findings_json import findings_document, findings_json
from sonnx.sources import reference
from sonnx.vocabulary.rule import Finding, GraphRule, Shown

SHA = "0f" * 32
CALL = Location("node", "block", 4, "Limit", "net.onnx")
CLIP = Location("node", "clip", 0, "Clip", "net.onnx", CALL)
FOUND = Finding(
    "clip.min.C1",
    "`min` must be a scalar.",
    "Clip",
    (Shown("min", "float[1]", "1 axis"), Shown("input", "float[2]")),
    "make it a scalar",
    "operators/clip.md#clip-min-c1",
    CLIP,
)
# Whatever bytes a file can put into a name: halves of surrogate pairs come from what is no UTF-8.
NAMES = st.text(st.characters(exclude_categories=()), max_size=8)


def document(findings: Sequence[Finding], file: str = "net.onnx") -> dict[str, Any]:
    return findings_document(findings, file=file, sha256=SHA, size=17, version="1.2.3")


def text(findings: Sequence[Finding], file: str = "net.onnx") -> str:
    return findings_json(findings, file=file, sha256=SHA, size=17, version="1.2.3")


def test_a_finding_is_written_with_all_its_parts() -> None:
    assert document([FOUND]) == {
        "tool": "sonnx",
        "version": "1.2.3",
        "specification": reference(),
        "file": "net.onnx",
        "size": 17,
        "sha256": SHA,
        "conforms": False,
        "complete": True,
        "counts": {"clip.min.C1": 1},
        "findings": [
            {
                "rule": "clip.min.C1",
                "statement": "`min` must be a scalar.",
                "operator": "Clip",
                "location": {
                    "text": "net.onnx: node 4 `block` (Limit), node 0 `clip` (Clip)",
                    "parts": [
                        {"kind": "node", "name": "block", "index": 4, "operator": "Limit"},
                        {"kind": "node", "name": "clip", "index": 0, "operator": "Clip"},
                    ],
                },
                "values": [
                    {"name": "min", "value": "float[1]", "note": "1 axis"},
                    {"name": "input", "value": "float[2]", "note": ""},
                ],
                "help": "make it a scalar",
                "follows": "",
                "page": "operators/clip.html#clip-min-c1",
                "more": "sonnx explain clip.min.C1",
            }
        ],
    }


def test_a_model_without_findings_conforms() -> None:
    found = document([])
    assert found["conforms"] is True
    assert found["findings"] == []
    assert found["counts"] == {}


def test_findings_are_counted_by_rule() -> None:
    other = Finding("graph.D1", "s", "", (), "h", "p", Location("model"))
    assert document([FOUND, other, FOUND])["counts"] == {"clip.min.C1": 2, "graph.D1": 1}


def test_a_finding_on_a_call_says_whose_call() -> None:
    found = document([Finding("clip.min.C1", "s", "Clip", (), "h", "p")])["findings"][0]
    assert found["location"] == {"text": "call of Clip", "parts": []}


def test_the_domain_of_a_function_is_not_taken_for_an_operator() -> None:
    place = Location("function", "Limit", operator="example.functions")
    part = document([Finding("graph.D13", "s", "", (), "h", "p", place)])["findings"][0]["location"]["parts"][
        0
    ]
    assert part == {"kind": "function", "name": "Limit", "index": None, "operator": ""}


@for_each("rule", GRAPH_RULES, ids=lambda rule: rule.identifier)
def test_text_and_document_say_the_same_of_every_example(rule: GraphRule) -> None:
    findings = check_graph(rule.failing)
    assert json.loads(text(findings)) == document(findings)
    assert text(findings) == text(check_graph(rule.failing))
    assert rule.identifier in document(findings)["counts"]


@given(NAMES, NAMES)
def test_every_name_is_written_in_ascii_and_read_back_as_it_was(name: str, file: str) -> None:
    place = Location("input", name, file=file)
    written = text([Finding("r", "s", name, (Shown(name, name, name),), name, "p", place)], file)
    assert written.isascii()
    assert all(character.isprintable() or character == "\n" for character in written)
    read = json.loads(written)
    # Readers that keep to UTF-8 take it too.
    json.dumps(read, ensure_ascii=False).encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in name):
        assert read["findings"][0]["location"]["parts"][0]["name"] == name


def test_one_finding_is_one_line() -> None:
    lines = [line.strip().rstrip(",") for line in text([FOUND, FOUND]).split("\n")]
    assert [json.loads(line) for line in lines if line.startswith('{"rule"')] == [
        document([FOUND])["findings"][0]
    ] * 2


def test_the_path_of_the_file_is_never_cut() -> None:
    path = "folder/" * 500 + "net.onnx"
    assert document([], path)["file"] == path


def test_a_byte_that_is_no_utf_8_is_shown_as_an_escape() -> None:
    place = Location("tensor", b"a\xff".decode("utf-8", "surrogateescape"))
    found = document([Finding("r", "s", "", (), "h", "p", place)])["findings"][0]
    assert found["location"]["parts"][0]["name"] == "a\\udcff"
    assert found["location"]["text"] == "tensor `a\\udcff`"


def test_a_control_character_is_kept_in_a_name_and_shown_as_an_escape_in_the_text() -> None:
    found = document([Finding("r", "s", "", (), "h", "p", Location("tensor", "a\x1b[2J"))])["findings"][0]
    assert found["location"]["parts"][0]["name"] == "a\x1b[2J"
    assert found["location"]["text"] == "tensor `a\\x1b[2J`"


def test_an_endless_name_is_cut_and_says_so() -> None:
    place = Location("tensor", "a" * 10**6)
    found = document([Finding("r", "s", "", (Shown("b" * 10**6, "v"),), "h", "p", place)])["findings"][0]
    assert found["location"]["parts"][0]["name"] == "a" * 200 + "... (999800 more characters)"
    assert found["values"][0]["name"] == "b" * 1000 + "... (999000 more characters)"
    assert len(json.dumps(found)) < 3000


def test_every_statement_is_written_whole() -> None:
    findings = [Finding(rule.identifier, rule.statement, "", (), "h", rule.page) for rule in rules()]
    assert [found["statement"] for found in document(findings)["findings"]] == [r.statement for r in rules()]


def test_a_list_that_was_cut_says_so() -> None:
    cut_off = findings_document([], file="net.onnx", sha256=SHA, size=17, version="1.2.3", complete=False)
    assert cut_off["complete"] is False
