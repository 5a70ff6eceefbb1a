"""Trials: what a runtime is asked about an operator, and which clause of its meaning decides an element."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array


@dataclass(frozen=True, eq=False)
class Trial:
    """One question: operands and attributes that obey every rule.

    `name` is a slug of a-z, 0-9 and `-`, unique among the trials of one operator and type; `shows` names the
    rules and rulings that it is about; `text` says in a sentence what is looked at. `constants` are the
    operands that a model holds itself; the others are its inputs.
    """

    name: str
    inputs: Mapping[str, Array]
    shows: tuple[str, ...]
    text: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Clause:
    """A part of an operator's meaning, and the output elements that it decides (a mask of their shape).

    Of several clauses that decide an element the first one counts. One of `only_values` counts where another
    value came, and not where merely the sign of a zero or the bits of a NaN were lost.
    """

    identifier: str
    text: str
    mask: Array
    only_values: bool = False


# The type on trial and a number from which everything random is drawn → trials, the same every time.
Trials = Callable[[DType, int], Iterator[Trial]]
# Operands by name and attributes → the clauses, in their order; together they decide every output element.
Clauses = Callable[[Mapping[str, Array], Mapping[str, Any]], tuple[Clause, ...]]
