"""What the operator folders give to the site."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from sonnx.check.calls import check_call
from sonnx.derive import calls
from sonnx.derive.formula import formula
from sonnx.drawing.curves import elementwise
from sonnx.drawing.figure import Figure
from sonnx.drawing.layout import Block, above, code, sheet
from sonnx.drawing.moves import LOOKS, move
from sonnx.evaluate.apply import apply
from sonnx.operators import GENERAL_RULES, GRAPH_RULES, OPERATORS
from sonnx.operators import operator as named
from sonnx.operators.graph.figures import FIGURES as GRAPH_FIGURES
from sonnx.operators.rules.values import as_float
from sonnx.operators.shared.cases import Case, load_cases
from sonnx.vocabulary.call import call
from sonnx.vocabulary.moves import Asked
from sonnx.vocabulary.operator import Attribute, Contract, Operator, operand_names
from sonnx.vocabulary.rule import AnyRule

# How wide a figure may be, and how many calls it shows.
_WIDEST, _MOST_SCENES = 700, 3


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
    # What an element of the output is, in LaTeX, where the definition says it element by element.
    formula: str | None = None

    @property
    def path(self) -> str:
        """The page's path among the sources of the site."""
        return f"operators/{self.name}.md"

    @property
    def cases_path(self) -> str:
        """The path of the page that lists all cases."""
        return f"operators/{self.name}-cases.md"


@cache
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
        _figures(operator),
        formula(operator),
    )


def _figures(operator: Operator) -> tuple[Figure, ...]:
    """What the folder draws; else the figure of its family, if it has one."""
    if find_spec(f"{operator.package}.figures") is None:
        return elementwise_figures(operator) if operator.contract.good is None else moving_figures(operator)
    module = import_module(f"{operator.package}.figures")
    drawn: tuple[Figure, ...] = module.figures(run) if hasattr(module, "figures") else module.FIGURES
    return drawn


def run(name: str, operands: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Execute an operator, for figures that draw what its definition gives."""
    return apply(named(name), operands, attributes)


def elementwise_figures(operator: Operator) -> tuple[Figure, ...]:
    """The figure of an operator that makes one double of doubles; none of any other."""
    contract = operator.contract
    variadic = any(operand.variadic for operand in contract.inputs)
    names = operand_names(contract.inputs, max(len(contract.inputs), 2 if variadic else 1))
    attributes = {each.name: _usual(each) for each in contract.attributes}
    one = call(operator.name, dict.fromkeys(names, "double[]"), attributes)
    if check_call(operator, one) or [*map(str, contract.output_types(one).values())] != [
        str(one.inputs[names[0]])
    ]:
        return ()

    def element(*values: float) -> float:
        operands = {name: np.array(value) for name, value in zip(names, values, strict=True)}
        (result,) = apply(operator, operands, attributes).values()
        return float(result)

    page = operator.identifier.replace(".", "-").replace("_", "-")
    return (elementwise(page, contract.name, names, element),)


def moving_figures(operator: Operator) -> tuple[Figure, ...]:
    """The figure of an operator that only moves elements: the call of its contract, and others beside it."""
    scenes = [_scene(operator, asked) for asked in calls.shown(operator)]
    page = operator.identifier.replace(".", "-").replace("_", "-")
    name, summary = operator.contract.name, operator.contract.summary
    fitting = [(block, told) for block, told in scenes if block.width <= _WIDEST][:_MOST_SCENES]
    fitting = fitting or [min(scenes, key=lambda scene: scene[0].width)]
    return (
        sheet(
            f"{page}-move",
            f"{name}: where elements come from",
            f"{summary.removesuffix('.')}; every element has the colour that it had before.",
            " ".join(told for _, told in fitting),
            above(*(block for block, _ in fitting), gap=30),
        ),
    )


def _scene(operator: Operator, asked: Asked) -> tuple[Block, str]:
    """One call with elements that count from 1, and what is seen there."""
    operands, start = dict[str, Any](), 1
    for name, shape in asked.shapes.items():
        operands[name] = np.arange(start, start + prod(shape)).reshape(shape)
        start += prod(shape)
    decided = {name: np.array(held, np.int64) for name, held in asked.decided.items()}
    several = len(operands) > 1
    colours = {
        name: number if several else _lines(array) for number, (name, array) in enumerate(operands.items())
    }
    results = apply(operator, {**operands, **decided}, asked.attributes)
    written = ", ".join(f"{n} = {_plain(v)}" for n, v in {**asked.attributes, **asked.decided}.items())
    told = [
        f"{name} has the shape {_plain(array.shape)} and the elements {', '.join(map(str, array.flat))}"
        for name, array in {**operands, **results}.items()
    ]
    moved = move(operands, lambda given: apply(operator, {**given, **decided}, asked.attributes), colours, 28)
    return above(code(written), moved), f"With {written}: {'; '.join(told)}."


def _lines(array: Any) -> Any:
    """A colour for each index of the first axis."""
    return np.arange(array.shape[0]).reshape(-1, *[1] * (array.ndim - 1)) % len(LOOKS) if array.ndim else 0


def _plain(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _usual(attribute: Attribute) -> Any:
    """What an attribute is where nobody says anything, as far as that hangs on no operand."""
    given = attribute.default_in_onnx if attribute.default is None else attribute.default
    return as_float(given) if isinstance(given, float) else given


def _source(package: str) -> str:
    return f"src/{package.replace('.', '/')}/page.md"


def _page(package: str) -> str | None:
    path = files(package).joinpath("page.md")
    return path.read_text(encoding="utf-8") if path.is_file() else None
