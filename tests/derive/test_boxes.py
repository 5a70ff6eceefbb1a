"""Moves as boxes: an element of a box is read where the definition reads it, at every index."""

from collections.abc import Callable
from itertools import product

import pytest
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import boxes as walk
from sonnx.derive.boxes import Affine, Box, Read, affine, boxes, element_strides, read_strides
from sonnx.terms.tensors import Given, Made, flat_place, index, inside, tensor
from sonnx.terms.term import Sort, Term, lift
from sonnx.terms.words import LOWEST, cases, is_nan, otherwise, select, value

pytestmark = pytest.mark.measured

X, Y = Given("X", (3, 4)), Given("Y", (2, 4))
i, j = index("i"), index("j")


def padded(i: Term, j: Term) -> Term:
    at = (i - 1, j - 2)
    return select(inside(at, X.shape), X[at], 7)


def joined(i: Term, j: Term) -> Term:
    return select(i < 3, X[i, j], Y[i - 3, j])


MOVES: dict[str, tuple[Made, int]] = {
    "transpose": (tensor((4, 3), lambda i, j: X[j, i]), 1),
    "slice, backwards in steps": (tensor((3, 2), lambda i, j: X[2 - i, 2 * j + 1]), 1),
    "repeat": (tensor((5, 3, 4), lambda k, i, j: X[i, j]), 1),
    "repeat a column": (tensor((3, 5), lambda i, j: X[i, 0]), 1),
    "pad": (tensor((5, 7), padded), 9),
    "concatenate": (tensor((5, 4), joined), 2),
    "reshape": (tensor((2, 6), lambda i, j: X.flat(flat_place((i, j), (2, 6)))), 1),
    "one place from another": (tensor((3, 4), lambda i, j: select(i == 1, 5, X[i, j])), 3),
    "not that place": (tensor((3, 4), lambda i, j: select(~(i == 1), 5, X[i, j])), 3),
    "the first ones": (tensor((3, 4), lambda i, j: select(i <= 1, 5, X[i, j])), 2),
    "the last ones": (tensor((3, 4), lambda i, j: select(1 - i <= -1, 5, X[i, j])), 2),
    "the first ones, counted down": (tensor((3, 4), lambda i, j: select(2 - i < 2, 5, X[i, j])), 2),
    "either end": (tensor((3, 4), lambda i, j: select((i < 1) | (i >= 2), LOWEST, X[i, j])), 3),
    "stated": (tensor((3,), lambda i: cases(otherwise(X[i, 0], "D-ALL-4", "It stays."))), 1),
    "a scalar": (tensor((), lambda: X[1, 2]), 1),
}


def read_by(term: Term, at: dict[str, int]) -> object:
    """Where a term reads, or the literal it is; an independent walk, one element at a time."""

    def number(each: Term) -> int:
        if each.word in ("whole", "index"):
            return int(each.data) if each.word == "whole" else at[each.data]
        a, b = map(number, each.arguments)
        return {"add": a + b, "subtract": a - b, "multiply": a * b}[each.word]

    def holds(each: Term) -> bool:
        match each.word:
            case "both" | "either":
                held = list(map(holds, each.arguments))
                return all(held) if each.word == "both" else any(held)
            case "opposite":
                return not holds(each.arguments[0])
        a, b = map(number, each.arguments)
        return {"less": a < b, "less_equal": a <= b, "equal": a == b}[each.word]

    if term.word == "stated":
        return read_by(term.arguments[0], at)
    if term.word == "select":
        return read_by(term.arguments[1 if holds(term.arguments[0]) else 2], at)
    return (term.data, tuple(map(number, term.arguments))) if term.word.startswith("read") else term


def read_in(box: Box, place: tuple[int, ...]) -> object:
    source = box.source
    if not isinstance(source, Read):
        return source
    at = dict(zip(box.names, place, strict=True))
    return source.operand, tuple(each.at(at) for each in source.indices)


@pytest.mark.parametrize("name", MOVES)
def test_boxes_cover_a_result_once_and_read_what_the_definition_reads(name: str) -> None:
    made, count = MOVES[name]
    found = boxes(made)
    assert found is not None
    assert len(found) == count
    assert [box.begin for box in found] == sorted(box.begin for box in found)
    seen: set[tuple[int, ...]] = set()
    for box in found:
        ranges = (range(b, b + n) for b, n in zip(box.begin, box.sizes, strict=True))
        for place in product(*ranges):
            assert place not in seen
            seen.add(place)
            at = dict(zip(box.names, place, strict=True))
            wanted, there = read_by(made.term, at), read_in(box, place)
            # Literals are one object where they are equal; what is read is a name and indices.
            assert there is wanted if isinstance(wanted, Term) else there == wanted
    assert seen == set(product(*map(range, made.shape)))


@pytest.mark.parametrize("name", MOVES)
def test_steps_lead_from_the_first_element_to_all_others(name: str) -> None:
    made, _ = MOVES[name]
    operands = {"X": X, "Y": Y}
    for box in boxes(made) or ():
        if not isinstance(box.source, Read):
            continue
        strides = read_strides(box.source, operands)
        first = sum(a * s for a, s in zip(box.source.first(box), strides, strict=True))
        along = box.source.along(strides, box)
        reached = []
        for steps in product(*map(range, box.sizes)):
            place = tuple(b + n for b, n in zip(box.begin, steps, strict=True))
            at = dict(zip(box.names, place, strict=True))
            indices = [each.at(at) for each in box.source.indices]
            reached.append(indices)
            flat = sum(a * s for a, s in zip(indices, strides, strict=True))
            assert flat == first + sum(n * s for n, s in zip(steps, along, strict=True))
        extremes = [(min(axis), max(axis)) for axis in zip(*reached, strict=True)]
        assert list(box.source.extremes(box)) == extremes


NO_MOVES: dict[str, Callable[[], Made]] = {
    "calculated": lambda: tensor((3,), lambda i: X[i, 0] + 1),
    "decided by elements": lambda: tensor((3,), lambda i: select(X[i, 0] < 0, 0, X[i, 0])),
    "decided by both": lambda: tensor((3,), lambda i: select((i < 1) & is_nan(X[i, 0]), 0, X[i, 0])),
    "a condition on two indices": lambda: tensor((3, 4), lambda i, j: select(i < j, 0, X[i, j])),
    "a condition on a product": lambda: tensor((3, 4), lambda i, j: select(i * j < 2, 0, X[i, j])),
    "read at a remainder": lambda: tensor((6,), lambda i: X[i % 3, 0]),
    "a value": lambda: tensor((3,), lambda i: value("x")),
    "a truth": lambda: tensor((3,), lambda i: select(Given("c", (3,), Sort.TRUTH)[i], 0, X[i, 0])),
}


@pytest.mark.parametrize("name", NO_MOVES)
def test_what_is_more_than_a_move_has_no_boxes(name: str) -> None:
    assert boxes(NO_MOVES[name]()) is None


def test_a_result_without_elements_has_no_boxes_at_all() -> None:
    assert boxes(tensor((0, 3), lambda i, j: X[i, j])) == ()


def test_affine_functions_of_indices() -> None:
    assert affine(3 * i - (j - 2) * 4 + i) == Affine(8, {"i": 4, "j": -4})
    assert affine(i - i) == Affine(0, {})
    assert affine(lift(2, Sort.INDEX) * i) == Affine(0, {"i": 2})
    assert affine(i * j) is None
    assert affine(i // 2 + 1) is None


def test_strides_in_c_order() -> None:
    assert element_strides((2, 3, 4)) == (12, 4, 1)
    assert element_strides(()) == ()


def moves() -> None:
    for name in MOVES:
        test_boxes_cover_a_result_once_and_read_what_the_definition_reads(name)
        test_steps_lead_from_the_first_element_to_all_others(name)


def no_moves() -> None:
    for name in NO_MOVES:
        test_what_is_more_than_a_move_has_no_boxes(name)


MUTANTS = {
    "a sum without its factor": Mutant(
        walk._sum, "first.constant + factor * second.constant", "first.constant + second.constant", moves
    ),
    "factors of 0 kept": Mutant(walk._sum, "if each}", "}", test_affine_functions_of_indices),
    "a difference added": Mutant(
        walk.affine, 'if term.word == "add" else -1', 'if term.word == "add" else 1', moves
    ),
    "a product of indices": Mutant(
        walk.affine, "not (first.factors and second.factors)", "(first or second)", no_moves
    ),
    "less as less or equal": Mutant(
        walk._places, "yield up if factor > 0 else down + 1", "yield down + 1", moves
    ),
    "less or equal as less": Mutant(walk._places, "yield down + 1 if factor > 0 else up", "yield up", moves),
    "equal on one side": Mutant(walk._places, "(down, down + 1)", "(down,)", moves),
    "decided the other way at the limit": Mutant(walk._decided, "value < 0", "value <= 0", moves),
    "both for either": Mutant(walk._decided, "else any(held)", "else all(held)", moves),
    "no opposite": Mutant(walk._decided, "else not held[0]", "else held[0]", moves),
    "half decided": Mutant(
        walk._decided, "if None in held", "if all(each is None for each in held)", no_moves
    ),
    "cut by two indices": Mutant(
        walk._cuts, "len(difference.factors) > 1", "len(difference.factors) > 2", no_moves
    ),
    "the other branch": Mutant(walk._sources, "0 if decided else 1", "1 if decided else 0", moves),
    "a half left out": Mutant(walk._sources, "((first, place), (place, last))", "((first, place),)", moves),
    "the last piece left out": Mutant(
        walk._between, "bisect_left(places, last) + 1", "bisect_left(places, last)", moves
    ),
    "boxes as they are found": Mutant(walk.boxes, "sorted(found, key=lambda box: box.begin)", "found", moves),
    "an index left out": Mutant(
        walk._source, "len(indices) < len(term.arguments)", "not term.arguments", no_moves
    ),
    "strides of another axis": Mutant(
        walk.element_strides, "shape[axis + 1 :]", "shape[axis:]", test_strides_in_c_order
    ),
    "a step for each axis but the last": Mutant(
        Read.along, "each.factors.get(name, 0) * stride", "stride", moves
    ),
    "one element too far": Mutant(Read.extremes, "size - 1 for", "size for", moves),
    "no index below the first": Mutant(Read.extremes, "sum(min(step, 0) for step in reach)", "0", moves),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_boxes_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
