"""Formulas become MathML or are refused; none is passed on half converted."""

from pathlib import Path

import pytest
from docs.formulas import formula
from docs.markup import DocsError

STYLE = (Path(__file__).parents[2] / "docs" / "assets" / "site.css").read_text(encoding="utf-8")


def test_a_formula_keeps_its_latex_as_alternative_text() -> None:
    assert 'alttext="a&#95;1"' in formula("a_1")


def test_a_displayed_formula_is_a_block_and_an_inline_one_is_not() -> None:
    assert 'display="block"' in formula("x", display=True)
    assert 'display="inline"' in formula("x")


def test_a_formula_holds_nothing_that_markdown_could_take_for_markup() -> None:
    text = formula(r"a * b_* |x| < \{y\} \text{ a_b }").replace('class="formula"', "")
    outside = [piece.rpartition(">")[2] for piece in text.split("<")]
    assert not set("*_|`[]{}") & set("".join(outside))


def test_a_text_in_a_formula_keeps_its_spaces() -> None:
    assert "<mtext>if\u00a0</mtext>" in formula(r"\text{if } x")


def test_cases_leave_their_brace_to_the_style_sheet() -> None:
    text = formula(r"\begin{cases} a & b \\ c & d \end{cases}")
    assert '<mtable class="cases">' in text
    assert "&#123;" not in text.split("<mrow>", 1)[1]


def test_a_brace_before_a_matrix_that_is_no_case_distinction_stays() -> None:
    assert "&#123;" in formula(r"\{x\}").split("<mrow>", 1)[1]


def test_ceilings_and_floors_are_operators() -> None:
    assert formula(r"\lceil n / s \rceil").count("<mo form=") == 2


def test_brackets_around_something_tall_are_drawn_by_the_style_sheet_and_stay_as_text() -> None:
    for latex, kind, marks in (
        (r"\left\lfloor \frac{N}{s} \right\rfloor", "floor", "\u230a\u230b"),
        (r"\left\lceil \frac{N}{s} \right\rceil", "ceiling", "\u2308\u2309"),
        (r"\left( \frac{N}{s} \right)", "round", "()"),
    ):
        text = formula(f"{latex} + 1")
        assert f'<mrow class="{kind}"><mo stretchy="false" fence="true"' in text, latex
        assert [text.count(f'class="drawn">{mark}</mo>') for mark in marks] == [1, 1], latex
        assert f".{kind}" in STYLE, latex
    assert "drawn" not in formula(r"\left( (1 + u)^n - 1 \right)")
    assert "drawn" not in formula(r"\left[ \frac{N}{s} \right]")
    assert "drawn" not in formula(r"\left\lfloor \frac{N}{s} \right)")


@pytest.mark.parametrize(
    "latex",
    [
        r"\nosuchcommand x",
        r"\frac{1}",
        r"\frac{1}{2",
        "x}",
        "x_",
        r"\left(",
        r"\begin{cases} a",
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"a \\ b",
        "",
    ],
)
def test_a_formula_that_cannot_be_converted_is_refused_with_its_text(latex: str) -> None:
    with pytest.raises(DocsError, match="formula"):
        formula(latex)
