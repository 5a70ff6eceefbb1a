"""What `sonnx explain` does: a rule explained, or a ruling with the rules that follow from it."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from re import MULTILINE, findall

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sonnx.check.calls import check_call
from sonnx.check.models import check_graph
from sonnx.model.graph import Graph
from sonnx.operators import OPERATORS, operator
from sonnx.operators.rulebook import rules
from sonnx.report.rules import explanation, rules_table
from sonnx.vocabulary.rule import RULING, AnyRule, Finding

# The folders with a page, by the page's name on the site.
_FOLDERS = {
    "graph": "graph",
    "general": "general",
    **{
        listed.identifier.replace(".", "-"): f"{listed.contract.domain or 'onnx'}/{listed.folder}"
        for listed in OPERATORS
    },
}


def explained(name: str) -> list[RenderableType]:
    """Explain the rule of that name, in whatever case; raises ValueError where there is none."""
    wanted = name.lower()
    everything = {rule.identifier.lower(): rule for rule in rules()}
    if wanted in everything:
        return [_rule(everything[wanted])]
    stated = [rule for rule in rules() if wanted in map(str.lower, rule.also)]
    if stated:
        return [_rule(rule) for rule in stated]
    rulings = _rulings()
    if name.upper() in rulings:
        return _ruling(name.upper(), rulings[name.upper()])
    known = {
        **{key: rule.identifier for key, rule in everything.items()},
        **{key.lower(): key for key in rulings},
    }
    groups = {listed.name.lower(): listed.name for listed in OPERATORS}
    if wanted in groups:
        told = f"`sonnx rules {groups[wanted]}` lists its rules"
        raise ValueError(f"there is no rule {name!r}, but an operator; {told}")
    near = [known[key] for key in get_close_matches(wanted, known, n=3, cutoff=0.6)]
    advice = f"; did you mean {', '.join(near)}?" if near else "; `sonnx rules` lists all"
    raise ValueError(f"there is no rule {name!r}{advice}")


def known_names() -> Iterator[tuple[str, str]]:
    """All that `explained` knows, each with what it says in short."""
    labels = {label: rule.statement for rule in rules() for label in (*rule.also, rule.identifier)}
    yield from labels.items()
    yield from ((ruling, "ruling") for ruling in _rulings())


def _rule(rule: AnyRule) -> RenderableType:
    return explanation(rule, _broken(rule))


def _broken(rule: AnyRule) -> tuple[Finding, ...]:
    """What the check says of a rule's failing example."""
    if isinstance(rule.failing, Graph):
        return check_graph(rule.failing)
    return check_call(operator(rule.failing.operator), rule.failing)


def _pages() -> Iterator[tuple[str, str]]:
    """The pages by their names on the site, as text; an operator that is being written may have none yet."""
    for name, folder in _FOLDERS.items():
        page = files("sonnx.operators").joinpath(folder, "page.md")
        if page.is_file():
            yield name, page.read_text(encoding="utf-8")


def _held(name: str) -> RenderableType:
    """What a ruling says, from the tables of the pages."""
    table = Table(show_edge=False, pad_edge=False)
    for column in ("on the page", "what the source left open or got wrong", "what holds"):
        table.add_column(column)
    for page, text in _pages():
        for row in findall(rf"^\| {name} \|([^|]*)\|([^|]*)\|$", text, MULTILINE):
            table.add_row(page, *(Text(_without_markup(cell.strip())) for cell in row))
    return table


def _without_markup(text: str) -> str:
    """A cell of a page as a terminal shows it: without the signs around formulas."""
    return text.replace(r"\infty", "\u221e").replace("$", "")


def _rulings() -> Mapping[str, list[str]]:
    """The pages that speak of each ruling."""
    pages: dict[str, list[str]] = {}
    for name, text in _pages():
        for ruling in dict.fromkeys(RULING.findall(text)):
            pages.setdefault(ruling, []).append(f"operators/{name}.html#{ruling.lower()}")
    return pages


def _ruling(name: str, pages: list[str]) -> list[RenderableType]:
    following = [rule for rule in rules() if name in rule.ruling.split(", ")]
    where = Text(f"It stands in the documentation (make docs) on {', '.join(pages)}")
    if not following:
        return [Text(f"{name} is a ruling; no rule follows from it.\n"), _held(name), Text(), where]
    head = Text(f"{name} is a ruling; `sonnx explain` tells more of the rules that follow from it:\n")
    return [head, rules_table(following), Text(), _held(name), Text(), where]
