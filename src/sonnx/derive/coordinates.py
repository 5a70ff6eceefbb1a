"""What a term reads as a table with one axis for each sum of its indices, and views into that.

A guarded read such as select(0 <= m·2 + k - 1, X[b, m·2 + k - 1], 0) hangs on two numbers, b and m·2 + k.
Its elements for all of these are a table, the padded copy of X; as a function of b, m and k it is a view of
the table with strides of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np

from sonnx.derive.boxes import affine
from sonnx.numeric.arrays import Array
from sonnx.numeric.views import strided
from sonnx.terms.tensors import Made, index, index_of
from sonnx.terms.term import Sort, Term, make
from sonnx.terms.walking import parts

# The factors of indices in a sum, by their names.
Factors = Mapping[str, int]
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Coordinate:
    """A sum of indices, counted from its least value on: its factors, and how many values it has.

    Where the sum is divided, its quotient and its remainder are asked for alone: the table then has an axis
    for each of these, and the first value of the coordinate lies at `begin` once they are one axis again.
    """

    factors: Factors
    size: int
    divisor: int = 1
    begin: int = 0

    @property
    def quotients(self) -> int:
        """How many quotients there are."""
        return -(-(self.begin + self.size) // self.divisor)


@dataclass(frozen=True)
class Table:
    """A term as a function of coordinates instead of indices; their order is that of the table's axes."""

    term: Term
    axes: Mapping[str, Coordinate]

    @cached_property
    def made(self) -> Made:
        """What is to be evaluated; `held` makes the table of it."""
        sizes = {}
        for name, axis in self.axes.items():
            sizes[name] = axis.quotients
            if axis.divisor > 1:
                sizes[_remainder(name)] = axis.divisor
        return Made(tuple(sizes.values()), tuple(map(index, sizes)), self.term)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the table."""
        return tuple(axis.size for axis in self.axes.values())

    def held(self, evaluated: Array) -> Array:
        """The table, with quotients and remainders as one axis."""
        axes = self.axes.values()
        whole = evaluated.reshape([axis.quotients * axis.divisor for axis in axes])
        return _cut(whole, [slice(axis.begin, axis.begin + axis.size) for axis in axes])

    @property
    def indices(self) -> set[str]:
        """The indices that it hangs on."""
        return {name for axis in self.axes.values() for name in axis.factors}

    def counts(self, name: str) -> bool:
        """Whether a coordinate is that index alone."""
        return any(axis.factors == {name: 1} and axis.divisor == 1 for axis in self.axes.values())

    def in_order(self, names: Sequence[str]) -> "Table":
        """The same table with its coordinates in the order of the last of their indices."""
        places = {name: place for place, name in enumerate(names)}
        order = sorted(self.axes, key=lambda u: max(places[name] for name in self.axes[u].factors))
        return Table(self.term, {u: self.axes[u] for u in order})

    def view(self, table: Array, sizes: Sizes) -> Array:
        """The table's elements for all values of these indices, without a copy."""
        steps, none = self._steps, (0,) * table.ndim
        first = [-_least(axis.factors, sizes) for axis in self.axes.values()]
        strides = [sum(map(mul, steps.get(name, none), table.strides)) for name in sizes]
        return strided(table, first, tuple(sizes.values()), strides)

    @cached_property
    def _steps(self) -> Mapping[str, tuple[int, ...]]:
        """How far each index leads along the axes of the table."""
        axes = self.axes.values()
        return {name: tuple(axis.factors.get(name, 0) for axis in axes) for name in self.indices}


def table(term: Term, sizes: Sizes) -> Table | None:
    """The table that a term without a fold reads, for indices below these sizes, none of which is 0.

    None where an index counts in two coordinates: not all of their values occur together then, and a
    definition answers for those alone that do.
    """
    roots = {
        argument
        for each in parts(term)
        if each.sort is not Sort.INDEX
        for argument in each.arguments
        if argument.sort is Sort.INDEX
    }
    axes: dict[str, Coordinate] = {}
    made = {each: _over_coordinates(each, sizes, axes) for each in parts(term) if each in roots}
    counted = [name for axis in axes.values() for name in axis.factors]
    if len(set(counted)) < len(counted):
        return None
    return Table(_replaced(term, made), axes)


def _cut(array: Array, slices: Sequence[slice]) -> Array:
    # Without the dots, an array of no axes would become its element.
    place: tuple[Any, ...] = (*slices, ...)
    return np.asarray(array[place])


def _least(factors: Factors, sizes: Sizes) -> int:
    """The least value of a sum of indices."""
    return sum([factor * (sizes[name] - 1) for name, factor in factors.items() if factor < 0])


def _remainder(name: str) -> str:
    return f"{name}_rest"


def _over_coordinates(term: Term, sizes: Sizes, axes: dict[str, Coordinate]) -> Term:
    """An index over coordinates, which are numbered as they are met."""
    form, divisor = affine(term), 1
    if term.word in ("floor", "remainder"):
        form, divisor = affine(term.arguments[0]), term.arguments[1].data
    size = 0 if form is None else _values(form.factors, sizes)
    # Of a large divisor most remainders do not occur: the table would be larger than what is read of it.
    if form is None or 1 < size < divisor:
        arguments = tuple(_over_coordinates(each, sizes, axes) for each in term.arguments)
        return make(term.word, arguments, term.data, Sort.INDEX)
    # The form where the coordinate is 0: so many quotients lie before it, and so much over.
    quotient, rest = divmod(form.constant + _least(form.factors, sizes), divisor)
    if size == 1:
        return index_of(rest if term.word == "remainder" else quotient)
    wanted = Coordinate(form.factors, size, divisor, rest)
    name = next((name for name, axis in axes.items() if axis == wanted), f"u{len(axes)}")
    axes[name] = wanted
    return index(_remainder(name)) if term.word == "remainder" else index(name) + quotient


def _values(factors: Factors, sizes: Sizes) -> int:
    """How many values a sum of indices has, those between included."""
    return 1 + sum(abs(factor) * (sizes[name] - 1) for name, factor in factors.items())


def _replaced(term: Term, indices: Mapping[Term, Term]) -> Term:
    made: dict[Term, Term] = {}
    for each in parts(term):
        if each.sort is Sort.INDEX:
            made[each] = indices.get(each, each)
        else:
            arguments = tuple(made[argument] for argument in each.arguments)
            made[each] = make(each.word, arguments, each.data, each.sort) if arguments else each
    return made[term]


def names_in(term: Term) -> set[str]:
    """The indices that a term asks for, those of its own folds left out."""
    own = {name for each in parts(term) if each.word == "fold" for name in each.data[2]}
    return {each.data for each in parts(term) if each.word == "index"} - own
