"""Definitions for any sizes: with numbers put back they are the trees and values of calls."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import general as walk
from sonnx.derive.formula import formula
from sonnx.derive.general import General, general, known, put_back
from sonnx.derive.tracing import traced, traced_anew
from sonnx.operators import OPERATORS
from sonnx.terms.tensors import Given, Made, fold, tensor
from sonnx.terms.term import DefinitionError, Size, Sort, any_size, integer, lift, make
from sonnx.terms.tracing import Trace, tensorwise
from sonnx.terms.words import select
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

SHOWN = {
    operator.name: (operator, operator.contract.shown or operator.contract.good)
    for operator in OPERATORS
    if operator.contract.shown or operator.contract.good
}
N, M = any_size("N", 5), any_size("M", 3)


def of(name: str) -> tuple[Operator, Call, General]:
    operator, shown = SHOWN[name]
    assert shown is not None
    found = general(operator, shown)
    assert found is not None
    return operator, shown, found


def numbers(held: Any, sizes: Mapping[str, int]) -> Any:
    """A shape or an attribute with numbers in the places of sizes."""
    if isinstance(held, tuple):
        return tuple(numbers(each, sizes) for each in held)
    return put_back(held.term, sizes).data if isinstance(held, Size) else held


def at(operator: Operator, found: General, sizes: Mapping[str, int]) -> Trace:
    """The trace of the call with these numbers."""
    attributes, constants, shapes = (
        {name: numbers(held, sizes) for name, held in given.items()}
        for given in (found.call.attributes, found.call.constants, found.shapes)
    )
    return traced_anew(operator, replace(found.call, attributes=attributes, constants=constants), shapes)


@pytest.mark.parametrize("name", SHOWN)
def test_the_call_that_is_shown_obeys_every_rule(name: str) -> None:
    operator, shown = SHOWN[name]
    assert shown is not None
    assert [rule.identifier for rule in operator.contract.rules if rule.predicate(shown) is not None] == []


@pytest.mark.parametrize("name", SHOWN)
def test_with_numbers_put_back_it_is_the_tree_of_the_call(name: str) -> None:
    operator, shown, found = of(name)
    values = {key: int(value) for value, key in named(found).items()}
    meant = traced(operator, shown.inputs, shown.attributes, shown.constants).made[0]
    assert put_back(found.made[0].term, values) is meant.term
    # Other numbers, unlike and in the order of those, are as good.
    for times, more in ((2, 1), (3, 5), (11, 0)):
        others = {key: value * times + more for key, value in values.items()}
        assert put_back(found.made[0].term, others) is at(operator, found, others).made[0].term


def named(found: General) -> dict[Size, str]:
    """The sizes of a call, and what they are called."""

    def inside(held: Any) -> list[Size]:
        several = [size for each in held for size in inside(each)] if isinstance(held, tuple) else []
        return [held] if isinstance(held, Size) else several

    every = (*found.shapes.values(), *found.call.attributes.values(), *found.call.constants.values())
    return {size: size.term.data for held in every for size in inside(held)}


def element(term: Any, arrays: Mapping[str, Any], at: Mapping[str, int], s: Any = None) -> Any:
    """A term's value at known indices, by an evaluation of this test's own."""

    def of(each: Any) -> Any:
        return element(each, arrays, at, s)

    match term.word:
        case "whole" | "literal":
            return int(term.data)
        case "index":
            return at[term.data]
        case "carried":
            return s
        case "read":
            return int(arrays[term.data][tuple(map(of, term.arguments))])
        case "wide" | "narrow":
            return of(term.arguments[0])
        case "select":
            return of(term.arguments[1 if of(term.arguments[0]) else 2])
        case "both":
            return all(map(of, term.arguments))
        case "fold":
            counts, _, names = term.data
            total = of(term.arguments[0])
            for k in np.ndindex(*counts):
                total = element(term.arguments[1], arrays, {**at, **dict(zip(names, k, strict=True))}, total)
            return total
        case "plus_product":
            total, a, b = map(of, term.arguments)
            return total + a * b
    a, b = map(of, term.arguments)
    return {
        "add": lambda: a + b,
        "subtract": lambda: a - b,
        "multiply": lambda: a * b,
        "floor": lambda: a // b,
        "remainder": lambda: a % b,
        "less": lambda: a < b,
        "less_equal": lambda: a <= b,
        "equal": lambda: a == b,
    }[term.word]()


# Numbers at which a definition decides otherwise: sizes of 1, no padding, less than none, no distance.
EDGES: dict[str, list[dict[str, Any]]] = {
    "Conv": [
        {"N": (2, 1, 4, 3, 2, 2, 1), "strides": (1, 2), "pads": (0, 1, 2, 0), "dilations": (1, 1)},
        {"N": (1, 2, 3, 4, 1, 1, 2), "strides": (2, 1), "pads": (1, 0, 0, 0), "dilations": (3, 2)},
    ],
    "xla.Conv": [{"N": (1, 2, 4, 3, 2, 1, 3), "window_strides": (2, 1)}],
    "xla.ConvWithGeneralPadding": [
        {
            "N": (1, 2, 4, 3, 2, 1, 2),
            "window_strides": (1, 2),
            "padding": ((-1, 2), (0, 0)),
            "lhs_dilation": (1, 2),
            "rhs_dilation": (1, 1),
        },
        {
            "N": (2, 1, 3, 4, 1, 2, 2),
            "window_strides": (2, 1),
            "padding": ((2, 0), (1, -2)),
            "lhs_dilation": (3, 1),
            "rhs_dilation": (2, 2),
        },
    ],
}


@pytest.mark.parametrize("name", EDGES)
def test_at_edges_the_formula_has_the_values_of_the_definition(name: str) -> None:
    operator, _, found = of(name)
    random = np.random.default_rng(3)
    for edge in EDGES[name]:
        sizes = {}
        for key, (owner, place) in found.places.items():
            held: Any = edge[owner or "N"]
            for part in place.split(","):
                held = held[int(part)]
            sizes[key] = held
        meant = at(operator, found, sizes)
        arrays = {each: random.integers(-9, 9, given.shape) for each, given in meant.operands.items()}
        put, (made, *_) = put_back(found.made[0].term, sizes), meant.made
        assert np.prod(made.shape) > 0
        for indices in np.ndindex(*made.shape):
            here = {each.data: number for each, number in zip(made.indices, indices, strict=True)}
            assert element(put, arrays, here) == element(made.term, arrays, here)


def like(name: str, function: Any) -> Operator:
    """The operator with another definition."""
    return replace(SHOWN[name][0], definition=tensorwise(function))


def by_value(operand: Given, dimensions: Any) -> Made:
    """The definition forgets what a size is called."""
    return tensor((2,), lambda i: operand.flat(i + int(operand.shape[0])))


def mean(operand: Given, dimensions: Any) -> Made:
    """A size among numbers."""
    count = operand.shape[2]
    return tensor(
        operand.shape[:2], lambda i, j: fold((count,), 0, lambda s, d: s - operand[i, j, d]) / count
    )


def test_where_a_size_has_no_name_the_formula_is_that_of_one_call() -> None:
    operator = like("xla.Collapse", by_value)
    good = operator.contract.good
    assert good is not None
    assert general(operator, good) is None
    assert known(operator, good).places == {}
    assert formula(operator) == (
        r"Y[i] = X_{\text{flat}}[i + 4] \qquad \text{for } \text{shape of } X = [4, 2, 3], \; "
        r"\text{dimensions} = [0, 1]"
    )


def test_sizes_are_numbers_too_and_recurrences_keep_their_letter() -> None:
    operator = like("xla.Collapse", mean)
    assert formula(operator) == (
        r"Y[i, j] = \frac{s_{N_{2}} \text{ where } s_{0} = 0, \; s_{d + 1} = s_{d} - X[i, j, d] \text{ for } "
        r"0 \le d < N_{2}}{N_{2}} \qquad \text{for } \text{shape of } X = [N_{0}, N_{1}, N_{2}], \; "
        r"\text{dimensions} = [0, 1]"
    )
    good = operator.contract.good
    assert good is not None
    found = general(operator, good)
    assert found is not None
    values = {key: int(size) for size, key in named(found).items()}
    assert put_back(found.made[0].term, values) is known(operator, good).made[0].term


def test_a_letter_of_an_index_is_not_taken_for_an_attribute() -> None:
    def swapped(operand: Given, broadcast_sizes: Any) -> Made:
        first, second = broadcast_sizes
        return tensor(
            (second, *operand.shape),
            lambda b, j: fold(
                (first,), 0, lambda s, k: select((b * 2 + k < first) & (b * 2 + k < j), operand[j], s)
            ),
        )

    assert formula(like("xla.Broadcast", swapped)) == (
        r"\begin{array}{l} Y[b, j] = s_{\text{broadcast sizes}_{0}} \text{ where } s_{0} = 0, \; s_{k + 1} = "
        r"\begin{cases} X[j] & \text{if } q_{0} < \text{broadcast sizes}_{0} \text{ and } q_{0} < j \\ "
        r"s_{k} & \text{otherwise} \end{cases} \text{ for } 0 \le k < \text{broadcast sizes}_{0} \\ "
        r"\text{where } q_{0} = b \cdot 2 + k \\ \text{for } \text{shape of } X = [N_{0}], \; "
        r"\text{broadcast sizes} = [\text{broadcast sizes}_{0}, \text{broadcast sizes}_{1}] \end{array}"
    )


def test_sizes_write_down_what_is_done_with_them() -> None:
    n, m = N.term, M.term
    i = make("index", data="i", sort=Sort.INDEX)
    done: list[tuple[Any, int, Any]] = [
        (N + 1, 6, n + 1),
        (1 + N, 6, 1 + n),
        (N - M, 2, n - m),
        (7 - N, 2, 7 - n),
        (N * M, 15, n * m),
        (2 * N, 10, 2 * n),
        (N // 2, 2, n // 2),
        (7 // N, 1, lift(7, Sort.INDEX) // n),
        (N % M, 2, n % m),
        (7 % N, 2, lift(7, Sort.INDEX) % n),
        (-N, -5, -n),
        ((N + M) - M, 5, n),
        ((N + M) - N, 3, n + m - n),
    ]
    for found, value, term in done:
        assert isinstance(found, Size)
        assert int(found) == value
        assert found.term is term
    assert (N - N, N * 0, N * 1 == N) == (0, 0, True)
    assert not isinstance(N - N, Size)
    assert N + i is n + i
    assert (any_size("N", 9) == N, N != M, N == 5, N < M) == (True, True, False, False)
    assert (integer(N) is N, integer(np.int64(4))) == (True, 4)


def test_an_index_is_divided_by_no_other_index() -> None:
    i = make("index", data="i", sort=Sort.INDEX)
    assert (i // N).arguments == (i, N.term)
    with pytest.raises(DefinitionError, match="positive"):
        i // (i + 1)
    with pytest.raises(DefinitionError, match="positive"):
        i % 0


def test_attributes_that_a_definition_does_not_ask_for_are_not_told() -> None:
    given = call(
        "xla.Conv", {"lhs": "f32[1,1,2]", "rhs": "f32[1,1,2]"}, {"window_strides": (1,), "padding": "VALID"}
    )
    found = known(SHOWN["xla.Conv"][0], given)
    assert found.taken == {"lhs", "rhs", "window_strides", "padding"}


def test_sizes_are_named_where_they_stand_first_and_axes_are_none() -> None:
    """By hand: 2 stands first in a shape, 3 behind it, 5 in an attribute; 1 and axes stay what they are."""
    shown = call("xla.Broadcast", {"operand": "f32[2,1,3,2]"}, {"broadcast_sizes": (5, 3, 1)})
    found = general(SHOWN["xla.Broadcast"][0], shown)
    assert found is not None
    assert found.places == {" 0": ("", "0"), " 1": ("", "1"), "broadcast_sizes 0": ("broadcast_sizes", "0")}
    first, one, second, again = found.shapes["operand"]
    assert ([int(each) for each in (first, one, second, again)], isinstance(one, Size)) == (
        [2, 1, 3, 2],
        False,
    )
    assert first == again
    assert [each.term.data for each in (first, second) if isinstance(each, Size)] == [" 0", " 1"]
    written = found.call.attributes["broadcast_sizes"]
    assert [(int(each), each.term.data if isinstance(each, Size) else "") for each in written] == [
        *((5, "broadcast_sizes 0"), (3, " 1"), (1, "")),
    ]
    assert put_back((N * 2 + M - 1).term, {"N": 5, "M": 3}).data == 12
    later = general(
        SHOWN["xla.Collapse"][0], call("xla.Collapse", {"operand": "f32[4,2,3]"}, {"dimensions": (1, 2)})
    )
    assert later is not None
    assert not any(isinstance(each, Size) for each in later.call.attributes["dimensions"])
    assert set(later.places) == {" 0", " 1", " 2"}
    # A place within a place is told by both numbers.
    padded = walk._inside(((1, 2), (3, 4)))
    assert list(padded) == [("0,0", 1), ("0,1", 2), ("1,0", 3), ("1,1", 4)]


def put_back_everywhere() -> None:
    for name in ("Conv", "xla.Collapse", "Expand"):
        test_with_numbers_put_back_it_is_the_tree_of_the_call(name)


UNNAMED = test_where_a_size_has_no_name_the_formula_is_that_of_one_call
NAMED, COUNTED = (
    test_sizes_are_named_where_they_stand_first_and_axes_are_none,
    test_sizes_are_numbers_too_and_recurrences_keep_their_letter,
)
UNTOLD = test_attributes_that_a_definition_does_not_ask_for_are_not_told
MUTANTS = {
    "one example twice": Mutant(walk._found, "held * times", "held", UNNAMED),
    "any first tree": Mutant(walk.general, "one.term is other.term", "one.term", UNNAMED),
    "ones that may be any": Mutant(walk.general, "number > 1", "number > 0", NAMED),
    "a name for each place": Mutant(walk.general, " and number not in names", "", NAMED),
    "no attributes": Mutant(walk._numbers, "in _inside(held))", "in ())", NAMED),
    "sizes of shapes alone": Mutant(walk._found, "changed.get(name, held)", "held", NAMED),
    "shapes of numbers": Mutant(walk._found, "other(kind.sizes or ())", "kind.sizes", NAMED),
    "axes that may be any": Mutant(walk._open, "if name not in others", "if others is not None", NAMED),
    "a place without what it stands in": Mutant(walk._inside, 'f"{place},{number}"', "str(number)", NAMED),
    "every attribute told": Mutant(
        walk._found,
        "frozenset(inspect.signature(operator.definition.function).parameters)",
        "frozenset(attributes)",
        UNTOLD,
    ),
    "folds over the example": Mutant(
        walk.put_back, "_number(count, sizes)", "int(count)", put_back_everywhere
    ),
    "a number of another kind": Mutant(
        walk.put_back, "lift(arguments[0].data)", "lift(arguments[0].data + 1)", COUNTED
    ),
    "indices that are not calculated": Mutant(
        walk.put_back, "each.word in INDEX_WORDS and", 'each.word == "floor" and', NAMED
    ),
    "the sort of a number": Mutant(
        walk.put_back, "lift(sizes[each.data], Sort.INDEX)", "lift(sizes[each.data])", put_back_everywhere
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_general_definition_is_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
