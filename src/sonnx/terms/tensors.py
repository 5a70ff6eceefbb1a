"""Tensors in definitions: operands read at indices, results given at every index, and folds."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from sonnx.terms.term import DefinitionError, Operand, Sort, Term, Truth, lift, make, number


@dataclass(frozen=True)
class Given:
    """An operand of known shape: `X[i, j]` reads an element, `X.flat(n)` the one at a place in C order."""

    name: str
    shape: tuple[int, ...]
    # Elements of a bool operand that nothing but conditions ask for are truths; all others are numbers.
    sort: Sort = Sort.NUMBER

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __getitem__(self, at: Operand | tuple[Operand, ...]) -> Term:
        """The element at one index for each axis; `X[()]` is that of a scalar."""
        indices = at if isinstance(at, tuple) else (at,)
        if len(indices) != self.rank:
            raise DefinitionError(f"{self.name} has {self.rank} axes and is read with {len(indices)} indices")
        return make("read", tuple(map(index_of, indices)), self.name, self.sort)

    def flat(self, place: Operand) -> Term:
        """The element at a place in C order, counted from 0."""
        return make("read_flat", (index_of(place),), self.name, self.sort)


def index_of(value: Operand) -> Term:
    """A term of the sort index; anything else is refused."""
    term = lift(value, Sort.INDEX)
    if term.sort is not Sort.INDEX:
        raise DefinitionError(f"an index is needed here, and this is of the sort {term.sort}: {term!r}")
    return term


def index(name: str) -> Term:
    """An index by its name."""
    return make("index", data=name, sort=Sort.INDEX)


@dataclass(frozen=True, eq=False)
class Made:
    """A result: its shape, its indices, and its element at these."""

    shape: tuple[int, ...]
    indices: tuple[Term, ...]
    term: Term


def tensor(shape: Sequence[int], at: Callable[..., Operand]) -> Made:
    """A result of a shape, by the function that gives its element at every index.

    Indices are called as the function calls them; those of a `*i` are i0, i1 and so on. On an axis of size 1
    the function gets the one index that there is.
    """
    sizes = tuple(shape)
    indices = tuple(map(index, _parameters(at, len(sizes))))
    term = at(*map(_known, indices, sizes))
    return Made(sizes, indices, term if isinstance(term, Term) and term.sort is Sort.TRUTH else number(term))


def fold(sizes: Sequence[int], start: Operand, step: Callable[..., Operand]) -> Term:
    """s = start, then s = step(s, *k) for every index k below `sizes`, in lexicographic order.

    The running value and the indices are called as the function calls them.
    """
    counts = tuple(sizes)
    running, *names = _parameters(step, 1 + len(counts))
    carried = make("carried", data=running)
    body = number(step(carried, *map(_known, map(index, names), counts)))
    return make("fold", (number(start), body), (counts, running, tuple(names)))


def _known(each: Term, size: int) -> Term:
    """An index that can only be 0 is 0: what it is multiplied with does not matter, however large."""
    return lift(0, Sort.INDEX) if size == 1 else each


def _parameters(function: Callable[..., Operand], count: int) -> list[str]:
    names: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}{m}" for m in range(count - len(names))]
        elif parameter.default is parameter.empty:  # a default binds a name of a loop, as in `axis=axis`
            names.append(parameter.name)
    if len(names) != count:
        raise DefinitionError(
            f"a function of {count} indices is needed; this one takes {', '.join(names) or 'none'}"
        )
    return names


def flat_place(indices: Sequence[Term], shape: Sequence[int]) -> Term:
    """Where the element at these indices lies in C order."""
    place = lift(0, Sort.INDEX)
    for axis, each in enumerate(indices):
        place = place + each * prod(shape[axis + 1 :])
    return place


def inside(indices: Sequence[Term], shape: Sequence[int]) -> Truth:
    """Whether every index lies on its axis."""
    held: Truth = True
    for each, size in zip(indices, shape, strict=True):
        held = held & (each >= 0) & (each < size)
    return held
