"""What the operator folders give to the site."""

from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files

from sonnx.drawing.figure import Figure
from sonnx.model.operator import Contract, Operator
from sonnx.model.rule import Rule
from sonnx.operators import GENERAL_RULES, OPERATORS
from sonnx.operators.shared.cases import Case, load_cases


@dataclass(frozen=True)
class Folder:
    """One folder with a page; `contract` is None for the general rules.

    `name` is the stem of the page on the site, `source` the page's path in messages, and `page` its text,
    None where the file is missing.
    """

    name: str
    title: str
    source: str
    page: str | None
    rules: tuple[Rule, ...]
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
    """List the folders of the package: the general rules, then operator by operator."""
    package = "sonnx.operators.general"
    general = Folder("general", "General rules", _source(package), _page(package), GENERAL_RULES)
    return (general, *map(_folder, OPERATORS))


def _folder(operator: Operator) -> Folder:
    package = f"sonnx.operators.onnx.{operator.folder}"
    return Folder(
        operator.folder,
        operator.name,
        _source(package),
        _page(package),
        operator.contract.rules,
        operator.contract,
        load_cases(operator.folder),
        import_module(f"{package}.figures").FIGURES,
    )


def _source(package: str) -> str:
    return f"src/{package.replace('.', '/')}/page.md"


def _page(package: str) -> str | None:
    path = files(package).joinpath("page.md")
    return path.read_text(encoding="utf-8") if path.is_file() else None
