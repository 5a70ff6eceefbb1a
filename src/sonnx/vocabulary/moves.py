"""Operators that only move elements, on trial: calls without elements, and what is said of results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sonnx.vocabulary.special_values import Shape


@dataclass(frozen=True, eq=False)
class Asked:
    """A call without elements: shapes of operands by name, what decides a shape, and attributes.

    `decided` has the elements of operands that are constants because they decide a shape.
    """

    shapes: Mapping[str, Shape]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    decided: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Moves:
    """The sentences that decide an element which is moved.

    The first of `rulings` says where elements come from: `rest` in general, `again` of one that is there once
    more, `first` of those of the first operand. `beyond` are rules whose edge no trial can reach.
    """

    rulings: tuple[str, ...]
    rest: str
    again: str = ""
    first: str = ""
    beyond: frozenset[str] = frozenset()
