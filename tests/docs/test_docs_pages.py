"""Hand-written pages: what placeholders, formulas and identifiers become, and which are refused."""

import re
from pathlib import Path

import pytest
from docs.markup import DocsError
from docs.pages import Expanded, Links, expand, require

LINKS = Links({"clip.min.C1": "../operators/clip.md#clip-min-c1"}, frozenset({"clip"}), "../rulings.md")


def block(argument: str) -> str:
    if argument == "bad":
        raise DocsError("no such thing")
    return f"<<{argument}>>"


def filled(text: str) -> Expanded:
    return expand("page.md", text, {"thing": block}, LINKS)


def clean(text: str) -> str:
    found = filled(text)
    assert found.problems == ()
    return found.text


def test_a_placeholder_is_replaced_by_its_block_with_blank_lines_around() -> None:
    assert clean("a\n{{ thing one }}\nb") == "a\n\n<<one>>\n\nb\n"


@pytest.mark.parametrize(
    "text",
    [
        "```\n{{ nothing }} $ D-ALL-1\n```",
        "~~~text\n$\n~~~",
        "    x `{{ nothing }} $x D-ALL-1` y",
        "``a ` $ b``",
    ],
)
def test_code_is_left_alone(text: str) -> None:
    assert clean(text) == text + "\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\n\n{{ nothing }}", "page.md:3: unknown placeholder {{ nothing }}; there are output, thing"),
        ("{{ thing bad }}", "page.md:1: {{ thing bad }}: no such thing"),
        ("so {{ thing }} there", "page.md:1: {{ thing }} must stand on a line of its own"),
        ("a\n  {{ thing }}", "page.md:2: {{ thing }} must stand on a line of its own"),
        ("{{ thing", "page.md:1: {{ thing must stand"),
        ("5 $ and\nmore", "page.md:1: a dollar sign without a partner"),
        ("a\nb $x$ and $\\frac{1}$", "page.md:2: formula '\\\\frac{1}' has a fraction"),
        ("see `clip.min.C9`", "page.md:1: there is no rule clip.min.C9"),
        ("{{ output }}", "page.md:1: {{ output }}: there is no example in Python or of commands above it"),
        ("```python\n1 / 0\n```\n{{ output }}", "page.md:4: {{ output }}: the example above it fails: Zero"),
        ("```sh\nls\n```\n{{ output }}", "only commands of sonnx are run, not ls"),
        ("```json\n1\n```\n{{ output }}", "there is no example"),
    ],
)
def test_what_cannot_be_filled_in_is_named_with_its_line(text: str, problem: str) -> None:
    found = filled(text).problems
    assert len(found) == 1
    assert problem in found[0]


def test_all_problems_of_a_page_are_collected() -> None:
    assert len(filled("{{ a }}\n\n$\n\n{{ b }}").problems) == 3


def test_formulas_become_mathml_also_in_tables_and_across_lines() -> None:
    text = clean("| a |\n|---|\n| $|x|$ |\n\n$$a +\nb$$")
    assert text.count("<math") == 2
    assert "$" not in text
    assert all(line.count("|") == 2 for line in text.splitlines()[:3])


def test_an_escaped_dollar_is_a_dollar() -> None:
    assert clean(r"it costs \$5 or \$6") == "it costs &#36;5 or &#36;6\n"


def test_a_rule_in_code_links_to_its_page_and_other_code_does_not() -> None:
    assert clean("`clip.min.C1`") == "[`clip.min.C1`](../operators/clip.md#clip-min-c1)\n"
    assert clean("`clip.min` `numpy.C1`") == "`clip.min` `numpy.C1`\n"


def test_links_are_left_as_they_are_written() -> None:
    assert clean("[`clip.min.C1` and D-ALL-1](x.md)") == "[`clip.min.C1` and D-ALL-1](x.md)\n"


def test_a_ruling_is_anchored_once_and_in_the_table_that_explains_it() -> None:
    lines = clean("First D-ALL-1.\n\n| ruling |\n|---|\n| D-ALL-1 |\n| D-ALL-1 |\n").splitlines()
    assert lines[0] == "First [D-ALL-1](../rulings.md#d-all-1){ .ruling }."
    assert lines[4] == "| [D-ALL-1](../rulings.md#d-all-1){ #d-all-1 .ruling } |"
    assert "{ .ruling }" in lines[5]


def test_a_ruling_outside_of_tables_is_anchored_where_it_stands_first() -> None:
    assert clean("D-ALL-1 and D-ALL-1").count("#d-all-1 ") == 1


def test_the_output_of_an_example_is_what_it_prints_and_later_examples_know_its_names() -> None:
    text = clean(
        "```python\nx = 6 * 7\nprint(x)\n```\n{{ output }}\n```python\nprint(x + 1)\n```\n{{ output }}"
    )
    assert "``` { .text .output }\n42\n```" in text
    assert "``` { .text .output }\n43\n```" in text


@pytest.mark.parametrize(("text", "times"), [("", 0), ("{{ thing }}\n{{ thing }}", 2)])
def test_a_required_placeholder_stands_exactly_once(text: str, times: int) -> None:
    assert list(require(filled(text), "p.md", ["thing"])) == [
        f"p.md: needs {{{{ thing }}}} once, has it {times} times"
    ]
    assert not list(require(filled("{{ thing }}"), "p.md", ["thing"]))


def test_the_words_of_the_project_are_explained_in_order_and_once() -> None:
    text = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-zA-Z, ]+) \|", text, re.MULTILINE)[1:]
    asked = {"moved", "held", "drawn", "trial", "clause", "ruling", "rule", "finding", "vector", "witness"}
    assert asked <= set(words)
    assert words == sorted(set(words))
