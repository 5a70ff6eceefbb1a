"""Contracts, rules and cases as page text: readable, complete, and safe whatever the data says."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from docs.markup import DocsError, block, code, escape, prose, slug, table
from docs.overview import changelog_page
from tests.loops import for_each

from docs import render
from sonnx.model.dtype import ALL, IEEE, INTEGERS, SIGNED, DType
from sonnx.operators import OPERATORS
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.operators.rulebook import rules
from sonnx.operators.shared.cases import Case, load_cases
from sonnx.operators.shared.cases import tensor as read_tensor
from sonnx.report.text import call_text
from sonnx.vocabulary.call import ABSENT, call
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import AnyRule

HOSTILE = "</code></pre><script>alert('1')</script> & \"q\" *a* _b_ `c` | [x](y) ${{ rules }} \x1b[31m"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def test_escaped_text_reads_as_it_was_with_control_characters_made_visible() -> None:
    reader = shown(escape(HOSTILE))
    assert reader.tags == []
    assert reader.text == HOSTILE.replace("\x1b", "\\x1b")
    assert not set("*_`|[]{}$<>") & set(escape(HOSTILE))


def test_backticks_in_a_sentence_make_code_and_nothing_else_does() -> None:
    assert prose("`min` is *given*") == f"{code('min')} is &#42;given&#42;"


def test_a_block_keeps_blank_lines_without_breaking_the_markup_around_it() -> None:
    assert "\n" not in block("a\n\nb")
    assert shown(block("a\n\nb", "call")).text == "a\n\nb"


def test_a_slug_is_plain() -> None:
    assert slug("Pads: before, 2^31 (lines)!") == "pads-before-2-31-lines"


def test_a_table_has_one_line_a_row() -> None:
    assert table(("a", "b"), [("1", "")]) == "| a | b |\n| --- | --- |\n| 1 |  |"


def test_whole_families_of_integers_are_one_entry() -> None:
    names = render.type_names((DType.REAL, *IEEE, *INTEGERS))
    assert (
        shown(names).text
        == "real, float16, float, double, int8\u00a0\u2026\u00a0int64, uint8\u00a0\u2026\u00a0uint64"
    )


def test_a_family_that_is_not_whole_is_listed_type_by_type() -> None:
    assert shown(render.type_names(SIGNED[:3])).text == "int8, int16, int32"


def test_types_are_listed_once_where_all_operands_share_them_and_by_operand_otherwise() -> None:
    assert shown(render.types(CONV.contract)).text == "- exact: real\n- IEEE 754: float16, float, double"
    text = shown(render.types(WHERE.contract)).text
    assert text.startswith(
        "condition:\n\n- moved, never calculated with: bool\n\nX, Y, output:\n\n- exact: real"
    )
    assert all(dtype in text for dtype in ALL if dtype not in INTEGERS)


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        (CLIP, "output = Clip(input, min, max)"),
        (CONV, "Y = Conv(X, W, B; strides, pads, dilations, group, kernel_shape, auto_pad, accumulate)"),
        (BROADCAST, "Z0, Z1, \u2026 = Broadcast(X0, X1, \u2026)"),
    ],
)
def test_the_signature_line_names_operands_and_attributes(operator: Operator, line: str) -> None:
    assert render.signature_line(operator.contract) == line


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_the_signature_tells_every_operand_attribute_and_the_version(operator: Operator) -> None:
    contract = operator.contract
    text = shown(render.signature(contract)).text
    operands = [(operand.name, operand.text) for operand in contract.inputs + contract.outputs]
    for name, words in operands + [(attribute.name, attribute.text) for attribute in contract.attributes]:
        assert f"| {name} |" in text
        assert words.replace("`", "") in text
    assert ("version" in text) is bool(contract.versions)


def test_a_call_is_written_with_types_attributes_constants_and_outputs() -> None:
    example = call(
        "Expand",
        {"input": "float[3]", "shape": "int64[2]"},
        {"pads": (1, 1), "mode": 'a"b', "gone": ABSENT},
        {"output": "float[2,3]"},
        {"shape": (2, 3)},
    )
    expected = (
        r'Expand(input: float[3], shape: int64[2] = [2, 3]; pads=[1, 1], mode="a\"b") -> output: float[2,3]'
    )
    assert call_text(example) == expected


@for_each("rule", rules(), ids=lambda rule: rule.identifier)
def test_a_rule_is_shown_with_anchor_reason_and_the_error_its_example_gives(rule: AnyRule) -> None:
    markup = render.rules([rule])
    text = shown(markup).text
    assert markup.startswith(f"### `{rule.identifier}` {{ #{rule.page.partition('#')[2]} }}\n")
    assert rule.statement.replace("`", "") in text
    assert rule.reason.replace("`", "") in text
    assert f"error[{rule.identifier}]: " in text
    assert ("restricts ONNX" in text) is rule.restricts_onnx
    assert all(label in text for label in rule.also)
    assert rule.ruling in text


def test_a_rule_whose_failing_example_keeps_it_is_refused() -> None:
    rule = CLIP.contract.rules[0]
    with pytest.raises(DocsError, match=r"clip\.input\.D1 does not break it"):
        render.rules([replace(rule, failing=rule.passing)])


def test_a_hostile_rule_stays_text() -> None:
    text = "</p><script>x</script> | *y*"
    markup = render.rules([replace(rules("Clip")[0], statement=text, reason=text, also=(text,))])
    assert "script" not in shown(markup).tags
    assert shown(markup).text.count(text) == 3


def tensor(written: str) -> str:
    return render.tensor("X", read_tensor(written))


def test_a_matrix_is_a_table_with_its_literals_as_written() -> None:
    reader = shown(tensor("float[2,2] 0x1.8p+3 -0.0; nan(0x5) 1"))
    assert (reader.tags.count("tr"), reader.tags.count("td")) == (2, 4)
    assert reader.text == "X: float[2,2]0x1.8p+3-0.0nan(0x5)1"


@pytest.mark.parametrize(
    ("kind", "elements", "text"),
    [
        ("bool[]", "true", "true"),
        ("int8[3]", "1 2 3", "123"),
        ("string[2]", r'"" "a\""', r'"""a\""'),
        ("float[2,0]", "", "no elements"),
        ("int8[2,1,1]", "5 6", "[0]5[1]6"),
        ("int8[1,1,1,2]", "5 6", "56"),
    ],
)
def test_tensors_of_every_rank_are_shown(kind: str, elements: str, text: str) -> None:
    assert shown(tensor(f"{kind} {elements}")).text == f"X: {kind}{text}"


def test_a_tensor_with_too_few_elements_is_refused() -> None:
    with pytest.raises(DocsError, match=r"int8\[3\] is written with 2"):
        tensor("int8[3] 1 2")


def hostile_case() -> Case:
    return replace(
        load_cases("where")[0],
        name=HOSTILE,
        source=HOSTILE.replace("`", ""),
        inputs={"X": read_tensor('string[1] "<b>*x*</b>"')},
        attributes={"mode": "</code><i>"},
        nan="any",
    )


def test_a_hostile_case_stays_text() -> None:
    for markup in (
        render.examples([hostile_case()], "x.md"),
        render.cases_page("<u>", [hostile_case()], "x.md"),
    ):
        reader = shown(markup)
        assert not {"script", "i", "u"} & set(reader.tags)
        assert '"<b>*x*</b>"' in reader.text
        assert "any NaN is right" in reader.text


def test_the_page_shows_its_cases_and_counts_the_others() -> None:
    cases = load_cases("clip")
    text = render.examples(cases, "clip-cases.md")
    assert '<p class="title">A NaN max does not bound</p>' in text
    assert text.count('<div class="case"') == sum(case.page for case in cases)
    assert (
        f"There are {sum(not case.page for case in cases)} further cases: see [all cases](clip-cases.md)."
        in text
    )
    assert "There is 1 further case:" in render.examples([replace(cases[0], page=False)], "x.md")


def test_the_page_of_all_cases_has_every_one_under_its_anchor() -> None:
    cases = load_cases("conv")
    text = render.cases_page("Conv", cases, "conv.md")
    assert all(f"{{ #{render.case_anchor(case)} }}" in text for case in cases)


def test_the_change_log_keeps_links_to_the_web_and_drops_those_to_files() -> None:
    text = "[a](README.md) [b](https://example.org) ![c](d.png)"
    assert changelog_page(text) == "a [b](https://example.org) ![c](d.png)"
