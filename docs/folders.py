"""What the operator folders give to the site."""

from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files

from sonnx.drawing.figure import Figure
from sonnx.model.operator import Contract, Operator
from sonnx.model.rule import AnyRule
from sonnx.operators import GENERAL_RULES, GRAPH_RULES, OPERATORS
from sonnx.operators.graph.figures import FIGURES as GRAPH_FIGURES
from sonnx.operators.shared.cases import Case, load_cases


@dataclass(frozen=True)
class Folder:
    """One folder with a page; `contract` is None where it is about no single operator.

    `name` is the stem of the page on the site, `source` the page's path in messages, and `page` its text,
    None where the file is missing.
    """

    name: str
    title: str
    source: str
    page: str | None
    rules: tuple[AnyRule, ...]
    contract: Contract | None = None
    cases: tuple[Case, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def path(self) -> str:
        """The page's path among the sources of the site."""
        return f"operators/{self.name}.md"

    @property
    def cases_path(self) -> str:
        """The path of the page that lists all cases."""
        return f"operators/{self.name}-cases.md"


def folders() -> tuple[Folder, ...]:
    """List the folders of the package: graphs, the general rules, then operator by operator."""
    return (
        _rules_folder("graph", "Graph execution", GRAPH_RULES, GRAPH_FIGURES),
        _rules_folder("general", "General rules", GENERAL_RULES),
        *map(_folder, OPERATORS),
    )


def _rules_folder(
    name: str, title: str, rules: tuple[AnyRule, ...], figures: tuple[Figure, ...] = ()
) -> Folder:
    package = f"sonnx.operators.{name}"
    return Folder(name, title, _source(package), _page(package), rules, figures=figures)


def _folder(operator: Operator) -> Folder:
    package = operator.package
    return Folder(
        operator.identifier.replace(".", "-"),
        operator.name,
        _source(package),
        _page(package),
        operator.contract.rules,
        operator.contract,
        load_cases(operator.identifier),
        import_module(f"{package}.figures").FIGURES,
    )


def _source(package: str) -> str:
    return f"src/{package.replace('.', '/')}/page.md"


def _page(package: str) -> str | None:
    path = files(package).joinpath("page.md")
    return path.read_text(encoding="utf-8") if path.is_file() else None
