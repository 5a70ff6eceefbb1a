import json
import xml.etree.ElementTree as ET

from sonnx.prove.reporting import proofs_json, proofs_junit, proofs_text, verdict
from sonnx.prove.result import Attempt, Goal, Proofs
from sonnx.sources import reference

PROVED = Goal("onnx/clip", "Clip", "a", "proved", "cvc4nofp", 0.25, law="a", place="onnx/clip/theory.mlw:3")
SMOKE = Goal("onnx/clip", "Clip", "false does not follow", "unknown", kind="smoke", seconds=1.0)
LATE = Goal(
    "graph",
    "Graph",
    "b'vc.2",
    "timeout",
    seconds=4.0,
    law="b",
    detail="postcondition",
    place="graph/theory.mlw:17",
    attempts=(Attempt("cvc4nofp", "timeout", 2.0), Attempt("z3new", "unknown", 2.0, "Unknown (sat)")),
)
BROKEN = Goal("graph", "Graph", "c", "failed", detail="exit code 1")
TOOLS = (("why3", "1.5.1"), ("z3", "4.8.12"))
HOSTILE = 'a"b<c>&\x1b[31m\x00\ud800\uffff]]>\n\u202e'


def test_the_table_counts_laws_goals_and_proofs_per_subject() -> None:
    text = proofs_text(Proofs((PROVED, SMOKE, LATE), TOOLS, 5.0, ("an axiom: known",)))
    assert text.split("\n\n") == [
        "subject    laws  goals  proved  consistent  seconds  provers\n"
        "onnx/clip     1      1       1         1/1      1.2  cvc4nofp\n"
        "graph         1      1       0           -      4.0  -\n"
        "all           2      2       1         1/1      5.2  cvc4nofp",
        "error[timeout]: graph: Graph.b'vc.2\n"
        "  --> graph/theory.mlw:17\n"
        "   postcondition\n"
        "   cvc4nofp: timeout, 2.0 s\n"
        "   z3new: unknown, 2.0 s, Unknown (sat)",
        "taken for granted:\n  an axiom: known",
        "NOT PROVED: 1 of 2 goals proved, 1 searches for contradictions found none, 5.0 s\n"
        "by why3 1.5.1, z3 4.8.12",
    ]


def test_the_verdict_says_what_was_kept_what_failed_and_when_there_was_nothing() -> None:
    assert verdict(Proofs((PROVED,), seconds=1.0)) == "1 of 1 goals proved, 1.0 s"
    assert verdict(Proofs(())) == "there was nothing to prove, 0.0 s"
    kept = Goal("s", "u", "n", "proved", cached=True)
    assert verdict(Proofs((kept, PROVED))).endswith("(1 of these results from an earlier run)")
    found = Goal("s", "u", "n", "contradiction", kind="smoke")
    assert verdict(Proofs((PROVED, found))) == (
        "NOT PROVED: 1 of 1 goals proved, 1 searches for contradictions went wrong in 1, 0.0 s"
    )


def test_the_json_has_every_goal_and_the_verdict() -> None:
    document = json.loads(proofs_json(Proofs((PROVED, SMOKE, LATE), TOOLS, 5.0, ("x",)), "1.2"))
    assert (document["tool"], document["version"], document["proved"]) == ("sonnx", "1.2", False)
    assert document["specification"] == reference()
    assert document["counts"] == {"laws": 2, "goals": 2, "proved": 1, "smoke": 1, "bad": 1}
    assert document["tools"] == [{"name": "why3", "version": "1.5.1"}, {"name": "z3", "version": "4.8.12"}]
    assert document["assumptions"] == ["x"]
    assert [(goal["name"], goal["good"]) for goal in document["goals"]] == [
        ("a", True),
        ("false does not follow", True),
        ("b'vc.2", False),
    ]
    assert document["goals"][2]["attempts"][1] == {
        "prover": "z3new",
        "verdict": "unknown",
        "seconds": 2.0,
        "detail": "Unknown (sat)",
    }


def test_reports_have_the_digests_of_what_was_proved_and_the_text_only_of_few() -> None:
    sources = tuple((f"file_{number}", f"{number}" * 64) for number in range(9))
    document = json.loads(proofs_json(Proofs((PROVED,), sources=sources), "1"))
    assert document["sources"] == [{"name": name, "sha256": digest} for name, digest in sources]
    few = [f"sha256 {digest}  {name}" for name, digest in sources[:8]]
    assert proofs_text(Proofs((PROVED,), sources=sources[:8])).splitlines()[-8:] == few
    assert "sha256" not in proofs_text(Proofs((PROVED,), sources=sources))
    assert json.loads(proofs_json(Proofs((PROVED,)), "1"))["sources"] == []


def test_the_junit_file_has_a_case_per_goal_and_tells_failures_from_errors() -> None:
    root = ET.fromstring(proofs_junit(Proofs((PROVED, SMOKE, LATE, BROKEN))))
    suites = {suite.get("name"): suite for suite in root.findall("testsuite")}
    clip, graph = suites["onnx/clip"], suites["graph"]
    assert (clip.get("tests"), clip.get("failures"), clip.get("errors")) == ("2", "0", "0")
    assert (graph.get("tests"), graph.get("failures"), graph.get("errors")) == ("2", "1", "1")
    late, broken = graph.findall("testcase")
    assert (late.get("classname"), late.get("name"), late.get("time")) == ("graph.Graph", "b'vc.2", "4.000")
    failure, error = late.find("failure"), broken.find("error")
    assert failure is not None
    assert failure.get("message") == "timeout postcondition"
    assert "z3new: unknown" in (failure.text or "")
    assert error is not None
    assert error.get("message") == "failed exit code 1"


def test_nothing_to_prove_is_a_failure_in_a_junit_file() -> None:
    root = ET.fromstring(proofs_junit(Proofs((SMOKE,))))
    assert len(root.findall(".//error")) == 1


def test_hostile_names_break_no_report() -> None:
    attempts = (Attempt(HOSTILE, "failed"),)
    goal = Goal(HOSTILE, HOSTILE, HOSTILE, "failed", detail=HOSTILE, place=HOSTILE, attempts=attempts)
    proofs = Proofs((goal,), ((HOSTILE, HOSTILE),), 0.0, (HOSTILE,), ((HOSTILE, "0" * 64),))
    root = ET.fromstring(proofs_junit(proofs).encode())
    (case,) = root.iter("testcase")
    assert case.get("name") == 'a"b<c>&[31m]]>\n\u202e'
    text = proofs_text(proofs)
    assert all(line.isprintable() for line in text.split("\n"))
    report = proofs_json(proofs, "1")
    assert report.isascii()
    assert json.loads(report)["goals"][0]["name"].startswith('a"b<c>&')
