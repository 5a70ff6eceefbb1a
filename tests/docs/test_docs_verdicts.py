"""A report on a page of the site: made of a real runtime, and named where it cannot be."""

from dataclasses import replace

import pytest
from docs.build import Inputs, Places, build, make_sources
from docs.markup import DocsError
from docs.verdicts import verdicts
from tests.conformance.report_samples import sample

PLACE = "# Conformance\n\n{{ verdicts reference Where }}\n"


@pytest.mark.long
def test_a_runtime_is_judged_and_its_report_is_a_page_of_the_site(small: Inputs, places: Places) -> None:
    assert build(replace(small, pages={**small.pages, "conformance.md": PLACE}), places) == ()
    report = (places.site / "reports" / "reference.html").read_text(encoding="utf-8")
    assert "reference" in report
    assert "conforms to the specification" in report
    assert 'src="reports/reference.html"' in (places.site / "conformance.html").read_text(encoding="utf-8")


def test_the_report_is_that_of_the_runtime_and_the_operators_that_are_named() -> None:
    asked = []
    pages: dict[str, str] = {}

    def judge(runtime: str, operators: list[str]) -> object:
        asked.append((runtime, operators))
        return sample()

    text = verdicts("onnxruntime Clip Where", pages, judge)  # type: ignore[arg-type]  # an object will do
    assert asked == [("onnxruntime", ["Clip", "Where"])]
    assert list(pages) == ["reports/onnxruntime.html"]
    assert "onnxruntime 1.31.1 crashes" in pages["reports/onnxruntime.html"]
    assert "(reports/onnxruntime.html)" in text


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("", "takes a runtime and at least one operator"),
        ("reference", "takes a runtime and at least one operator"),
        ("nobody Where", "nobody"),
        ("reference Nothing", "Nothing"),
    ],
)
def test_what_cannot_be_judged_is_a_problem_of_the_page(argument: str, said: str, small: Inputs) -> None:
    with pytest.raises(DocsError, match=said):
        verdicts(argument, {})
    broken = PLACE.replace("reference Where", argument)
    problems = make_sources(replace(small, pages={**small.pages, "conformance.md": broken})).problems
    assert len(problems) == 1
    assert said in problems[0]
