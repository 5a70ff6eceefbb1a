"""What an operator costs: the lines of its folder, everything counted, as a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from sonnx.operators import OPERATORS
from sonnx.vocabulary.operator import Operator

# What is counted together: the first whose ending a file's name has.
KINDS = {
    "meaning": ("definition.py", "body.py", "meaning.py"),
    "contract": ("contract.py", "rules.py", "geometry.py", "__init__.py"),
    "cases": ("cases.toml",),
    "page": ("page.md",),
    "laws": (".mlw",),
    "trials": ("trials.py",),
    "C": (".c", ".h", "fast.py"),
    "other": ("",),
}
# The most lines that an operator may take.
BUDGETS = {"element-wise": 120, "move": 120, "composition": 150, "fold": 250}
# Older than the budgets, and with more to say than a new one: rules, rulings and laws of their documents. One
# that keeps its budget all the same is not listed.
OLDER = frozenset(
    (
        *("Clip", "Conv", "Where", "Broadcast", "Expand", "xla.Broadcast", "xla.Call", "xla.Clamp"),
        *("xla.Collapse", "xla.Concatenate", "xla.ConvertElementType", "xla.Conv"),
        "xla.ConvWithGeneralPadding",
    )
)


@dataclass(frozen=True)
class Price:
    """The lines of one folder by kind."""

    name: str
    family: str
    lines: dict[str, int]

    @property
    def total(self) -> int:
        """All lines."""
        return sum(self.lines.values())


def family(operator: Operator) -> str:
    """What kind of operator it is, as far as its budget goes."""
    if operator.body is not None:
        return "composition"
    if operator.definition is not None and operator.definition.elementwise:
        return "element-wise"
    # What moves elements has a call that shows it; what is left folds them.
    return "move" if operator.contract.good is not None else "fold"


def prices() -> Iterator[Price]:
    """The price of every operator, in the order of the catalogue."""
    for operator in OPERATORS:
        folder = Path(str(files(operator.package)))
        lines = dict.fromkeys(KINDS, 0)
        for path in sorted(folder.iterdir()):
            if path.is_file():
                kind = next(kind for kind, ends in KINDS.items() if path.name.endswith(ends))
                lines[kind] += len(path.read_text(encoding="utf-8").splitlines())
        yield Price(operator.name, family(operator), lines)


def table(found: list[Price]) -> str:
    """The prices as text, with their sum."""
    heads = ["operator", *KINDS, "lines"]
    rows = [
        [price.name, *(str(price.lines.get(kind, 0)) for kind in KINDS), str(price.total)] for price in found
    ]
    sums = [sum(price.lines.get(kind, 0) for price in found) for kind in KINDS]
    rows.append(["all", *map(str, sums), str(sum(sums))])
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (heads, *rows)
    )


if __name__ == "__main__":
    print(table(list(prices())))
