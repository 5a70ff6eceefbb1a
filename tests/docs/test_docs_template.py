"""Every page of an operator has the sections of the template, with what its page.md says in them."""

import re

import numpy as np
import pytest
from docs.folders import folders
from docs.markup import DocsError
from docs.template import assemble

from docs import render
from sonnx.operators.shared.cases import load_cases

SECTIONS = ["Signature", "Types", "Definition", "Rules", "Examples", "Numerical accuracy"]


def lines(written: str, *figures: str) -> list[str]:
    """The page without its empty lines."""
    return [line for line in assemble("Op", written, figures).text.split("\n") if line]


def headings(written: str) -> list[str]:
    return [line.removeprefix("## ") for line in lines(written) if line.startswith("## ")]


def test_a_page_of_one_sentence_has_every_section_that_is_made() -> None:
    shown = lines("It adds.\n", "op-curve")
    assert shown[:4] == ["# Op", "It adds.", "## Signature", "{{ signature }}"]
    assert shown[4:] == [
        *("## Types", "{{ types }}", "## Definition", "{{ figure op-curve }}", "## Rules"),
        "Once these hold, every input has a result: there is no other error condition. In the reals alone, "
        "a run also stops where roots are too close to what they are compared with.",
        *("{{ rules }}", "## Examples", "{{ examples }}", "## Numerical accuracy", "{{ accuracy }}"),
    ]


def test_prose_stands_after_what_is_made_and_before_examples_and_figures() -> None:
    shown = lines("## Types\n\nNo more.\n\n## Definition\n\nSo.\n\n## Examples\n\nFor one:", "op-curve")
    assert shown[3:6] == ["## Types", "{{ types }}", "No more."]
    assert shown[6:9] == ["## Definition", "So.", "{{ figure op-curve }}"]
    assert shown[-4:-2] == ["For one:", "{{ examples }}"]


def test_a_section_that_places_a_block_itself_has_it_there_and_nowhere_else() -> None:
    text = "## Definition\n\n{{ figure op-curve }}\n\nSo.\n\n## Examples\n\n{{ examples }}\n\nAfter."
    shown = lines(text, "op-curve")
    assert shown[6:8] == ["{{ figure op-curve }}", "So."]
    assert [line for line in shown if "{{ examples" in line or line == "After."] == [
        "{{ examples }}",
        "After.",
    ]


def test_what_a_page_says_of_accuracy_replaces_the_sentence() -> None:
    assert lines("## Numerical accuracy\n\nNone.")[-1] == "None."
    assert lines("## Numerical accuracy\n\n{{ accuracy }}\n\nTruly.")[-2:] == ["{{ accuracy }}", "Truly."]


def test_rulings_get_the_head_of_their_table() -> None:
    shown = lines("## Rulings and errata\n\nThese:\n\n| D-ALL-1 | a | b |\n| D-ALL-2 | a | b |\n")
    start = shown.index("These:")
    assert shown[start + 1].startswith("| ruling |")
    assert shown[start + 2 :] == ["|---|---|---|", "| D-ALL-1 | a | b |", "| D-ALL-2 | a | b |"]


def test_sections_come_in_the_order_of_the_template_and_own_ones_behind_what_they_follow() -> None:
    text = "## Rulings and errata\n\nx\n\n## Types\n\nx\n\n## Own\n\nx\n\n## How real engines differ\n\nx"
    assert headings(text) == [
        *SECTIONS[:2],
        "Own",
        *SECTIONS[2:],
        "Rulings and errata",
        "How real engines differ",
    ]


def test_nothing_that_is_written_gets_lost() -> None:
    for folder in folders():
        if folder.contract is not None:
            whole = assemble(folder.title, folder.page or "", []).text.split("\n")
            assert not set((folder.page or "").split("\n")) - set(whole), folder.title


def test_each_line_knows_where_it_is_written() -> None:
    written = "Lead.\n\n## Rules\n\nOne.\n\n## Types\n\nTwo.\n"
    page = assemble("Op", written, [])
    for number, line in zip(page.origins, page.text.split("\n"), strict=True):
        if line in ("Lead.", "One.", "Two."):
            assert written.split("\n")[number - 1] == line


def test_a_title_of_its_own_is_refused() -> None:
    with pytest.raises(DocsError, match="the title is put in"):
        assemble("Op", "# Op\n\nText.", [])


def test_no_page_repeats_what_the_template_says() -> None:
    for folder in folders():
        if folder.contract is not None:
            assert "what the source left open" not in (folder.page or "")
            assert not re.search(r"^{{ (signature|types|rules) }}$", folder.page or "", re.MULTILINE)


@pytest.mark.parametrize("name", ["Clip", "Where", "Expand", "Broadcast", "xla.Concatenate"])
def test_an_operator_that_moves_is_said_to_be_exact(name: str) -> None:
    assert render.accuracy(name, load_cases(name.lower())).startswith("The result is exact for every type")


def test_an_operator_that_rounds_is_not_said_to_be_exact() -> None:
    assert render.accuracy("Conv", load_cases("conv")).startswith("Results are rounded")


def test_one_bound_that_is_not_0_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "error_bound", lambda name, *operands, **_: np.array([0.0, 2.0**-30]))
    assert render.accuracy("Clip", load_cases("clip")).startswith("Results are rounded")
