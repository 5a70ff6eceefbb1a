"""Formulas become MathML or are refused; none is passed on half converted."""

import pytest
from docs.formulas import formula
from docs.markup import DocsError


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
