"""Reports on a runtime: everything is in them, and nothing that a runtime says is obeyed by a reader."""

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import jsonschema
import numpy as np
import pytest
from tests.conformance.report_samples import (
    HOSTILE,
    NAN,
    F,
    cases,
    departure,
    hostile,
    lost_sign,
    lost_value,
    many,
    nan_min,
    other_sum,
    report,
    sample,
    stop,
    trial,
)
from tests.loops import for_each

from sonnx import TensorType, same_bits
from sonnx.conformance.reporting.arrays import MOST_BYTES, MOST_ELEMENTS, array_entry, array_text
from sonnx.conformance.reporting.facts import Pointer, departures_once, pointer
from sonnx.conformance.reporting.junit import report_junit
from sonnx.conformance.reporting.page import packed, report_page
from sonnx.conformance.reporting.reports_json import report_document, report_json, report_schema
from sonnx.conformance.reporting.terminal_text import report_text
from sonnx.conformance.result import CaseVerdict, Cell, Departure, Report, Stop
from sonnx.conformance.runtimes.packing import Packed, unpack
from sonnx.model.dtype import DType
from sonnx.sources import reference
from sonnx.vocabulary.special_values import special_vector

WIDTH = 110
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ANSI = re.compile(r"\x1b\[[\d;]+m")
TYPES = [dtype for dtype in DType if dtype is not DType.REAL]


def documents(*reports: Report) -> list[dict[str, Any]]:
    return [json.loads(report_json(each)) for each in reports]


# The terminal


def test_the_summary_begins_with_the_verdict_and_ends_with_the_rate() -> None:
    first, *_, last = report_text(sample()).split("\n")
    assert first == "onnxruntime 1.31.1 crashes, and departs from the specification"
    assert last == "430 cases (370 of the search), 12.5 s, 34 a second"


def test_the_matrix_has_a_sign_for_every_cell() -> None:
    lines = report_text(sample()).split("\n")
    assert lines[3:8] == [
        "       f16  f32  f64  i8   str  bf16",
        "Clip   x1   x1   x1   ok",
        "Conv        x1",
        "Where       x1        ok -      -",
        "Expand                     !1",
    ]


def test_what_departs_besides_a_crash_is_told_as_far_as_there_is_room() -> None:
    crash = stop("where", DType.FLOAT, "crashes", "late: no answer within 20 seconds", 0)
    plain = lost_value()
    wrong = (plain, replace(lost_sign(), cause=plain.key))

    def told(departures: tuple[Departure, ...], crashes: int) -> str:
        stops = tuple(replace(crash, said=f"crashed {'x' * n}") for n in range(crashes))
        cell = Cell("where", DType.FLOAT, cases(), (), departures, stops)
        return report_text(report(cell)).split("\n")[4].split()[1]

    assert told((), 1) == "!1"
    assert told(wrong[:1], 1) == "!1x1"
    assert told(wrong, 1) == "!1x1"
    assert told(wrong[:1] * 12, 1) == "!x12"
    assert told(wrong[:1] * 120, 1) == "!x+"
    only = report_text(report(Cell("where", DType.FLOAT, cases(), (), (), (crash,))))
    assert only.split("\n")[0] == "onnxruntime 1.31.1 crashes"


def test_what_the_search_alone_has_found_is_told_beside_the_numbers_of_vectors() -> None:
    crash = stop("where", DType.FLOAT, "crashes", "late: no answer within 20 seconds", 0)
    lost = lost_sign(source="search", cases=0)
    shown = report(Cell("where", DType.FLOAT, cases(), (), (lost,), (crash,)))
    words = "found by the search alone: 1 crash, 1 departure"
    assert f"\n5 vectors: 5 conform\n{words}\n" in report_text(shown)
    document, plain, outside = documents(shown, report(Cell("where", DType.FLOAT, cases(), ())), sample())
    assert (document["by_search"], plain["by_search"]) == (words, "")
    assert outside["by_search"] == "found by the search alone: 1 departure"


def test_a_departure_is_told_once_for_all_its_types_with_the_smallest_example() -> None:
    larger = trial({"input": np.array([-0.0, 1], F), "min": NAN, "max": np.array(1, F)})
    two = departure("clip", DType.FLOAT, larger, [np.array([np.nan, 1], F)], cases=3)
    cells = [
        Cell("clip", DType.FLOAT, (), (), (two,)),
        Cell("clip", DType.DOUBLE, (), (), (nan_min(DType.DOUBLE),)),
    ]
    text = report_text(report(*cells))
    assert text.count("A NaN min does not bound") == 1
    expected = """error[D-CLIP-1]: Clip: A NaN min does not bound
  --> float, double: 27 vectors, first from-quiet-nan-to-one
   input = [-0x0p+0 (0x8000000000000000)]; min = nan(0x8000000000000) (0x7ff8000000000000);
   max = 0x1p+0 (0x3ff0000000000000)
   specified -0x0p+0 (0x8000000000000000), found nan(0x8000000000000) (0x7ff8000000000000) of `output`[0]
  more: sonnx explain D-CLIP-1"""
    assert expected in text


def test_kinds_of_one_clause_are_told_apart() -> None:
    asked = trial({"input": NAN.reshape(1), "min": np.array(0, F), "max": np.array(1, F)})
    found = (np.array([0x7FC00001], np.uint32).view(F), np.zeros(1, F))
    both = tuple(departure("clip", DType.FLOAT, asked, [array]) for array in found)
    assert both[0].clause == both[1].clause
    told = departures_once([Cell("clip", DType.FLOAT, (), (), both)])
    assert [once.departure.difference.kind for once in told] == ["bits of NaN", "value"]


def caused(dtype: DType, *, of: Departure | None, cases: int = 7) -> Departure:
    """A sign that is lost, perhaps by another departure."""
    return replace(lost_sign(dtype), cause=None if of is None else of.key, cases=cases)


def test_what_may_be_the_same_fault_stands_behind_the_plainer_departure() -> None:
    shown = []
    for dtype in (DType.FLOAT, DType.DOUBLE):
        plain = lost_value(dtype)
        shown.append(Cell("where", dtype, cases(), (), (caused(dtype, of=plain), plain)))
    (once,) = departures_once(shown)
    assert once.departure.difference.kind == "value"
    (behind,) = once.behind
    assert (behind.types, behind.cases) == ((DType.FLOAT, DType.DOUBLE), 14)
    text = report_text(report(*shown))
    assert text.count("error[") == 1
    assert re.search(r"\nWhere +x1\+ +x1\+\n", text)
    told = text[text.index("  perhaps the same fault:\n") :]
    # Whatever stands behind another keeps its example.
    assert re.search(r"\n     condition = .*; X = .*-0x0p\+0 \(0x80000000\).*; Y = ", told)
    assert "     specified -0x0p+0 (0x80000000), found 0x0p+0 (0x00000000)" in told
    assert re.search(r"D-WHERE-2: .*\(float, double: 14 vectors; sign\s+of zero\)", told, re.DOTALL)
    document = report_document(report(*shown))
    assert [[each["cause"] for each in cell["departures"]] for cell in document["cells"]] == [[1, None]] * 2


def test_what_is_the_same_fault_on_some_types_only_stands_alone() -> None:
    plain = lost_value(DType.FLOAT)
    first = Cell("where", DType.FLOAT, cases(), (), (caused(DType.FLOAT, of=plain), plain))
    second = Cell("where", DType.DOUBLE, cases(), (), (caused(DType.DOUBLE, of=None),))
    sign, value = departures_once([first, second])
    assert (sign.behind, value.behind) == ((), ())
    assert (sign.types, sign.cases) == ((DType.FLOAT, DType.DOUBLE), 14)
    assert sign.cell is second  # whose example has no plainer one


def test_lines_fit_and_need_no_colour() -> None:
    for each in (sample(), hostile()):
        plain, coloured = report_text(each), report_text(each, colours=True)
        assert ANSI.sub("", coloured) == plain != coloured
        assert max(map(len, plain.split("\n"))) <= WIDTH


def test_all_operators_and_types_fit_into_the_width() -> None:
    operators = ("clip", "xla.conv_with_general_padding")
    cells = [Cell(name, dtype, cases(), ()) for name in operators for dtype in TYPES]
    assert max(map(len, report_text(report(*cells)).split("\n"))) <= WIDTH


def test_what_the_profile_does_not_specify_stands_apart() -> None:
    text = report_text(sample())
    inside, outside = text.split("outside the profile")
    assert "ConvertElementType" not in inside
    assert "specified 127, found 0; float" in outside


def test_what_is_not_supported_is_grouped_by_operator_and_reason() -> None:
    said = [
        "  Where on bfloat16: 4 vectors; refused: NotImplemented: no kernel",
        "  Where on int8: 1 vector; refused: NotImplemented: no shape",
    ]
    assert "\n".join(["not supported:", *said, ""]) in report_text(sample())


def test_an_empty_report_says_that_nothing_was_supported() -> None:
    assert report_text(report(seconds=0.0)).startswith("onnxruntime 1.31.1 supports nothing that was asked\n")


def test_a_sum_of_any_order_is_not_said_to_have_one_result() -> None:
    wrong = departure("conv", DType.FLOAT, other_sum().trial, [np.zeros((1, 1, 1, 1), F)])
    assert "Any order of the sum" in report_text(report(Cell("conv", DType.FLOAT, (), (), (wrong,))))
    assert "Any order of the sum" not in report_text(sample())
    ordered = report(Cell("conv", DType.FLOAT, (), (), (wrong,)), sums="separate")
    assert "Any order of the sum" not in report_text(ordered)


def test_an_identifier_without_an_explanation_names_the_page_of_the_operator() -> None:
    shape = departure("clip", DType.FLOAT, nan_min(DType.FLOAT).trial, [np.zeros((2, 2), F)])
    assert shape.identifier == "clip.outputs"
    assert "more: operators/clip.html" in report_text(report(Cell("clip", DType.FLOAT, (), (), (shape,))))
    assert pointer("clip", "clip.min.D1").page == "operators/clip.html#clip-min-d1"
    assert pointer("conv", "D-ALL-4").page == "operators/general.html#d-all-4"


def test_a_ruling_on_the_page_of_another_operator_is_pointed_to_there() -> None:
    found = pointer("add", "D-WHERE-1")
    assert (found.command, found.page) == ("sonnx explain D-WHERE-1", "operators/where.html#d-where-1")
    assert pointer("add", "D-NOWHERE-1") == Pointer("", "operators/add.html")


# JSON


def test_every_report_fits_the_schema() -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    shape = departure(
        "clip", DType.FLOAT, nan_min(DType.FLOAT).trial, [TensorType(None, (2,), foreign="float8")]
    )
    none = departure("clip", DType.FLOAT, nan_min(DType.FLOAT).trial, [])
    odd = report(
        Cell("clip", DType.FLOAT, (), (), (shape, none)), options={"seconds": float("nan"), "x": 2.5}
    )
    for document in documents(sample(), hostile(), odd, report()):
        jsonschema.validate(document, schema)


def test_the_schema_knows_everything_that_is_written() -> None:
    (document,) = documents(sample())
    document["cells"][0]["departures"][0]["more than that"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, report_schema())


def test_the_same_report_gives_the_same_texts() -> None:
    one, other = sample(), sample()
    for write in (report_json, report_page, report_junit, report_text):
        assert write(one) == write(other)
    later = report_json(replace(other, seconds=99.0))
    assert re.sub(r'"seconds": [\d.]+', "", later) == re.sub(r'"seconds": [\d.]+', "", report_json(one))
    assert "date" not in report_document(one)
    assert report_document(one)["specification"] == reference()
    assert report_document(one, date="2025-11-16")["date"] == "2025-11-16"


@for_each("dtype", TYPES)
def test_an_array_is_rebuilt_from_its_bytes(dtype: DType) -> None:
    array = special_vector(dtype, signalling=True)
    entry = array_entry(array)
    back = unpack(Packed(DType(entry["type"]), tuple(entry["shape"]), bytes.fromhex(entry["hex"])))
    assert same_bits(back, array)
    assert len(entry["elements"]) == array.size


def test_elements_have_their_value_and_their_bits() -> None:
    entry = array_entry(np.array([[-0.0, 0.1]], F))
    assert entry["shape"] == [1, 2]
    assert entry["elements"] == ["-0x0p+0 (0x80000000)", "0x1.99999ap-4 (0x3dcccccd)"]
    assert entry["decimals"] == ["-0.0", "0.1"]
    assert entry["hex"] == "00000080cdcccc3d"
    assert array_entry(np.array([65504], np.float16))["decimals"] == ["65504.0"]
    assert array_entry(np.array([0, 1, 7], np.uint8).view(bool))["elements"] == [
        "False",
        "True",
        "True (0x07)",
    ]


def test_a_large_array_is_not_written_out() -> None:
    entry = array_entry(np.zeros(MOST_BYTES // 4 + 1, F))
    assert entry["hex"] is None
    assert len(entry["elements"]) == MOST_ELEMENTS
    assert array_text(np.arange(9)) == "[0, 1, 2, 3, ... (5 more)]"


def test_the_elements_that_differ_are_named() -> None:
    operands = {"condition": np.ones(3, bool), "X": np.array([1, -0.0, -0.0], F), "Y": np.zeros(3, F)}
    wrong = departure("where", DType.FLOAT, trial(operands), [np.array([1, 0, 0], F)])
    (document,) = documents(report(Cell("where", DType.FLOAT, (), (), (wrong,))))
    assert document["cells"][0]["departures"][0]["found"][0]["differs"] == [1, 2]


def test_cases_are_listed_with_what_they_break() -> None:
    (document,) = documents(sample())
    rows = document["cells"][0]["cases"]
    assert rows[0] == ["from-quiet-nan-to-0", "departs", "D-CLIP-1"]
    assert rows[-1] == ["random-4", "conforms"]


# JUnit


def suites(each: Report) -> dict[str, ET.Element]:
    root = ET.fromstring(report_junit(each).encode())
    return {suite.attrib["name"]: suite for suite in root}


def test_a_suite_counts_what_it_holds() -> None:
    for suite in suites(sample()).values():
        told = {"tests": "testcase", "failures": ".//failure", "errors": ".//error", "skipped": ".//skipped"}
        for attribute, path in told.items():
            assert suite.attrib[attribute] == str(len(suite.findall(path)))
    assert {name: suite.attrib["failures"] for name, suite in suites(sample()).items()}[
        "Clip on float"
    ] == "3"


def test_a_vector_is_told_of_those_clauses_alone_that_it_breaks() -> None:
    sign, value = lost_sign(), replace(lost_value(), cause=lost_sign().key)
    assert sign.identifier == value.identifier
    listed = (
        CaseVerdict("one", "departs", sign.identifier, (sign.key,)),
        CaseVerdict("other", "departs", value.identifier, (value.key,)),
        CaseVerdict("both", "departs", value.identifier, (value.key, sign.key)),
    )
    suite = suites(report(Cell("where", DType.FLOAT, listed, (), (sign, value))))["Where on float"]
    texts = [suite.find(f"testcase[@name='{name}']/failure") for name in ("one", "other", "both")]
    heads = [f"{each.identifier}: {each.clause}\nsmallest" for each in (sign, value)]
    found = [[head in (each.text or "") for head in heads] for each in texts if each is not None]
    assert found == [[True, False], [False, True], [True, True]]
    assert texts[1] is not None
    assert f"perhaps the same fault as D-WHERE-2: {sign.clause}" in (texts[1].text or "")


def test_what_was_not_asked_in_full_conforms_so_far() -> None:
    one = Cell("clip", DType.INT8, cases(), ())
    for partial, words in (("", "conforms to the specification"), ("time was up", "conforms so far, but")):
        shown = report(one, partial=partial)
        assert words in report_text(shown).split("\n")[0]
        assert words in report_document(shown)["verdict_text"]
    broken = replace(one, departures=(nan_min(DType.FLOAT),))
    assert "departs from the specification" in report_text(report(broken, partial="time was up"))


def test_every_suite_says_what_was_asked_on_what_and_with_what() -> None:
    shown = replace(sample(), environment={"python": "3.12.1", "system": HOSTILE}, settings={"timeout": 20.0})
    for suite in suites(shown).values():
        told = {each.attrib["name"]: each.attrib["value"] for each in suite.iterfind("properties/property")}
        assert suite[0].tag == "properties"  # where schemas want it
        wanted = {"runtime": "onnxruntime", "version": "1.31.1", "option.level": "all", "sums": "free"}
        assert wanted.items() <= told.items()
        assert {"seed": "0", "timeout": "20.0", "python": "3.12.1"}.items() <= told.items()
        assert not CONTROLS.search(told["system"])


def test_a_failure_has_the_clause_and_both_results() -> None:
    failure = suites(sample())["Clip on float"].find("testcase[@name='from-quiet-nan-to-1']/failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.attrib["message"] == "D-CLIP-1: A NaN min does not bound."
    assert "specified: -0x0p+0 (0x80000000)" in failure.text
    assert "found: nan(0x400000) (0x7fc00000)" in failure.text


def test_crashes_are_errors_and_what_is_not_supported_is_skipped() -> None:
    found = suites(sample())
    error = found["Expand on string"].find("testcase[@name='long-0']/error")
    assert error is not None
    assert error.text == "crashed: signal 11 (SIGSEGV)"
    assert found["Expand on string"].find("testcase[@name='unasked: 17 vectors']/skipped") is not None
    assert found["Where on bfloat16"].attrib["skipped"] == found["Where on bfloat16"].attrib["tests"] == "4"


def test_what_only_the_search_has_found_fails_as_well() -> None:
    where = suites(sample())["Where on float"]
    assert where.find("testcase[@name='search: D-WHERE-2']/failure") is not None
    assert suites(sample())["Clip on float"].find("testcase[@name='search: 100 cases']") is not None
    crash = Stop("crashes", "crashed: exit code 3", 0, "search", nan_min(DType.FLOAT).trial)
    by_search = suites(report(Cell("clip", DType.FLOAT, (), (), stops=(crash,), searched=9)))
    assert by_search["Clip on float"].find("testcase[@name='search']/error") is not None


def test_nothing_fails_outside_the_profile() -> None:
    outside = suites(sample())["xla.ConvertElementType on float"]
    assert (outside.attrib["failures"], outside.attrib["skipped"]) == ("0", "1")


def test_nothing_asked_is_a_failure() -> None:
    assert suites(report())["sonnx conformance"].attrib["failures"] == "1"
    assert (
        suites(report(Cell("clip", DType.INT8, cases(), ()), partial="time was up"))[
            "sonnx conformance"
        ].attrib["skipped"]
        == "1"
    )


# The page as text


def test_the_policy_of_the_page_allows_its_own_style_and_script_alone() -> None:
    page = report_page(sample())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert content is not None
        digest = b64encode(sha256(content[1].encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]


def test_the_page_refers_to_nothing_outside() -> None:
    page = report_page(sample()).replace("http://www.w3.org/2000/svg", "")
    assert "://" not in page.replace("operators/", "")


def test_no_text_of_a_runtime_leaves_the_data_of_the_page() -> None:
    page = report_page(hostile(), date=HOSTILE)
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert not {"<", ">", "&"} & set(data[1])
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert json.loads(data[1])["runtime"]["name"].startswith("</script><img")


def test_packed_cases_are_all_there() -> None:
    document = report_document(sample())
    short = packed(document)
    verdicts = ("crashes", "departs", "unsupported", "conforms")
    for cell, packed_cell in zip(document["cells"], short["cells"], strict=True):
        held = packed_cell["cases"]
        names = [short["texts"][first + n] for first, number in held["runs"] for n in range(number)]
        about = {place: [short["texts"][text]] for place, text in held["about"]}
        rows = [
            [name, verdicts[int(digit)], *about.get(place, [])]
            for place, (name, digit) in enumerate(zip(names, held["verdicts"], strict=True))
        ]
        assert rows == cell["cases"]


@pytest.mark.long
def test_a_hundred_thousand_cases_make_a_small_page() -> None:
    assert len(report_page(many(100_000))) < 2_000_000


# Hostile texts


@pytest.mark.parametrize("write", [report_text, report_json, report_junit, report_page])
def test_no_control_character_of_a_runtime_is_written(write: Any) -> None:
    assert CONTROLS.search(HOSTILE) is not None
    text = write(hostile())
    assert CONTROLS.search(text.replace("\n", "")) is None
    text.encode()


def test_no_line_of_the_summary_is_forged() -> None:
    forged = "fine\nonnxruntime conforms"
    cell = Cell(
        "clip",
        DType.INT8,
        (CaseVerdict("a", "crashes", forged),),
        (),
        stops=(Stop("crashes", forged, 1, forged, nan_min(DType.FLOAT).trial),),
    )
    text = report_text(report(cell, runtime=forged, asked=forged, partial=forged, options={"a": forged}))
    assert not any(line.startswith("onnxruntime conforms") for line in text.split("\n"))
    assert all(one or other for one, other in pairwise(text.split("\n")))
