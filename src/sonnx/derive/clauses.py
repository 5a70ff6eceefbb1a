"""Which ruling decides an element: read off the cases of a definition, after what is easily lost."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.derive import conversions, moves
from sonnx.derive.evaluate import Walk, evaluate
from sonnx.derive.tracing import described, element_type, suited, traced
from sonnx.model.dtype import INTEGERS
from sonnx.numeric.arrays import Array, held_type
from sonnx.terms.tensors import Made
from sonnx.terms.term import Sort, Term
from sonnx.terms.tracing import Trace
from sonnx.terms.walking import asks_indices, calculates, compares, parts, substituted
from sonnx.terms.words import Clause as Said
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.special_values import everywhere, is_infinite, is_nan, is_subnormal, kept_bits
from sonnx.vocabulary.trial import Clause

_ARITHMETIC = "D-ALL-4"
# What is left to say where a definition names no ruling.
_MEANT = Said(_ARITHMETIC, "The element is the one that the definition gives.")


def clauses(
    operator: Operator, inputs: Mapping[str, Array], attributes: Mapping[str, Any], result: str = ""
) -> tuple[Clause, ...]:
    """The clauses that decide a result of a call that obeys every rule, in their order.

    `result` is its name; without one it is the first.
    """
    if operator.trying.clauses is not None:
        return operator.trying.clauses(inputs, attributes)
    moved = moves.moves_of(operator)
    if moved is not None:
        return moves.clauses(operator, moved, inputs, attributes, result)
    types, constants = described(operator, inputs)
    trace, kind = traced(operator, types, attributes, constants), element_type(operator, types)
    with np.errstate(all="ignore"):
        results = evaluate(operator, inputs, attributes)
    result = result or next(iter(results))
    output = results[result]
    walk = Walk(kind, held_type(output), inputs)
    said = tuple(_cases(walk, trace.made[list(results).index(result)], output.shape))
    if operator.trying.converts_to:
        (operand,) = inputs.values()
        return conversions.clauses(operand, held_type(output), said[-1].identifier)
    if operator.body is not None:
        text = "It is what its parts give one after the other, each operation rounded."
        said = (Clause(operator.contract.ruling, text, everywhere(output.shape)),)
    before = (*operator.trying.before(inputs, attributes), *_truths(trace, inputs, output.shape))
    if any(calculates(made.term) for made in trace.made):
        told = np.logical_or.reduce([everywhere(output.shape) & False, *(each.mask for each in before)])
        lost = (each for each in _calculated(inputs, output) if not before or (each.mask & ~told).any())
        # Where the operator has said all there is, the case of the definition would say it again.
        return (*before, *lost, *(() if before and told.all() else said))
    return (*before, *_chosen(trace, inputs, output, said[-1].identifier), *said)


def _truths(trace: Trace, inputs: Mapping[str, Array], shape: tuple[int, ...]) -> Iterator[Clause]:
    for name, given in trace.operands.items():
        if given.sort is Sort.TRUTH:
            other = np.broadcast_to(inputs[name].view(np.uint8) > 1, shape)
            yield Clause("D-WHERE-1", "Every byte of a bool but 0 is true.", other, only_values=True)


def _chosen(trace: Trace, inputs: Mapping[str, Array], output: Array, ruling: str) -> tuple[Clause, ...]:
    """What is easily lost where elements are moved and compared, and what may not touch them."""
    moved = kept_bits(output, ruling)
    if trace.element is None:
        return moved
    others = [array for array in inputs.values() if array.shape in ((), output.shape)]
    tiny, strange = np.zeros(output.shape, bool), np.zeros(output.shape, bool)
    for array in others:
        tiny = tiny | is_subnormal(array)
        strange = strange | is_nan(array) | is_infinite(array)
    if compares(trace.element.term):
        text = "Subnormal numbers are compared as they are, and kept."
        # Where a case asks for a NaN, that case says what becomes of it.
        asked = any(part.word == "is_nan" for part in parts(trace.element.term))
        return (*moved[1 if asked else 0 : -1], Clause(_ARITHMETIC, text, tiny))
    text = "What is not chosen has no influence, be it NaN or infinite."
    return (*moved, Clause(ruling, text, strange))


def _calculated(inputs: Mapping[str, Array], output: Array) -> tuple[Clause, ...]:
    """What is easily lost where elements are calculated with."""
    tiny = is_subnormal(output)
    for array in inputs.values():
        tiny = tiny | is_subnormal(array)
    return (
        Clause(_ARITHMETIC, "A NaN that is calculated is any NaN, and nothing else.", is_nan(output)),
        Clause(_ARITHMETIC, "Subnormal numbers are calculated with as they are, and kept.", tiny),
    )


def _cases(walk: Walk, made: Made, shape: tuple[int, ...]) -> Iterator[Clause]:
    """The cases of a definition, each where its condition holds; the last decides what is left."""
    term = suited(made.term, walk.kind)
    grid = np.ogrid[tuple(map(slice, shape))] if shape else ()
    walk.indices = {index.data: line for index, line in zip(made.indices, grid, strict=True)}
    for condition, said in _said(term):
        with np.errstate(all="ignore"):
            mask = everywhere(shape) if condition is None else np.broadcast_to(walk(condition), shape)
        text = said.integers if walk.kind in INTEGERS and said.integers else said.text
        yield Clause(said.ruling, text, mask)


def _said(term: Term) -> Iterator[tuple[Term | None, Said]]:
    match term.word:
        case "select" if term.data is not None:
            condition, _, rest = term.arguments
            chosen, after = term.data
            yield condition, chosen
            yield from ((None, after),) if after is not None else _said(rest)
        case "select" if asks_indices(term.arguments[0]):
            yield from _said(term.arguments[2])
        case "stated":
            yield None, term.data
        case "named":
            given = dict(zip(term.data.parameters, term.arguments, strict=True))
            yield from _said(substituted(term.data.body, given))
        case _:
            yield None, _MEANT


def rulings(trace: Trace) -> tuple[str, ...]:
    """The rulings that a definition names, each once."""
    return tuple(dict.fromkeys(said.ruling for made in trace.made for _, said in _said(made.term)))
