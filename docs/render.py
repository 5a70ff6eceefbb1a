"""Contracts, rules, cases and figures → Markdown with HTML blocks; every text from data is escaped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from docs.formulas import formula
from docs.markup import DocsError, anchor, block, code, escape, prose, rulings_in, slug, table
from sonnx.check.calls import check_call
from sonnx.check.models import check_graph
from sonnx.drawing.figure import Figure
from sonnx.evaluate.functions import error_bound
from sonnx.model.dtype import IEEE, MOVED, SIGNED, UNSIGNED, XLA_NAMES, DType
from sonnx.operators import operator
from sonnx.operators.shared.cases import Case, Tensor
from sonnx.report.graph_text import graph_text
from sonnx.report.text import attribute_text, call_text, findings_text
from sonnx.vocabulary.operator import Contract, Operand
from sonnx.vocabulary.rule import AnyRule, Finding, GraphRule

_DOT = " \u00b7 "
_FAMILIES: tuple[tuple[str, tuple[DType, ...]], ...] = (
    ("exact", (DType.REAL,)),
    ("IEEE 754", IEEE),
    ("signed integers", SIGNED),
    ("unsigned integers", UNSIGNED),
    ("moved, never calculated with", MOVED),
)
_XLA_FAMILIES: tuple[tuple[str, tuple[DType, ...]], ...] = (
    ("exact", (DType.REAL,)),
    ("floats", (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE)),
    ("signed integers", SIGNED),
    ("unsigned integers", UNSIGNED),
    ("truth values", (DType.BOOL,)),
    ("complex numbers", (DType.COMPLEX64, DType.COMPLEX128)),
)


def signature(contract: Contract) -> str:
    """Show how an operator is written, then its inputs, outputs and attributes."""
    if contract.domain == "xla":
        origin = "Operation of XLA: a function of `sonnx.xla`, and a method of its builder."
    elif contract.versions:
        versions = " and ".join(map(str, contract.versions))
        origin = f"Operator of ONNX, in the form of version {versions} of the operator set."
    else:
        origin = "A functionality of ONNX that no model holds as a node."
    parts = [block(signature_line(contract), "signature"), origin, _operands(contract)]
    if contract.attributes:
        parts.append(_attributes(contract))
    return "\n\n".join(parts)


def signature_line(contract: Contract) -> str:
    """Write the call without types: `Y = Conv(X, W, B; strides, pads)`."""
    outputs = ", ".join(map(_spread, contract.outputs))
    inputs = ", ".join(map(_spread, contract.inputs))
    attributes = ", ".join(attribute.name for attribute in contract.attributes)
    return f"{outputs} = {contract.name}({inputs}{'; ' if attributes else ''}{attributes})"


def _spread(operand: Operand) -> str:
    return f"{operand.name}0, {operand.name}1, \u2026" if operand.variadic else operand.name


def _operands(contract: Contract) -> str:
    sides = (("input", contract.inputs), ("output", contract.outputs))
    rows = [
        (
            code(operand.name),
            side,
            formula(operand.symbol),
            prose(operand.text),
            type_names(operand.types, _spelling(contract)),
            "yes" if operand.optional else "no",
        )
        for side, operands in sides
        for operand in operands
    ]
    return table(("name", "role", "symbol", "meaning", "types", "may be absent"), rows)


def _attributes(contract: Contract) -> str:
    rows = [
        (
            code(attribute.name),
            escape(attribute.kind),
            prose(attribute.text),
            "no: a way of evaluating" if attribute.mode else "yes",
        )
        for attribute in contract.attributes
    ]
    held = "in computations" if contract.domain == "xla" else "in ONNX files"
    return table(("attribute", "kind", "meaning", held), rows)


def _spelling(contract: Contract) -> Mapping[DType, str]:
    """How the operator's documents spell types; those without a name there have ONNX's."""
    return XLA_NAMES if contract.domain == "xla" else {}


def type_names(types: Sequence[DType], names: Mapping[DType, str] | None = None) -> str:
    """List types; a whole family of integers is one entry, `int8 … int64`."""
    spelled = {dtype: code((names or {}).get(dtype, dtype)) for dtype in types}
    listed: list[str] = []
    for dtype in types:
        family = next((f for f in (SIGNED, UNSIGNED) if dtype in f and set(f) <= set(types)), None)
        if family is None:
            listed.append(spelled[dtype])
        elif dtype is family[0]:
            listed.append(f"{spelled[family[0]]}&nbsp;\u2026&nbsp;{spelled[family[-1]]}")
    return ", ".join(listed)


def types(contract: Contract) -> str:
    """List the element types by family, once for all operands that share them."""
    groups: dict[tuple[DType, ...], list[str]] = {}
    for operand in contract.inputs + contract.outputs:
        groups.setdefault(operand.types, []).append(code(operand.name))
    if len(groups) == 1:
        return "\n".join(_families(next(iter(groups)), _spelling(contract)))
    return "\n\n".join(
        f"{', '.join(names)}:\n\n" + "\n".join(_families(t, _spelling(contract)))
        for t, names in groups.items()
    )


def _families(types: tuple[DType, ...], names: Mapping[DType, str]) -> Iterator[str]:
    for title, family in _XLA_FAMILIES if names else _FAMILIES:
        members = tuple(dtype for dtype in family if dtype in types)
        if members:
            yield f"- {title}: {type_names(members, names)}"


def rules(listed: Iterable[AnyRule]) -> str:
    """Show rules one after the other, each under a heading with its anchor."""
    return "\n\n".join(map(_rule, listed))


def _rule(rule: AnyRule) -> str:
    example = _example(rule)
    if rule.identifier not in {finding.rule for finding in example.findings}:
        raise DocsError(f"the failing example of {rule.identifier} does not break it")
    return "\n".join(
        (
            f"### `{rule.identifier}` {{ #{anchor(rule.identifier)} }}",
            "",
            '<div class="rule">',
            f'<p class="statement">{prose(rule.statement)}</p>',
            f'<p class="reason">{prose(rule.reason)}</p>',
            *_notes(rule),
            f"<details><summary>A {example.kind} that breaks it, and one that keeps it</summary>",
            f"<p>This {example.kind} is refused:</p>",
            block(example.failing, example.kind),
            block(findings_text(example.findings), "finding"),
            "<p>This one is not:</p>",
            block(example.passing, example.kind),
            "</details>",
            "</div>",
        )
    )


@dataclass(frozen=True)
class _Example:
    """The two examples of a rule as text, what they are, and what the check finds in the failing one."""

    kind: str
    failing: str
    passing: str
    findings: Sequence[Finding]


def _example(rule: AnyRule) -> _Example:
    if isinstance(rule, GraphRule):
        failing, passing = graph_text(rule.failing), graph_text(rule.passing)
        return _Example("model", failing, passing, check_graph(rule.failing))
    findings = check_call(operator(rule.failing.operator), rule.failing)
    return _Example("call", call_text(rule.failing), call_text(rule.passing), findings)


def _notes(rule: AnyRule) -> Iterator[str]:
    notes = [restricts_badge()] if rule.restricts_onnx else []
    if rule.ruling:
        notes.append(f"ruling {ruling_links(rulings_in(rule.ruling), '../')}")
    if rule.also:
        notes.append(f"in the documents also {', '.join(map(code, rule.also))}")
    if notes:
        yield f'<p class="notes">{_DOT.join(notes)}</p>'


def restricts_badge() -> str:
    """The mark of a rule that forbids something ONNX allows."""
    return '<span class="badge restricts">restricts ONNX</span>'


def ruling_links(names: Iterable[str], root: str) -> str:
    """Link rulings to the table of rulings; `root` leads from the page to the start of the site."""
    return ", ".join(
        f'<a class="ruling" href="{root}rulings.html#{name.lower()}">{name}</a>' for name in names
    )


def examples(cases: Sequence[Case], cases_page: str) -> str:
    """Show the cases chosen for the page, then say how many more there are and where."""
    shown = [
        f'<div class="case" id="{example_anchor(case)}">\n'
        f'<p class="title">{escape(_title(case))}</p>\n{case_body(case)}\n</div>'
        for case in cases
        if case.page
    ]
    further = len(cases) - len(shown)
    noun = "case" if further == 1 else "cases"
    more = f"There {'is' if further == 1 else 'are'} {further} further {noun}"
    return "\n\n".join((*shown, f"{more}: see [all cases]({cases_page})."))


def example_anchor(case: Case) -> str:
    """The anchor of a case that is shown on its operator's page."""
    return f"example-{slug(case.name)}"


def case_anchor(case: Case) -> str:
    """The anchor of a case on the page of all cases."""
    return f"case-{slug(case.name)}"


def cases_page(title: str, cases: Sequence[Case], operator_page: str) -> str:
    """Write the page of all cases of one operator."""
    head = (
        f"# {escape(title)}: all cases\n\n"
        f"Inputs and expected outputs of [{escape(title)}]({operator_page}). Tests demand these bits; "
        "a float that is written in hexadecimal names one number exactly."
    )
    bodies = (
        f"## {escape(_title(case))} {{ #{case_anchor(case)} }}\n\n"
        f'<div class="case">\n{case_body(case)}\n</div>'
        for case in cases
    )
    return "\n\n".join((head, *bodies)) + "\n"


def _title(case: Case) -> str:
    return case.name[:1].upper() + case.name[1:]


def case_body(case: Case) -> str:
    """Show inputs, attributes, outputs and the origin of a case."""
    attributes = " ".join(code(f"{name}={_attribute(value)}") for name, value in case.attributes.items())
    notes = [f"Source: {prose(case.source)}."]
    if case.nan == "any":
        notes.append("A NaN here is computed, so any NaN is right.")
    if case.rulings:
        notes.append(f"Rulings: {ruling_links(case.rulings, '../')}.")
    lines = [
        '<div class="flow">',
        *(tensor(name, value) for name, value in case.inputs.items()),
        # The arrow stays with what it points at when a narrow window breaks the line.
        '<div class="results"><span class="gives" role="img" aria-label="gives">\u2192</span>',
        *(tensor(name, value) for name, value in case.outputs.items()),
        "</div>",
        "</div>",
    ]
    if attributes:
        lines.insert(0, f'<p class="attributes">{attributes}</p>')
    return "\n".join((*lines, f'<p class="source">{" ".join(notes)}</p>'))


def _attribute(value: Any) -> str:
    """The value of an attribute; a computation of one operation as `limit(operand: s32[3]) = Clamp`."""
    if isinstance(value, dict):
        more = "".join(f", {key}={attribute_text(given)}" for key, given in value["attributes"].items())
        return f"{value['name']}({', '.join(value['parameters'])}) = {value['operator']}{more}"
    return attribute_text(value)


def tensor(name: str, value: Tensor) -> str:
    """Show a tensor: its name and type, then its elements as written, matrix by matrix."""
    head = f'<p class="type"><code><b>{escape(name)}</b>: {escape(str(value.type))}</code></p>'
    return f'<div class="tensor">{head}{"".join(_matrices(value))}</div>'


def _matrices(value: Tensor) -> Iterator[str]:
    elements, shape = value.elements, value.type.sizes
    if shape is None or prod(shape) != len(elements):
        raise DocsError(f"a tensor of type {value.type} is written with {len(elements)} elements")
    if not elements:
        yield '<p class="index">no elements</p>'
        return
    outer, (lines, columns) = shape[:-2], (1, 1, *shape)[-2:]
    for place, index in enumerate(product(*map(range, outer))):
        if prod(outer) > 1:
            yield f'<p class="index">{escape(str(list(index)))}</p>'
        first = place * lines * columns
        cells = [elements[first + line * columns :][:columns] for line in range(lines)]
        yield _matrix(cells)


def _matrix(cells: Sequence[Sequence[str]]) -> str:
    rows = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
    return f'<table class="matrix"><tbody>{"".join(rows)}</tbody></table>'


def accuracy(name: str, cases: Sequence[Case]) -> str:
    """Say how accurate results are: exact where the bound is 0 in every case of floats."""
    bound = code(f'sonnx.error_bound("{name}", ...)')
    if all(not np.any(part) for case in cases if _holds_floats(case) for part in _bounds(name, case)):
        return f"The result is exact for every type: {bound} is 0 for every element."
    return f"Results are rounded: {bound} says for every element how far it may be from the exact one."


def _holds_floats(case: Case) -> bool:
    types = {each.type.dtype for each in case.inputs.values()}
    return bool(types & set(IEEE)) and DType.REAL not in types


def _bounds(name: str, case: Case) -> tuple[Any, ...]:
    found = error_bound(name, *(each.array() for each in case.inputs.values()), **case.attributes)
    return found if isinstance(found, tuple) else (found,)


def figure(drawn: Figure) -> str:
    """Show a figure with its caption and the text for people who cannot see it."""
    return (
        f'<figure class="drawing" id="figure-{drawn.name}">\n'
        f'<a href="figures/{drawn.name}.svg" title="Open the drawing by itself">'
        f'<img alt="{escape(drawn.alt)}" src="figures/{drawn.name}.svg"></a>\n'
        f"<figcaption>{prose(drawn.caption)}</figcaption>\n"
        "</figure>"
    )
