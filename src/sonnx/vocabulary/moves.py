"""How runtimes are tried on an operator that only moves elements: its calls by shapes, and what is said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sonnx.vocabulary.draws import Draw
from sonnx.vocabulary.special_values import Shape


@dataclass(frozen=True, eq=False)
class Asked:
    """A call without elements: shapes of operands by name, what decides a shape, and attributes.

    `decided` has the elements of operands that are constants because they decide a shape.
    """

    shapes: Mapping[str, Shape]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    decided: Mapping[str, Shape] = field(default_factory=dict)


# A size → a call that has it.
Sized = Callable[[int], Asked]


@dataclass(frozen=True, eq=False)
class Moves:
    """Calls from which trials are made, and the sentences that decide an element.

    `calls` are those by name that were thought of. `lines` give results of so many elements in all, `grown`
    take operands of so many elements each; the last of them is also tried with thousands. `drawn` draws a
    small one. The first of `rulings` says where elements come from: `rest` in general, `again` of one that is
    there once more, `first` of those of the first operand. `beyond` are rules whose edge no trial can reach.
    """

    rulings: tuple[str, ...]
    calls: Mapping[str, Asked]
    lines: Sequence[Sized]
    grown: Sequence[Sized]
    drawn: Callable[[Draw], Asked]
    rest: str
    again: str = ""
    first: str = ""
    beyond: frozenset[str] = frozenset()
