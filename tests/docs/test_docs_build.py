"""The whole build: the real site is complete, and each thing that can be missing fails it with its name."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from docs.build import Inputs, Places, build, main, make_sources, navigation, read_inputs, wanted
from docs.folders import Folder, folders
from docs.links import check_site, read
from tests.docs.support import Site

from docs import build as docs_build
from sonnx.drawing.figure import Figure
from sonnx.operators import OPERATORS
from sonnx.operators.rulebook import rules
from sonnx.vocabulary.rule import Rule


def with_clip(small: Inputs, **changes: object) -> Inputs:
    general, clip = small.folders
    return replace(small, folders=(general, replace(clip, **changes)))  # type: ignore[arg-type]  # any field


def with_text(small: Inputs, text: str) -> Inputs:
    return with_clip(small, page=f"{small.folders[1].page}\n{text}\n")


def only(problems: tuple[str, ...]) -> str:
    assert len(problems) == 1, problems
    return problems[0]


@pytest.mark.long
def test_the_site_of_the_package_builds_and_shows_every_rule_case_and_figure(places: Places) -> None:
    inputs = read_inputs()
    assert build(inputs, places) == ()
    titles = [folder.title for folder in inputs.folders]
    assert titles == ["Graph execution", "General rules", *(operator.name for operator in OPERATORS)]
    assert sum(len(folder.rules) for folder in inputs.folders) == len(rules())
    for folder in inputs.folders:
        page = (places.site / "operators" / f"{folder.name}.html").read_text(encoding="utf-8")
        named = re.findall(r"{{ figure ([a-z0-9-]+) }}", folder.page or "")
        assert page.count("<figure") == len({*named, *(drawn.name for drawn in folder.figures)})
        assert page.count('class="rule"') == len(folder.rules)
        assert "$$" not in page
    for folder in inputs.folders[2:]:
        page = (places.site / "operators" / f"{folder.name}.html").read_text(encoding="utf-8")
        assert page.count('class="case"') == sum(case.page for case in folder.cases)
        cases = (places.site / "operators" / f"{folder.name}-cases.html").read_text(encoding="utf-8")
        assert cases.count('class="case"') == len(folder.cases)


def test_a_small_site_in_order_builds(site: Site) -> None:
    assert site.problems == ()
    index = (site.root / "index.html").read_text(encoding="utf-8")
    assert "42" in index
    assert 'href="operators/clip.html"' in index


def test_an_operator_without_a_page_fails(small: Inputs) -> None:
    problems = make_sources(with_clip(small, page=None)).problems
    assert "Clip has no page: src/sonnx/operators/onnx/clip/page.md is missing" in problems


def test_a_figure_that_no_folder_draws_fails(small: Inputs) -> None:
    problem = only(make_sources(with_text(small, "{{ figure clip-nothing }}")).problems)
    assert "clip/page.md:11: {{ figure clip-nothing }}: no folder draws a figure 'clip-nothing'" in problem


def test_a_figure_on_no_page_fails(with_graphs: Inputs) -> None:
    graph, *others = with_graphs.folders
    silent = replace(graph, page=str(graph.page).replace("{{ figure graph-orders }}", ""))
    problems = make_sources(replace(with_graphs, folders=(silent, *others))).problems
    assert only(problems) == "figure graph-orders is drawn but on no page"


@pytest.mark.parametrize("name", ["clip-curve", "../up", "a b"])
def test_a_figure_whose_name_is_taken_or_no_plain_name_fails(small: Inputs, name: str) -> None:
    drawn = (*small.folders[1].figures, Figure(name, "c", "a", lambda: "<svg/>"))
    assert f"figure name {name!r}" in make_sources(with_clip(small, figures=drawn)).problems[0]


def test_a_page_that_shows_a_part_twice_fails(small: Inputs) -> None:
    text = "## Rules\n\n{{ rules }}\n\n{{ rules }}"
    assert "needs {{ rules }} once, has it 2 times" in only(make_sources(with_text(small, text)).problems)


def test_a_page_that_begins_with_a_title_fails(small: Inputs) -> None:
    problem = only(make_sources(with_clip(small, page=f"# Clip\n\n{small.folders[1].page}")).problems[:1])
    assert problem.endswith("clip/page.md: begin with the first sentence: the title is put in")


@pytest.mark.parametrize("text", ["{{ nothing }}", "$\\nosuchcommand$", "{{ types now }}"])
def test_an_unknown_placeholder_or_formula_fails(small: Inputs, text: str) -> None:
    problems = make_sources(with_text(small, text)).problems
    assert text.strip("$").replace("\\", "\\\\") in problems[0] or text in problems[0]


def test_a_ruling_that_no_page_explains_fails(small: Inputs) -> None:
    text = str(small.folders[1].page).replace("D-CLIP-5", "")
    problem = only(make_sources(with_clip(small, page=text)).problems)
    assert problem == "rulings.md: no page explains D-CLIP-5, which rules or cases carry"


@pytest.mark.parametrize(("page", "name"), [("index.md", "operators"), ("rules.md", "rules")])
def test_a_page_that_leaves_out_the_list_it_is_there_for_fails(small: Inputs, page: str, name: str) -> None:
    text = small.pages[page].replace(f"{{{{ {name} }}}}", "")
    problem = only(make_sources(replace(small, pages={**small.pages, page: text})).problems)
    assert problem == f"docs/{page}: needs {{{{ {name} }}}} once, has it 0 times"


@pytest.mark.long  # builds a site; so does a quick test
def test_a_missing_hand_written_page_fails(small: Inputs, places: Places) -> None:
    pages = {name: text for name, text in small.pages.items() if name != "models.md"}
    assert "models.md" in build(replace(small, pages=pages), places)[0]


def test_a_missing_change_log_fails(small: Inputs) -> None:
    assert make_sources(replace(small, changelog=None)).problems == ("CHANGELOG.md is missing",)


def test_broken_links_in_markdown_fail(small: Inputs, places: Places) -> None:
    broken = ("nowhere.md", "general.md#nowhere", "#nowhere", "figures/nowhere.svg")
    problems = build(with_text(small, "\n\n".join(f"[x]({link})" for link in broken)), places)
    for link in broken:
        start = f"mkdocs: Doc file 'operators/clip.md' contains a link '{link}'"
        assert any(problem.startswith(start) for problem in problems)


BROKEN_HTML = """
<a href="nowhere.html">x</a> <a href="general.html#nowhere">x</a> <img alt="" src="figures/nowhere.svg">
<span id="rules">x</span> <img alt="" src="https://example.org/x.svg">"""
IN_HTML = [
    "broken link figures/nowhere.svg",
    "broken link general.html#nowhere: no anchor #nowhere there",
    "broken link nowhere.html",
    "loads https://example.org/x.svg from elsewhere; the site must work offline",
    "the anchor #rules occurs 2 times",
]


def test_broken_links_in_a_built_page_fail(site: Site, tmp_path: Path) -> None:
    changed = tmp_path / "site"
    shutil.copytree(site.root, changed)
    page = changed / "operators" / "clip.html"
    page.write_text(page.read_text("utf-8").replace("</body>", f"{BROKEN_HTML}</body>"), "utf-8")
    problems = check_site(changed, wanted(site.inputs.folders))
    assert sorted(problem.removeprefix("operators/clip.html: ") for problem in problems) == IN_HTML


@pytest.mark.long  # builds a site; so does a quick test
def test_broken_links_in_raw_html_fail(small: Inputs, places: Places) -> None:
    problems = build(with_text(small, BROKEN_HTML), places)
    assert sorted(problem.removeprefix("operators/clip.html: ") for problem in problems) == IN_HTML


class Moved(Rule):
    """A rule that says to be printed where it is not."""

    page = property(lambda self: "operators/clip.md#elsewhere")


@pytest.mark.long  # builds a site; so does a quick test
def test_a_rule_whose_page_has_no_such_anchor_fails(small: Inputs, places: Places) -> None:
    first, *others = small.folders[1].rules
    moved = Moved(**vars(first))
    problem = only(build(with_clip(small, rules=(moved, *others)), places))
    assert problem == "operators/clip.html: rule clip.input.D1 has no anchor #elsewhere"


@pytest.mark.long  # builds a site; so does a quick test
def test_a_case_for_the_page_that_is_not_shown_fails(small: Inputs, places: Places) -> None:
    assert build(small, places) == ()
    hidden = next(case for case in small.folders[1].cases if not case.page)
    more: tuple[Folder, ...] = with_clip(small, cases=(replace(hidden, page=True),)).folders
    assert f"the example {hidden.name!r} has no anchor" in only(check_site(places.site, wanted(more)))


@pytest.mark.long  # builds a site; so does a quick test
def test_two_cases_of_one_name_fail(small: Inputs, places: Places) -> None:
    cases = small.folders[1].cases
    problems = build(with_clip(small, cases=(*cases, cases[0])), places)
    assert any("occurs 2 times" in problem for problem in problems)


@pytest.mark.long  # builds a site; so does a quick test
def test_a_page_outside_of_the_menu_fails(
    small: Inputs, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_build, "navigation", lambda settings, listed: [{"Start": "index.md"}])
    assert "not included in the" in build(small, places)[0]


def test_the_menu_names_every_folder_in_its_chapter() -> None:
    menu = navigation([{"Start": "index.md"}, {"Specification": []}], folders())
    assert menu[0] == {"Start": "index.md"}
    assert menu[1]["Specification"][:3] == [
        {"Graph execution": "operators/graph.md"},
        {"General rules": "operators/general.md"},
        {"Clip": "operators/clip.md"},
    ]


def test_settings_that_mkdocs_refuses_fail(small: Inputs, places: Places, tmp_path: Path) -> None:
    settings = tmp_path / "mkdocs.yml"
    settings.write_text("site_name: x\ntheme: {name: no-such-theme}\n")
    assert any("no-such-theme" in problem for problem in build(small, replace(places, settings=settings)))


@pytest.mark.long  # builds a site; so does a quick test
def test_nothing_of_an_earlier_build_remains(small: Inputs, places: Places) -> None:
    places.sources.mkdir(parents=True)
    (places.sources / "old.md").write_text("# Old\n")
    assert build(small, places) == ()
    assert not (places.site / "old.html").exists()


def test_data_reaches_the_built_page_as_text(site: Site) -> None:
    for name in ("operators/clip.html", "operators/clip-cases.html"):
        page = (site.root / name).read_text(encoding="utf-8")
        assert "<script>alert(1)" not in page
        assert "&lt;script&gt;alert(1)" in page or "&#60;script&#62;alert(1)" in page
        assert read(page).ids


def test_the_command_names_every_problem_and_ends_with_1(
    small: Inputs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = replace(with_clip(small, page=None), changelog=None)
    monkeypatch.setattr(docs_build, "read_inputs", lambda: broken)
    assert main() == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error: Clip has no page" in printed.err
    assert "error: CHANGELOG.md is missing" in printed.err


def test_the_command_ends_with_0_and_says_where_the_site_is(
    small: Inputs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs_build, "read_inputs", lambda: small)
    built: list[tuple[Inputs, Places]] = []

    def noted(*given: Any) -> tuple[str, ...]:
        built.append(given)
        return ()

    monkeypatch.setattr(docs_build, "build", noted)
    assert main() == 0
    assert built == [(small, Places())]
    assert capsys.readouterr().out == "docs: open site/index.html\n"
