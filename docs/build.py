"""Folders → Markdown → site → checks. Anything missing is a problem, and problems fail the build."""

import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

from docs.folders import Folder, folders
from docs.formulas import formula
from docs.laws import laws_page, laws_path, laws_section
from docs.links import Wanted, check_site
from docs.markup import DocsError
from docs.matrix import (
    Evidence,
    assumptions_table,
    driver_table,
    matrix,
    read_evidence,
    standing_table,
    subject_of,
    tools_table,
)
from docs.origins import clauses_tables, documents_table, own_table
from docs.overview import (
    changelog_page,
    older_table,
    operators_table,
    rewritings_table,
    rule_links,
    rules_table,
    rulings_page,
)
from docs.pages import Block, Expanded, Links, expand, require
from docs.reference import reference_links, reference_page
from docs.render import accuracy, cases_page, example_anchor, examples, figure, rules, signature, types
from docs.template import Page, assemble
from docs.verdicts import verdicts
from sonnx.drawing.figure import Figure
from sonnx.sources import Sources as Origins
from sonnx.sources import sources

ROOT = Path(__file__).parent.parent

# What a page may show, and how often it likes.
_FREE = ("figure", "accuracy", "formula")
_FIGURE_NAME = re.compile(r"[a-z0-9-]+")
# What a page must list, because no other page does.
_LISTS: Mapping[str, Sequence[str]] = {
    "index.md": ("operators",),
    "models.md": ("rewritings", "older"),
    "rules.md": ("rules",),
    "sources.md": ("documents", "clauses", "own"),
    "trust.md": ("assumptions", "driver", "matrix", "standing", "tools"),
}


@dataclass(frozen=True)
class Inputs:
    """All that the site is made of: folders, hand-written pages by name, and the list of changes.

    `changelog` is None where the file is missing. `evidence` is what the matrix on trust is counted from,
    `origins` where rules and rulings come from.
    """

    folders: tuple[Folder, ...]
    pages: Mapping[str, str]
    changelog: str | None
    evidence: Evidence = field(default_factory=read_evidence)
    origins: Origins = field(default_factory=sources)


@dataclass(frozen=True)
class Sources:
    """Texts by their path among the sources of the site, and what is wrong with them."""

    texts: Mapping[str, str]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """Where the build reads its settings and assets, and where it writes."""

    settings: Path = ROOT / "mkdocs.yml"
    assets: Path = ROOT / "docs" / "assets"
    sources: Path = ROOT / "build" / "docs"
    site: Path = ROOT / "site"


@dataclass
class _Draft:
    """Pages and problems while they are gathered."""

    texts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    figures: set[str] = field(default_factory=set)

    def add(self, path: str, page: Expanded) -> None:
        self.texts[path] = page.text
        self.problems += page.problems
        self.figures |= {argument for name, argument in page.used if name == "figure"}

    def attempt(self, path: str, text: Callable[[], str]) -> None:
        """Write a generated page, or note why there is none."""
        try:
            self.texts[path] = text()
        except DocsError as error:
            self.problems.append(f"{path}: {error}")


def main() -> int:
    """Build the site of the package; prints what is missing and returns 1 where something is."""
    # The theme greets every build with news about MkDocs, unless this is set.
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    try:
        problems = build(read_inputs(), Places())
    except DocsError as error:
        problems = (str(error),)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        print(f"docs: {len(problems)} problem(s), the site is not complete", file=sys.stderr)
        return 1
    print("docs: open site/index.html")
    return 0


def read_inputs() -> Inputs:
    """Read the folders of the package and the texts beside them."""
    changes = ROOT / "CHANGELOG.md"
    return Inputs(
        folders(),
        {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))},
        changes.read_text(encoding="utf-8") if changes.is_file() else None,
    )


def build(inputs: Inputs, places: Places) -> tuple[str, ...]:
    """Make the site and list everything that is wrong; each stage runs only if those before it are clean."""
    sources = make_sources(inputs)
    if sources.problems:
        return sources.problems
    write_sources(sources, places)
    # After a build that MkDocs itself complains about, the pages may not be there to look at.
    return run_mkdocs(inputs.folders, places) or check_site(places.site, wanted(inputs.folders))


def make_sources(inputs: Inputs) -> Sources:
    """Turn the inputs into Markdown pages and SVG files."""
    draft = _Draft()
    figures = dict(_figures(inputs.folders, draft.problems))
    for folder in inputs.folders:
        _folder_pages(folder, inputs, figures, draft)
    _laws_pages(inputs, draft)
    blocks, links = _page_blocks(inputs, draft.texts), _links(inputs.folders, "")
    for name, text in inputs.pages.items():
        page = expand(f"docs/{name}", text, blocks, links)
        draft.add(name, page)
        draft.problems += require(page, f"docs/{name}", _LISTS.get(name, ()))
    draft.attempt("rulings.md", lambda: rulings_page(inputs.folders))
    draft.attempt("reference.md", reference_page)
    if inputs.changelog is None:
        draft.problems.append("CHANGELOG.md is missing")
    else:
        draft.texts["changelog.md"] = changelog_page(inputs.changelog)
    draft.problems += [
        f"figure {name} is drawn but on no page" for name in figures if name not in draft.figures
    ]
    for name, drawn in figures.items():
        draft.texts[f"operators/figures/{name}.svg"] = drawn.draw()
    return Sources(draft.texts, tuple(draft.problems))


def _figures(listed: Sequence[Folder], problems: list[str]) -> Iterator[tuple[str, Figure]]:
    seen: set[str] = set()
    for folder in listed:
        for drawn in folder.figures:
            if drawn.name in seen or not _FIGURE_NAME.fullmatch(drawn.name):
                problems.append(f"{folder.source}: figure name {drawn.name!r} is taken or no plain name")
            else:
                seen.add(drawn.name)
                yield drawn.name, drawn


def _folder_pages(folder: Folder, inputs: Inputs, figures: Mapping[str, Figure], draft: _Draft) -> None:
    if folder.page is None:
        draft.problems.append(f"{folder.title} has no page: {folder.source} is missing")
        return
    blocks, links = _folder_blocks(folder, figures), _links(inputs.folders, "../")
    try:
        whole = _whole(folder, folder.page)
    except DocsError as error:
        draft.problems.append(f"{folder.source}: {error}")
        return
    page = expand(folder.source, whole.text, blocks, links, whole.origins)
    draft.add(folder.path, page)
    theory = inputs.evidence.theories.get(subject_of(folder))
    if theory is not None:
        draft.texts[folder.path] += laws_section(theory, "../")
    draft.problems += require(page, folder.source, [name for name in blocks if name not in _FREE])
    if folder.contract is not None:
        name = f"{folder.name}.md"
        draft.attempt(folder.cases_path, lambda: cases_page(folder.title, folder.cases, name))


def _whole(folder: Folder, written: str) -> Page:
    """The page as it is written, or, of an operator, with the sections that all of them have."""
    if folder.contract is None:
        return Page(written)
    title = f"{folder.contract.name} (XLA)" if folder.contract.domain == "xla" else folder.title
    figures = [drawn.name for drawn in folder.figures]
    # That of a move is for one rank: a page with formulas of its own says more, and where this one belongs.
    said = folder.contract.good is not None and "$$" in written
    return assemble(title, written, figures, formula=folder.formula is not None and not said)


def _laws_pages(inputs: Inputs, draft: _Draft) -> None:
    """A page for every theory of a folder on the site, and for those that several share."""
    titles = {subject_of(folder): folder.title for folder in inputs.folders}
    for subject, theory in inputs.evidence.theories.items():
        if subject in titles or subject.startswith("shared/"):
            draft.texts[laws_path(subject)] = laws_page(titles.get(subject, subject), theory)


def _folder_blocks(folder: Folder, figures: Mapping[str, Figure]) -> Mapping[str, Block]:
    def show_figure(name: str) -> str:
        if name not in figures:
            raise DocsError(f"no folder draws a figure {name!r}")
        return figure(figures[name])

    blocks: dict[str, Block] = {"figure": show_figure, "rules": _plain(lambda: rules(folder.rules))}
    latex = folder.formula
    if latex is not None:
        blocks["formula"] = _plain(lambda: formula(latex, display=True))
    contract = folder.contract
    if contract is not None:
        blocks["signature"] = _plain(lambda: signature(contract))
        blocks["types"] = _plain(lambda: types(contract))
        blocks["accuracy"] = _plain(lambda: accuracy(folder.title, folder.cases))
        blocks["examples"] = _plain(lambda: examples(folder.cases, f"{folder.name}-cases.md"))
    return blocks


def _page_blocks(inputs: Inputs, pages: MutableMapping[str, str]) -> Mapping[str, Block]:
    """What pages that belong to no folder may show; a report is put among the pages."""
    listed = inputs.folders
    return {
        "operators": _plain(lambda: operators_table(listed)),
        "rules": _plain(lambda: rules_table(listed)),
        "rewritings": _plain(rewritings_table),
        "older": _plain(older_table),
        "documents": _plain(lambda: documents_table(inputs.origins)),
        "clauses": _plain(lambda: clauses_tables(inputs.origins, listed)),
        "own": _plain(lambda: own_table(inputs.origins, listed)),
        "assumptions": _plain(assumptions_table),
        "driver": _plain(driver_table),
        "matrix": _plain(lambda: matrix(listed, inputs.evidence)),
        "standing": _plain(lambda: standing_table(inputs.evidence)),
        "tools": _plain(lambda: tools_table(inputs.evidence)),
        "verdicts": lambda argument: verdicts(argument, pages),
    }


def _plain(make: Callable[[], str]) -> Block:
    """A block that takes no argument."""

    def made(argument: str) -> str:
        if argument:
            raise DocsError(f"takes nothing after its name, got {argument!r}")
        return make()

    return made


def _links(listed: Sequence[Folder], root: str) -> Links:
    addresses = {**reference_links(root), **rule_links(listed, root)}
    return Links(addresses, frozenset(folder.name for folder in listed), f"{root}rulings.md")


def write_sources(sources: Sources, places: Places) -> None:
    """Write the pages, figures and assets, in place of those of an earlier build."""
    shutil.rmtree(places.sources, ignore_errors=True)
    for path, text in sources.texts.items():
        target = places.sources / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.copytree(places.assets, places.sources / "assets", dirs_exist_ok=True)


def navigation(settings: Sequence[Any], listed: Sequence[Folder]) -> list[Any]:
    """Fill the chapters on operators, which the settings leave empty, with one page per folder."""
    xla = [folder for folder in listed if folder.name.startswith("xla-")]
    chapters = {"Specification": [folder for folder in listed if folder not in xla], "XLA operations": xla}
    filled = {name: [{folder.title: folder.path} for folder in pages] for name, pages in chapters.items()}
    return [{name: filled[name]} if (name := next(iter(entry))) in filled else entry for entry in settings]


class _Warnings(logging.Handler):
    """Keeps what MkDocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def run_mkdocs(listed: Sequence[Folder], places: Places) -> tuple[str, ...]:
    """Run MkDocs strictly; its warnings are problems."""
    warnings, logger = _Warnings(), logging.getLogger("mkdocs")
    logger.addHandler(warnings)
    try:
        config = load_config(
            str(places.settings), docs_dir=str(places.sources), site_dir=str(places.site), strict=True
        )
        config.nav = navigation(config.nav or [], listed)
        config.plugins.on_startup(command="build", dirty=False)
        build_site(config)
    except MkDocsException as error:
        warnings.messages.append(str(error))
    finally:
        logger.removeHandler(warnings)
    return tuple(f"mkdocs: {message}" for message in warnings.messages)


def wanted(listed: Sequence[Folder]) -> Iterator[Wanted]:
    """List the anchors that must exist: the page of every rule, and every case chosen for a page."""
    for folder in listed:
        for rule in folder.rules:
            page, _, identifier = rule.page.partition("#")
            yield Wanted(page.removesuffix(".md") + ".html", identifier, f"rule {rule.identifier}")
        for case in folder.cases:
            if case.page:
                html = folder.path.removesuffix(".md") + ".html"
                yield Wanted(html, example_anchor(case), f"the example {case.name!r}")
