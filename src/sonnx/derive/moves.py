"""Trials and clauses of operators that only move elements, from their calls and their definitions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from sonnx.derive import calls
from sonnx.derive.evaluate import evaluate
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.draws import Draw, choice, drawn_array
from sonnx.vocabulary.moves import Asked, Moves
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.special_values import (
    LENGTHS,
    MANY,
    THOUSANDS,
    everywhere,
    kept_bits,
    special_line,
    special_vector,
    spread,
    told_apart,
    words,
)
from sonnx.vocabulary.trial import Clause, Trial

_RANDOM = 24
# So far operands are shifted against each other.
_APART = 3


class _AtRandom:
    """Draws from a generator, any choice as likely as another."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def integer(self, low: int, high: int) -> int:
        return int(self._random.integers(low, high + 1))

    def codes(self, count: int) -> bytes:
        return self._random.bytes(count)


def moves_of(operator: Operator) -> Moves | None:
    """What is said of the elements that an operator moves; None where it does not only move."""
    contract = operator.contract
    if contract.good is None:
        return None
    return operator.trying.moves or Moves((contract.ruling,), contract.summary)


def trials(operator: Operator, moves: Moves, dtype: DType, seed: int) -> Iterator[Trial]:
    """Calls filled with special values, all of them in every operand, lengths, large ones; random ones."""
    contract = operator.contract
    rules = (rule.identifier for rule in contract.rules if rule.identifier not in moves.beyond)
    shows = tuple(dict.fromkeys((*moves.rulings, "D-ALL-4", *rules)))
    for trial in _every(operator, dtype, seed):
        yield replace(trial, shows=shows)


def _every(operator: Operator, dtype: DType, seed: int) -> Iterator[Trial]:
    every = special_vector(dtype, signalling=True)
    for number, (name, asked) in enumerate(calls.calls(operator).items()):
        arrays = [
            spread(every, shape, number + _APART * at) for at, shape in enumerate(asked.shapes.values())
        ]
        trial = _trial(name, asked, arrays, f"Of {words(name)}.")
        yield trial
        if len(arrays) > 1 and number % 3 == 1:
            yield replace(trial, name=f"{name}-constant", constants=_held(asked)[1])
    grown, lines = calls.grown(operator), calls.lines(operator)
    for number, each in enumerate(grown):
        asked = calls.sized(each, len(every))
        arrays = [spread(every, shape, at) for at, shape in enumerate(asked.shapes.values())]
        name = f"special-values-{number}" if number else "special-values"
        yield _trial(name, asked, arrays, "Every special value.")
    for number, length in enumerate(LENGTHS if lines else ()):
        asked = calls.sized(lines[number % len(lines)], length)
        line = special_line(dtype, _elements(asked))
        held = _held(asked)[-(number % 2)]
        trial = _trial(f"length-{length}", asked, _cut(line, asked), f"In all {length} elements.")
        yield replace(trial, constants=held)
    for name, count in (("thousands", THOUSANDS), *((("million", MANY),) if dtype is DType.FLOAT else ())):
        asked = _filling(operator, grown[-1], count)
        elements = _cut(told_apart(dtype, _elements(asked), count), asked)
        yield _trial(name, asked, elements, f"{name.capitalize()} of elements, each another.")
    random = _AtRandom(np.random.default_rng(seed))
    for number in range(_RANDOM):
        trial = drawn(operator, random, dtype)
        yield replace(trial, name=f"random-{number}", text="Random elements and sizes.")


def drawn(operator: Operator, draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds; of several operands the first or all others may be constants."""
    moves, asked = moves_of(operator), calls.drawn(operator, draw)
    assert moves is not None  # nobody else is asked so
    held = choice(draw, _held(asked))
    arrays = [drawn_array(draw, dtype, shape, signalling=True) for shape in asked.shapes.values()]
    trial = _trial("drawn", asked, arrays, "Drawn elements and sizes.")
    return replace(trial, shows=(*moves.rulings, "D-ALL-4"), constants=held)


def _trial(name: str, asked: Asked, arrays: Sequence[Array], text: str) -> Trial:
    inputs = dict(zip(asked.shapes, arrays, strict=True))
    inputs |= {each: np.array(sizes, np.int64) for each, sizes in asked.decided.items()}
    return Trial(name, inputs, (), text, asked.attributes, frozenset(asked.decided))


def _held(asked: Asked) -> tuple[frozenset[str], ...]:
    """Operands that a model may hold itself: what decides a shape, with all but the first, or with it."""
    decided, (first, *others) = frozenset(asked.decided), asked.shapes
    return (decided, decided | set(others), decided | {first}) if others else (decided,)


def _elements(asked: Asked) -> int:
    return sum(map(prod, asked.shapes.values()))


def _cut(line: Array, asked: Asked) -> list[Array]:
    """The operands of a call, one after the other from a line."""
    ends = np.cumsum([prod(shape) for shape in asked.shapes.values()])
    pieces = np.split(line, ends[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, asked.shapes.values(), strict=True)]


def _filling(operator: Operator, grown: Asked, count: int) -> Asked:
    """The call of operands so large that the result has so many elements, or hardly more."""
    one = calls.sized(grown, 1)
    trial = _trial("", one, [np.zeros(shape, np.int64) for shape in one.shapes.values()], "")
    return calls.sized(grown, -(-count // places(operator, trial.inputs, one.attributes).size))


# --- clauses -----------------------------------------------------------------------------------------------


def clauses(
    operator: Operator, moves: Moves, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
) -> tuple[Clause, ...]:
    """What is easily lost of an element; whether it is there once more; where it comes from."""
    output = next(iter(evaluate(operator, inputs, attributes).values()))
    origins, ruling = places(operator, inputs, attributes), moves.rulings[0]
    found = list(kept_bits(output, "D-ALL-4"))
    if moves.again:
        again = everywhere(origins.shape)
        again.reshape(-1)[np.unique(origins, return_index=True)[1]] = False
        found.append(Clause(ruling, moves.again, again))
    if moves.first:
        found.append(Clause(ruling, moves.first, origins < next(iter(inputs.values())).size))
    return (*found, Clause(ruling, moves.rest, everywhere(origins.shape)))


def places(operator: Operator, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Array:
    """Where each element comes from: the operator moves numbers that count through all its operands."""
    numbered, start = dict(inputs), 0
    for name, array in inputs.items():
        if name not in operator.contract.settled:
            numbered[name] = np.arange(start, start + array.size).reshape(array.shape)
            start += array.size
    return next(iter(evaluate(operator, numbered, attributes).values()))
