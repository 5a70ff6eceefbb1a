"""Moves as boxes: parts of a result in which each element is read at an affine function of its index.

Conditions on indices cut the axes of a result; inside a box each condition is decided once.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

from sonnx.terms.tensors import Given, Made
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import parts

# From where to where each index goes, by its name; the end is not reached.
Ranges = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Affine:
    """constant + Σ factor · index, by the names of indices; no factor is 0."""

    constant: int
    factors: Mapping[str, int]

    def at(self, indices: Mapping[str, int]) -> int:
        """The value at known indices."""
        return self.constant + sum(factor * indices[name] for name, factor in self.factors.items())


def affine(term: Term) -> Affine | None:
    """An index as an affine function of others; None where it is none."""
    if term.word == "whole":
        return Affine(term.data, {})
    if term.word == "index":
        return Affine(0, {term.data: 1})
    first, second = (affine(argument) for argument in term.arguments)
    if first is None or second is None:
        return None
    if term.word in ("add", "subtract"):
        return _sum(first, second, 1 if term.word == "add" else -1)
    if term.word == "multiply" and not (first.factors and second.factors):
        factor, other = (first, second) if not first.factors else (second, first)
        return _sum(Affine(0, {}), other, factor.constant)
    return None


def _sum(first: Affine, second: Affine, factor: int) -> Affine:
    """first + factor · second."""
    factors = dict(first.factors)
    for name, each in second.factors.items():
        factors[name] = factors.get(name, 0) + factor * each
    kept = {name: each for name, each in factors.items() if each}
    return Affine(first.constant + factor * second.constant, kept)


@dataclass(frozen=True)
class Read:
    """Where the elements of a box come from: an operand at affine indices, one for each of its axes.

    `flat` says that there is one index alone, a place in C order.
    """

    operand: str
    indices: tuple[Affine, ...]
    flat: bool

    def first(self, box: "Box") -> tuple[int, ...]:
        """The indices at which the first element of a box is read."""
        start = dict(zip(box.names, box.begin, strict=True))
        return tuple(each.at(start) for each in self.indices)

    def along(self, strides: Sequence[int], box: "Box") -> tuple[int, ...]:
        """How far the next element lies along each axis of a box, where the operand has these strides."""
        pairs = list(zip(self.indices, strides, strict=True))
        return tuple(sum(each.factors.get(name, 0) * stride for each, stride in pairs) for name in box.names)

    def extremes(self, box: "Box") -> Iterator[tuple[int, int]]:
        """The least and the largest index that a box reads at, for each of the operand's axes."""
        last = {name: size - 1 for name, size in zip(box.names, box.sizes, strict=True)}
        for first, each in zip(self.first(box), self.indices, strict=True):
            reach = [factor * last[name] for name, factor in each.factors.items()]
            yield first + sum(min(step, 0) for step in reach), first + sum(max(step, 0) for step in reach)


@dataclass(frozen=True)
class Box:
    """Part of a result: the names of its indices, where they begin, how many there are, what stands there.

    `source` is a literal, or what is read.
    """

    names: tuple[str, ...]
    begin: tuple[int, ...]
    sizes: tuple[int, ...]
    source: Read | Term


def boxes(made: Made) -> tuple[Box, ...] | None:
    """The boxes of a result in C order; None where it is more than a move, or no affine one.

    A result without elements has no boxes.
    """
    if 0 in made.shape:
        return ()
    names = tuple(index.data for index in made.indices)
    cuts = _cuts(made, names)
    if cuts is None:
        return None
    found: list[Box] = []
    for ranges, source in _sources(
        made.term, dict(zip(names, ((0, size) for size in made.shape), strict=True))
    ):
        if source is None:
            return None
        pieces = (_between(places, *ends) for places, ends in zip(cuts, ranges.values(), strict=True))
        for piece in product(*(pairwise(places) for places in pieces)):
            begin = tuple(first for first, _ in piece)
            found.append(Box(names, begin, tuple(last - first for first, last in piece), source))
    return tuple(sorted(found, key=lambda box: box.begin))


def _between(places: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Those of sorted places that lie from the first to the last, which are among them."""
    return places[bisect_left(places, first) : bisect_left(places, last) + 1]


def _cuts(made: Made, names: Sequence[str]) -> list[list[int]] | None:
    """Where conditions on indices may change, axis by axis, the ends included."""
    cuts = [{0, size} for size in made.shape]
    for term in parts(made.term):
        if _compares_indices(term):
            difference = _difference(term)
            if (
                difference is None
                or len(difference.factors) > 1
                or not difference.factors.keys() <= set(names)
            ):
                return None  # a comparison of two indices, or of one that a fold counts
            for name, factor in difference.factors.items():
                axis = names.index(name)
                places = _places(term.word, factor, -difference.constant)
                cuts[axis] |= {place for place in places if 0 < place < made.shape[axis]}
    return [sorted(places) for places in cuts]


def _compares_indices(term: Term) -> bool:
    return term.word in ("less", "less_equal", "equal") and term.arguments[0].sort is Sort.INDEX


def _difference(term: Term) -> Affine | None:
    first, second = (affine(argument) for argument in term.arguments)
    return None if first is None or second is None else _sum(first, second, -1)


def _places(word: str, factor: int, limit: int) -> Iterator[int]:
    """The first indices from which on factor · index compares otherwise with a limit."""
    down, up = limit // factor, -(-limit // factor)
    if word == "equal":
        yield from (down, down + 1)
    elif word == "less":
        yield up if factor > 0 else down + 1
    else:
        yield down + 1 if factor > 0 else up


def _sources(term: Term, ranges: Ranges) -> Iterator[tuple[Ranges, Read | Term | None]]:
    """Ranges of indices that share what stands there; None where that is no move.

    Ranges are halved where a condition changes inside, so a condition of a long chain is asked of few.
    """
    left = [(term, ranges)]
    while left:
        term, ranges = left.pop()
        if term.word == "stated":
            left.append((term.arguments[0], ranges))
        elif term.word != "select":
            yield ranges, _source(term)
        else:
            condition, *branches = term.arguments
            cut = next(_inside(condition, ranges), None)
            decided = (
                None if cut else _decided(condition, {name: first for name, (first, _) in ranges.items()})
            )
            if cut:
                name, place = cut
                first, last = ranges[name]
                left += [(term, {**ranges, name: ends}) for ends in ((first, place), (place, last))]
            elif decided is None:
                yield ranges, None
            else:
                left.append((branches[0 if decided else 1], ranges))


def _inside(condition: Term, ranges: Ranges) -> Iterator[tuple[str, int]]:
    """Names of indices, and where a condition may change within their ranges."""
    for term in parts(condition):
        difference = _difference(term) if _compares_indices(term) else None
        if difference is not None:
            for name, factor in difference.factors.items():
                first, last = ranges[name]
                places = _places(term.word, factor, -difference.constant)
                yield from ((name, place) for place in places if first < place < last)


def _source(term: Term) -> Read | Term | None:
    """What a term without choices reads, or the literal that it is; None where it is no move."""
    if term.word in ("literal", "lowest"):
        return term
    if term.word not in ("read", "read_flat"):
        return None
    indices = tuple(each for argument in term.arguments if (each := affine(argument)) is not None)
    if len(indices) < len(term.arguments):
        return None
    return Read(term.data, indices, term.word == "read_flat")


def _decided(condition: Term, start: Mapping[str, int]) -> bool | None:
    """Whether a condition on indices holds; None where it asks for elements."""
    if condition.word in ("both", "either", "opposite"):
        held = [_decided(argument, start) for argument in condition.arguments]
        if None in held:
            return None
        return (
            all(held)
            if condition.word == "both"
            else any(held)
            if condition.word == "either"
            else not held[0]
        )
    difference = _difference(condition) if _compares_indices(condition) else None
    if difference is None:
        return None
    value = difference.at(start)
    return (
        value < 0
        if condition.word == "less"
        else value <= 0
        if condition.word == "less_equal"
        else value == 0
    )


def element_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """How many elements further an index leads in C order, axis by axis."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def read_strides(read: Read, operands: Mapping[str, Given]) -> tuple[int, ...]:
    """The strides of an operand in elements, for `Read.along`."""
    return (1,) if read.flat else element_strides(operands[read.operand].shape)
