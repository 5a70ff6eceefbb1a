"""Calls on which runtimes are tried, of an operator that only moves elements: read off its contract.

Shapes, and what integers of attributes and constants stand for, are varied around the call that conforms;
what breaks a rule is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, permutations, product
from math import prod
from typing import Any

from sonnx.vocabulary.call import Call
from sonnx.vocabulary.draws import Draw, choice, drawn_shape
from sonnx.vocabulary.integers import Axes, Divisor, Integers, OneOf, Parts, Sizes
from sonnx.vocabulary.moves import Asked
from sonnx.vocabulary.operator import Contract, Operand, Operator
from sonnx.vocabulary.special_values import Shape

# No axis, one, several, sizes 0 and 1 among them, many axes, as many as there may be; and so often elements
# are there again: few times, as often as vectors are long, and more often.
_SHAPES: Mapping[Shape, int] = {
    **{(): 2, (1,): 8, (5,): 3, (3, 4): 2, (1, 9): 17, (6, 1): 8, (3, 1): 66, (4, 2, 3): 2, (1, 1, 1): 3},
    **{(2, 1, 3, 1): 8, (2, 1, 3, 2, 1, 2): 2, (2, 1, 2, 1, 1, 3, 1): 2, (1, 2, 1, 1, 3, 1, 1, 2): 2},
    **{(1, 2, 1, 1, 2, 1, 3, 1, 1): 2, (0,): 2, (1, 0): 3, (2, 0, 3): 2},
    **{(2, *[1] * axes, 3): 1 for axes in (61, 62)},
}
# Numbers of tensors that are held in a list of some fixed length, or are not.
_NUMBERS = (5, 8, 12, 16, 17, 33, 130)
# So many calls of one shape at most, and elements of a small result.
_MOST_WAYS, _MOST_ELEMENTS = 4, 1200
# Of so many axes every order is tried, and every axis.
_FEW_AXES, _MANY_AXES = 3, 10
# Axes that are added, at most.
_FEW_ADDED = 2
# Divisors that are tried, as far as they divide.
_DIVISORS = (1, 2, 3, 4)
# A size that no other number is equal to, so that any other can be put in its place.
_SOME = 11
_SIZED: tuple[Shape, ...] = ((_SOME,), (), (1, _SOME), (_SOME, 1), (_SOME, 3), (3, _SOME))


@lru_cache
def calls(operator: Operator) -> Mapping[str, Asked]:
    """Calls by name: of every kind of shape, and of many tensors where any number may stand."""
    contract = operator.contract
    # The smallest come first: whoever stops at the tenth crash has seen them.
    shapes = {**_SHAPES, **{shape: 2 for shape in _shapes(contract) if shape not in _SHAPES}}
    found = [asked for shape, times in shapes.items() for asked in _spread(_ways(contract, shape, (times,)))]
    (moved, *_) = contract.inputs
    for number in _NUMBERS if moved.variadic else ():
        tensors = {f"{moved.name}{m}": (m % 3, 2) for m in range(number)}
        found += list(_valued(contract, tensors, (2, 2), ()))[:1]
    return {_name(asked): asked for asked in found}


@lru_cache
def lines(operator: Operator) -> Sequence[Asked]:
    """Calls whose results have as many elements as one size says; `sized` gives it."""
    contract = operator.contract
    return _grown(contract, lambda asked: _elements(contract, asked) == _SOME)


@lru_cache
def grown(operator: Operator) -> Sequence[Asked]:
    """Calls whose operands have as many elements as one size says, or a multiple; `sized` gives it."""
    return _grown(operator.contract, lambda asked: all(_SOME in shape for shape in asked.shapes.values()))


def sized(asked: Asked, size: int) -> Asked:
    """The same call with another size in the place of the one that may be any."""

    def other(value: Any) -> Any:
        return tuple(map(other, value)) if isinstance(value, tuple) else size if value == _SOME else value

    shapes, attributes, decided = (
        {name: other(value) for name, value in given.items()}
        for given in (asked.shapes, asked.attributes, asked.decided)
    )
    return Asked(shapes, attributes, decided)


def drawn(operator: Operator, draw: Draw) -> Asked:
    """A small call; where none of the drawn shape conforms, one of a single element.

    Where axes are told by their places, the shape is drawn around that of the example.
    """
    contract = operator.contract
    first = contract.inputs[0]
    shape = _drawn_around(draw, _example_shape(contract, first)) if first.axes else drawn_shape(draw)
    tensors = choice(draw, list(_tensors(contract, shape)))
    found = _spread(_valued(contract, tensors, shape, (2, 3)))
    return choice(draw, found or [asked for asked in calls(operator).values() if _is_one_element(asked)])


def _drawn_around(draw: Draw, shape: Shape) -> Shape:
    """As many axes as some shape has, each as large, or of another size."""
    return tuple(choice(draw, (1, size, 2 * size, 3, 0)) for size in shape)


def shown(operator: Operator) -> list[Asked]:
    """The call of the contract, then others with operands of that shape: such as change something.

    Of several results those without elements show little: calls that have such come last.
    """
    contract, good = operator.contract, _good(operator.contract)
    settled = set(good.constants)
    shapes = {name: kind.sizes or () for name, kind in good.inputs.items() if name not in settled}
    first = Asked(shapes, good.attributes, good.constants)
    found = {_written(first): first}
    for asked in _ways(contract, next(iter(shapes.values())), ()):
        is_new = any(made not in asked.shapes.values() for made in _made(contract, call_of(contract, asked)))
        if is_new and len(asked.shapes) == len(shapes) and _elements(contract, asked):
            found.setdefault(_written(asked), asked)
    (_, *others) = found.values()
    others.sort(key=lambda asked: not all(map(prod, _made(contract, call_of(contract, asked)))))
    return [first, *others]


def obeys(contract: Contract, asked: Asked) -> bool:
    """Tell whether a call breaks no rule."""
    return _keeps_rules(contract, call_of(contract, asked))


def _keeps_rules(contract: Contract, call: Call) -> bool:
    return all(rule.broken(call) is None for rule in contract.rules)


def call_of(contract: Contract, asked: Asked) -> Call:
    """The call, with operands of the types in the example."""
    good = _good(contract)
    kind = next(iter(good.inputs.values()))
    types = {name: replace(kind, shape=shape) for name, shape in asked.shapes.items()}
    types |= {name: replace(good.inputs[name], shape=(len(held),)) for name, held in asked.decided.items()}
    return Call(good.operator, types, asked.attributes, constants=asked.decided)


def _is_one_element(asked: Asked) -> bool:
    """Tell whether each operand has one element."""
    return all(prod(shape) == 1 for shape in asked.shapes.values())


def _good(contract: Contract) -> Call:
    assert contract.good is not None  # the contract is that of a move
    return contract.good


def _elements(contract: Contract, asked: Asked) -> int:
    """How many elements the results have."""
    return _results(contract, call_of(contract, asked))


def _results(contract: Contract, call: Call) -> int:
    return sum(map(prod, _made(contract, call)))


def _made(contract: Contract, call: Call) -> list[Shape]:
    """The shapes of the results."""
    return [result.sizes or () for result in contract.output_types(call).values()]


def _shapes(contract: Contract) -> Iterator[Shape]:
    """Of fixed axes sizes 1 and 0; the shape of the example, and those with an axis two times as large."""
    (first, *_), shape = contract.inputs, next(iter(_good(contract).inputs.values())).sizes or ()
    if first.axes:
        yield (1,) * len(shape)
        yield from _with(shape, lambda _: 0)
        yield from _with(shape, lambda _: 1)
    yield shape
    yield from _with(shape, lambda size: 2 * size)


def _with(shape: Shape, other: Callable[[int], int]) -> Iterator[Shape]:
    """Shapes with another size of one axis."""
    for axis, size in enumerate(shape):
        yield (*shape[:axis], other(size), *shape[axis + 1 :])


def _sized(contract: Contract) -> Iterator[Shape]:
    """Shapes with a size that may be any."""
    yield from _SIZED
    (first, *_) = contract.inputs
    for shape in ((1,) * len(first.axes), _example_shape(contract, first)) if first.axes else ():
        yield from _with(shape, lambda _: _SOME)


def _grown(contract: Contract, is_one: Callable[[Asked], bool]) -> list[Asked]:
    """Of some shapes the first and the last way that is one; another size obeys too, and counts as often."""
    found = []
    for shape in _sized(contract):
        here = []
        for asked in filter(is_one, _ways(contract, shape, (3, _SOME))):
            twice = sized(asked, 2 * _SOME)
            if obeys(contract, twice) and _elements(contract, twice) == 2 * _elements(contract, asked):
                here.append(asked)
        found += [*here[: len(here) > 1], *here[-1:]]
    return found


def _ways(contract: Contract, shape: Shape, again: Sequence[int]) -> Iterator[Asked]:
    """The ways to call with a first operand of this shape."""
    for tensors in _tensors(contract, shape):
        yield from _valued(contract, tensors, shape, again)


def _valued(
    contract: Contract, tensors: Mapping[str, Shape], shape: Shape, again: Sequence[int]
) -> Iterator[Asked]:
    """The ways to call with these operands that break no rule, the simplest first."""
    good = _good(contract)
    attributes = {
        each.name: _options(each.holds, shape, again) or (good.attributes[each.name],)
        for each in contract.attributes
        if not each.mode
    }
    decided = {each.name: _options(each.holds, shape, again) for each in contract.inputs if each.constant}
    for chosen in product(*attributes.values(), *decided.values()):
        asked = Asked(
            tensors,
            dict(zip(attributes, chosen, strict=False)),
            dict(zip(decided, chosen[len(attributes) :], strict=True)),
        )
        call = call_of(contract, asked)  # one for both: what rules find out about it serves its results
        if _keeps_rules(contract, call) and _results(contract, call) <= _MOST_ELEMENTS:
            yield asked


def _tensors(contract: Contract, shape: Shape) -> Iterator[Mapping[str, Shape]]:
    """The operands that have elements, by name; of any number of them one to four, unlike on one axis."""
    first, *others = (each for each in contract.inputs if not each.constant)
    if not first.variadic:
        yield {first.name: shape} | {each.name: _example_shape(contract, each) for each in others}
        return
    yield {f"{first.name}0": shape}
    unlike = [
        (*shape[:axis], size, *shape[axis + 1 :])
        for axis in _some_axes(len(shape))
        for size in (0, 1, shape[axis] + 1)
    ]
    for other in (shape, *unlike):
        for listed in ((shape, other), (other, shape, other), (shape, other, other, shape)):
            yield {f"{first.name}{m}": each for m, each in enumerate(listed)}


def _example_shape(contract: Contract, operand: Operand) -> Shape:
    return _good(contract).inputs[operand.name].sizes or ()


def _some_axes(rank: int) -> Sequence[int]:
    """All axes where there are few; else the first, one between and the last."""
    return range(rank) if rank <= _FEW_AXES else (0, rank // 2, rank - 1)


def _options(holds: Integers | None, shape: Shape, again: Sequence[int]) -> Sequence[Any]:
    """What integers may be for a shape, the simplest first; none where they stand for nothing known."""
    match holds:
        case Parts():
            return list(dict.fromkeys(part for size in shape for part in _parts(size)))
        case Sizes(of=of):
            return list(dict.fromkeys(_regrouped(shape) if of else _sizes(shape, again)))
        case Divisor():
            return _DIVISORS
        case OneOf(values=values):
            return values
        case Axes(order="one" | "between" as order, from_the_end=from_the_end):
            number = len(shape) + (order == "between")
            return [*_some_axes(number), *([-1] if from_the_end else [])]
        case Axes(order="neighbours"):
            rank = len(shape)
            places = range(rank + 1) if rank < _MANY_AXES else (0, 1, rank // 2, rank - 1, rank)
            return [tuple(range(*ends)) for ends in combinations(places, 2)]
        case Axes(order="every"):
            return _orders(len(shape))
        case Axes(added=True):
            return _added(len(shape))
        case Axes():
            axes = _some_axes(len(shape))
            return [each for count in range(len(axes) + 1) for each in combinations(axes, count)]
    return []


def _added(rank: int) -> list[Shape]:
    """Axes to be added to so many, none to a few."""
    found = list[Shape]()
    for count in range(_FEW_ADDED + 1):
        found += combinations(_some_axes(rank + count), count)
    return found


def _orders(rank: int) -> Sequence[Shape]:
    """Every order of few axes; of many axes some: turned on, from the last, the last two exchanged."""
    axes = tuple(range(rank))
    if rank <= _FEW_AXES:
        return list(permutations(axes))
    return [axes, (*axes[1:], 0), axes[::-1], (*axes[:-2], axes[-1], axes[-2])]


def _regrouped(shape: Shape) -> Iterator[Shape]:
    """Other sizes of as many elements: the same, one axis, others exchanged, made one, cut in two, added."""
    rank = len(shape)
    yield from (shape, (prod(shape),), shape[::-1], (), (1, *shape), (*shape, 1))
    yield tuple(size for size in shape if size != 1)
    for axis in _some_axes(rank):
        before, size, after = shape[:axis], shape[axis], shape[axis + 1 :]
        yield from ((*before, size * behind, *after[1:]) for behind in after[:1])
        yield from ((*before, size // part, part, *after) for part in (2, 3) if size % part == 0)
    if not prod(shape):
        yield from ((0,), (0, 3), (2, 0, 4))


def _sizes(shape: Shape, again: Sequence[int]) -> Iterator[Shape]:
    """Sizes beside those of a shape: the same, fewer, more, others in the place of 1, and in other axes."""
    yield from ((), shape, shape[1:], (1,) * len(shape), (prod(shape),), shape[::-1])
    yield from ((1, 3, *shape), (2, 3, 1, *shape), (2, 0, *shape), (0,), (3, 0, 2), (1, 2, 2, 1))
    for number in again:
        yield (number,)
        yield (number, *shape)
        yield tuple(number if size == 1 else 1 for size in shape)
        yield tuple(number if size == 1 else size for size in shape)


def _parts(size: int) -> Iterator[Shape]:
    """Parts of an axis: all of it, with nothing before or behind, one and the rest, halves, single places."""
    yield from ((size,), (0, size), (size, 0), (1, size - 1), (size - size // 2, size // 2))
    if 0 < size <= _MANY_AXES:
        yield (1,) * size


def _spread(found: Iterator[Asked]) -> list[Asked]:
    """Some of many, from the first to the last."""
    every = list(found)
    if len(every) <= _MOST_WAYS:
        return every
    return [every[place * (len(every) - 1) // (_MOST_WAYS - 1)] for place in range(_MOST_WAYS)]


def _name(asked: Asked) -> str:
    """Shapes and values: `3x4-dimensions-0-1`; of many operands their number."""
    shapes = [
        "x".join(map(str, shape)) if len(shape) < _MANY_AXES else f"{len(shape)}-axes"
        for shape in asked.shapes.values()
    ]
    several = (
        f"{len(shapes)}-operands-{shapes[0]}"
        if len(shapes) > _FEW_AXES
        else "-and-".join(each or "scalar" for each in shapes)
    )
    return several + _written(asked)


def _written(asked: Asked) -> str:
    values = {**asked.attributes, **asked.decided}.items()
    return "".join(f"-{name.replace('_', '-').lower()}-{_slug(value)}" for name, value in values)


def _slug(value: Any) -> str:
    listed = value if isinstance(value, tuple) else (value,)
    if len(listed) >= _MANY_AXES:
        return f"{_slug(listed[:1])}-and-{len(listed) - 1}-more"
    return "-".join(str(each).lower().replace("-", "minus-").replace(".", "-") for each in listed) or "none"
