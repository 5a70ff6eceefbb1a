"""A definition of tensors for any sizes: traced for one call with sizes that write down what becomes of them.

A definition may ask a size for its value, or lose what it is called. Therefore it is traced for two
examples of the same sizes, and only where both give one tree is that tree said to hold for any.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sonnx.derive.tracing import traced_anew
from sonnx.terms.tensors import Made
from sonnx.terms.term import INDEX_WORDS, Sort, Term, any_size, lift, make
from sonnx.terms.walking import parts
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.integers import Parts, Sizes
from sonnx.vocabulary.operator import Operator

# The other example: every size so many times, so that sums and orders of sizes stay what they are.
_TIMES = 7
# Where a number of a call stands: what has it, "" for shapes, and its place there.
Place = tuple[str, str]


@dataclass(frozen=True, eq=False)
class General:
    """A call, its results, and the sizes in all that may be any: by name, where they stand first."""

    call: Call
    made: tuple[Made, ...]
    shapes: Mapping[str, tuple[int, ...]]
    # The attributes that the definition asks for.
    taken: frozenset[str]
    places: Mapping[str, Place]


def known(operator: Operator, shown: Call) -> General:
    """The definition for one call, its sizes and all."""
    return _found(operator, shown, {}, {}, 1)


def general(operator: Operator, shown: Call) -> General | None:
    """The definition for all calls in which equal numbers of this one are equal; None where it is not seen.

    0 and 1 stay what they are, and so do axes.
    """
    places: dict[str, Place] = {}
    names: dict[int, str] = {}
    of_shapes = count()
    for (owner, place), number in _numbers(operator, shown):
        if number > 1 and number not in names:
            here = (owner, place if owner else str(next(of_shapes)))
            names[number] = " ".join(here)
            places[names[number]] = here
    first, second = (_found(operator, shown, names, places, times) for times in (1, _TIMES))
    pairs = zip(first.made, second.made, strict=True)
    return first if all(one.term is other.term for one, other in pairs) else None


def _found(
    operator: Operator, shown: Call, names: Mapping[int, str], places: Mapping[str, Place], times: int
) -> General:
    """The definition for a call whose named numbers may be any, so many times as large for example."""

    def other(held: Any) -> Any:
        if isinstance(held, tuple):
            return tuple(map(other, held))
        return any_size(names[held], held * times) if isinstance(held, int) and held in names else held

    assert operator.definition is not None  # its contract shows a call of it
    changed = {name: other(held) for name, held in _open(operator, shown).items()}
    attributes, constants = (
        {name: changed.get(name, held) for name, held in given.items()}
        for given in (shown.attributes, shown.constants)
    )
    call = replace(shown, attributes=attributes, constants=constants)
    shapes = {name: other(kind.sizes or ()) for name, kind in shown.inputs.items() if name not in constants}
    made = traced_anew(operator, call, shapes).made
    taken = frozenset(inspect.signature(operator.definition.function).parameters)
    return General(call, made, shapes, taken, places)


def _numbers(operator: Operator, call: Call) -> Iterator[tuple[Place, int]]:
    """Every number that may be another, first those of shapes."""
    for name, kind in call.inputs.items():
        if name not in call.constants:
            yield from ((("", ""), size) for size in kind.sizes or ())
    for name, held in _open(operator, call).items():
        yield from (((name, place), number) for place, number in _inside(held))


def _open(operator: Operator, call: Call) -> Mapping[str, Any]:
    """What holds numbers that stand for sizes, or for nothing known."""
    others = {
        each.name for each in operator.contract.holders if not isinstance(each.holds, Sizes | Parts | None)
    }
    return {name: held for name, held in {**call.constants, **call.attributes}.items() if name not in others}


def _inside(held: Any, place: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(held, tuple):
        for number, each in enumerate(held):
            yield from _inside(each, f"{place},{number}" if place else str(number))
    elif isinstance(held, int):
        yield place, held


def put_back(term: Term, sizes: Mapping[str, int]) -> Term:
    """The tree with numbers in the places of its sizes, as it is traced for these where none of them is 1."""
    made: dict[Term, Term] = {}
    for each in parts(term):
        arguments = tuple(made[argument] for argument in each.arguments)
        if each.word == "size":
            made[each] = lift(sizes[each.data], Sort.INDEX)
        elif each.word == "counted":
            made[each] = lift(arguments[0].data)
        elif each.word in INDEX_WORDS and each.sort is Sort.INDEX:
            made[each] = INDEX_WORDS[each.word](*arguments)
        else:
            data = each.data
            if each.word == "fold":
                counts, *names = data
                data = (tuple(_number(count, sizes) for count in counts), *names)
            made[each] = make(each.word, arguments, data, each.sort)
    return made[term]


def _number(size: int, sizes: Mapping[str, int]) -> int:
    found: int = put_back(lift(size, Sort.INDEX), sizes).data
    return found
