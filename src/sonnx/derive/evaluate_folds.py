"""Folds evaluated: sums of products by blocks of the outputs, every other fold by one loop over its indices.

A sum of products has the steps s + a·b, where neither factor hangs on s. Both factors become tables (a padded
read becomes a padded copy, made once) and views into them; the axes of the result are then those that the one
factor knows, those that the other knows, and those that both know, which is what convolutions and products of
matrices have in common.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np

from sonnx.derive.coordinates import Sizes, Table, names_in, table
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.products import NARROW, wide_sum_of_products
from sonnx.numeric.windows import Windows
from sonnx.terms.tensors import Made, index
from sonnx.terms.term import Term
from sonnx.terms.walking import parts


class Evaluation(Protocol):
    """What evaluates terms that are no folds: element types, and what indices stand for just now."""

    kind: DType
    accumulate: str
    indices: Mapping[str, Array]
    asked: Array | None

    @property
    def sums(self) -> DType:
        """The type in which sums are made."""

    def over(self, made: Made, dtype: DType) -> Array:
        """All elements of a result that is made of the operands, in a type."""

    def within(self, indices: Mapping[str, Array], carried: Mapping[str, Array]) -> Callable[[Term], Array]:
        """The same evaluation in a step of a fold: some more indices, and what it carries."""


def fold(term: Term, evaluation: Evaluation) -> Array:
    """The values of a fold, in the type in which it sums, at all indices of the result that it hangs on."""
    sizes = {name: line.size for name, line in evaluation.indices.items() if line.ndim}
    # Of what nobody asks for nothing may be read, so no table is made of it.
    if evaluation.asked is None and len(sizes) == len(evaluation.indices):
        summed = sum_of_products(term, sizes, evaluation.kind)
        if summed is not None:
            return _multiplied(summed, sizes, evaluation)
    return _looped(term, evaluation)


def _looped(term: Term, evaluation: Evaluation) -> Array:
    """One step at a time, for all elements of the result at once."""
    (counts, running, names), (start, step) = term.data, term.arguments
    value = evaluation.within({}, {})(start)
    for at in np.ndindex(*counts):
        here = {name: np.asarray(place) for name, place in zip(names, at, strict=True)}
        value = evaluation.within(here, {running: value})(step)
    return value


@dataclass(frozen=True)
class Sum:
    """A sum of products: the factor whose windows move along positions, the weights, and where it starts.

    All axes of the result are in exactly one of `batch` (one at most), `groups`, `channels`, `positions` and
    `repeated`, along which nothing changes.
    """

    windows: Table
    weights: Table
    start: Made
    counts: Sizes
    batch: tuple[str, ...]
    groups: tuple[str, ...]
    channels: tuple[str, ...]
    positions: tuple[str, ...]
    repeated: tuple[str, ...]


def sum_of_products(term: Term, sizes: Sizes, dtype: DType) -> Sum | None:
    """A fold as a sum of products; None where it is none, or has no elements."""
    return _sum_of_products(term, tuple(sizes.items()), dtype)


@lru_cache(maxsize=256)
def _sum_of_products(term: Term, items: tuple[tuple[str, int], ...], dtype: DType) -> Sum | None:
    sizes = dict(items)
    (numbers, running, names), (start, step) = term.data, term.arguments
    counts = dict(zip(names, numbers, strict=True))
    factors = _factors(step, running, dtype)
    every = {**sizes, **counts}
    if factors is None or not all(every.values()):
        return None
    first, second = (table(factor, every) for factor in factors)
    if first is None or second is None:
        return None
    last = next((name for name in reversed(sizes) if name in first.indices ^ second.indices), "")
    # The last axis lies closest in memory: the factor that knows it gives the windows, if the start does not.
    pairs = ((first, second), (second, first))
    for x, w in pairs if last in first.indices else reversed(pairs):
        groups, channels, alone, repeated = (
            tuple(name for name in sizes if (name in x.indices, name in w.indices) == known)
            for known in ((True, True), (False, True), (True, False), (False, False))
        )
        if names_in(start) <= {*groups, *channels}:
            break
    else:
        return None
    known = (*groups, *channels)
    begin = Made(tuple(sizes[name] for name in known), tuple(map(index, known)), start)
    # Items may be cut along an axis that the table has as it is; the last axis stays one of positions. One
    # that lies within channels is a position too: all positions of a channel are one line then.
    outermost = next(iter(sizes), "") in alone
    cut = 1 if outermost and len(alone) > 1 and x.counts(alone[0]) else 0
    batch, positions = alone[:cut], alone[cut:]
    # Windows are read best where the last axis of the result is the last one of the table.
    x = x.in_order((*batch, *counts, *groups, *positions))
    return Sum(x, w, begin, counts, batch, groups, channels, positions, repeated)


def _factors(step: Term, running: str, dtype: DType) -> tuple[Term, Term] | None:
    """The factors of s + a·b, in the type in which they are read."""
    if step.word != "plus_product" or step.arguments[0].word != "carried":
        return None
    factors = step.arguments[1:]
    inside = [each for factor in factors for each in parts(factor)]
    if step.arguments[0].data != running or any(each.word in ("carried", "fold") for each in inside):
        return None
    are_read = all(factor.word == "wide" for factor in factors)
    if dtype in NARROW and not are_read:
        return None  # a product of wide numbers is not exact: the modes differ, element by element
    a, b = (factor.arguments[0] if factor.word == "wide" else factor for factor in factors)
    return a, b


def _multiplied(summed: Sum, sizes: Sizes, evaluation: Evaluation) -> Array:
    batch, groups, channels, positions = (
        {name: sizes[name] for name in names}
        for names in (summed.batch, summed.groups, summed.channels, summed.positions)
    )
    x, w = (
        each.held(evaluation.over(each.made, evaluation.kind)) for each in (summed.windows, summed.weights)
    )
    weights = summed.weights.view(w, {**groups, **channels, **summed.counts})
    outer = prod(groups.values()), prod(channels.values())
    total = wide_sum_of_products(
        x if batch else x[None],
        Windows(_windows(summed, groups, positions), tuple(positions.values())),
        weights.reshape(*outer, prod(summed.counts.values())),
        evaluation.over(summed.start, evaluation.sums).reshape(outer),
        evaluation.kind,
        evaluation.accumulate,
    )
    made = {**batch, **groups, **channels, **positions, **dict.fromkeys(summed.repeated, 1)}
    order = [list(made).index(name) for name in sizes]
    return total.reshape(tuple(made.values())).transpose(order)


def _windows(summed: Sum, groups: Sizes, positions: Sizes) -> Callable[[Array], Iterator[Array]]:
    """One window a term, in the order of the fold."""
    counts = summed.counts

    def cut(items: Array) -> Iterator[Array]:
        batch = {name: len(items) for name in summed.batch}
        every = {**counts, **batch, **groups, **positions}
        # Without the dots, arrays of no axes would become their elements.
        found = summed.windows.view(items if batch else items[0, ...], every)
        shape = (len(items), prod(groups.values()), *positions.values())
        places: Iterator[tuple[Any, ...]] = product(*map(range, counts.values()))
        return (found[(*at, ...)].reshape(shape) for at in places)

    return cut
