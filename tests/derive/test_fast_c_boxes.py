"""Moves as boxes that one kernel copies: the bits of NumPy's own moves, for every size of elements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.derive.kernel_support import Array, any_bits, asked, executed, requested, stand_in, ways
from tests.operators.support import HELD

from sonnx.derive.fast_c import kernels
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.terms.tensors import Given, Made, inside, tensor
from sonnx.terms.term import Term
from sonnx.terms.tracing import Definition, tensorwise
from sonnx.terms.words import select
from sonnx.vocabulary.kernel import KernelRequest

pytestmark = pytest.mark.measured

# An element of every size, and those that are two parts.
MOVED = ("int8", "bfloat16", "float", "double", "complex64", "complex128")


def transposed(*order: int) -> Definition:
    def transpose(X: Given) -> Made:
        def at(*i: Term) -> Term:
            return X[tuple(i[order.index(axis)] for axis in range(len(order)))]

        return tensor([X.shape[axis] for axis in order], at)

    return tensorwise(transpose)


def joined(axis: int) -> Definition:
    def concat(X: Given, Y: Given) -> Made:
        sizes = [*X.shape]
        sizes[axis] += Y.shape[axis]

        def at(*i: Term) -> Term:
            second = [*i]
            second[axis] = i[axis] - X.shape[axis]
            return select(i[axis] < X.shape[axis], X[i], Y[tuple(second)])

        return tensor(sizes, at)

    return tensorwise(concat)


def padded(begins: Sequence[int], ends: Sequence[int], value: Any) -> Definition:
    def pad(X: Given) -> Made:
        sizes = [size + begin + end for size, begin, end in zip(X.shape, begins, ends, strict=True)]

        def at(*i: Term) -> Term:
            there = tuple(index - begin for index, begin in zip(i, begins, strict=True))
            return select(inside(there, X.shape), X[there], value)

        return tensor(sizes, at)

    return tensorwise(pad)


def sliced(starts: Sequence[int], steps: Sequence[int], sizes: Sequence[int]) -> Definition:
    def cut(X: Given) -> Made:
        def at(*i: Term) -> Term:
            return X[tuple(each * step + start for each, start, step in zip(i, starts, steps, strict=True))]

        return tensor(sizes, at)

    return tensorwise(cut)


def repeated(wanted: Sequence[int]) -> Definition:
    def expand(X: Given) -> Made:
        def at(*i: Term) -> Term:
            last = i[len(i) - X.rank :]
            return X[tuple(0 if size == 1 else each for size, each in zip(X.shape, last, strict=True))]

        return tensor(wanted, at)

    return tensorwise(expand)


def flattened() -> Definition:
    return tensorwise(lambda X: tensor((int(np.prod(X.shape)),), X.flat))


@dataclass(frozen=True)
class Move:
    """A definition, the shapes it moves, and the same by NumPy on arrays."""

    definition: Definition
    shapes: Sequence[tuple[int, ...]]
    expected: Callable[..., Array]
    types: Sequence[str] = field(default=MOVED)


def transposition(shape: tuple[int, ...], *order: int) -> Move:
    return Move(transposed(*order), [shape], lambda X: X.transpose(order))


def concatenation(first: tuple[int, ...], second: tuple[int, ...], axis: int) -> Move:
    return Move(joined(axis), [first, second], lambda X, Y: np.concatenate([X, Y], axis))


def padding(shape: tuple[int, ...], begins: Sequence[int], ends: Sequence[int], value: int) -> Move:
    # Numbers that the definition writes are of types that have them.
    pairs = list(zip(begins, ends, strict=True))
    types = ("int8", "uint16", "float", "double", "float16")
    return Move(
        padded(begins, ends, value), [shape], lambda X: np.pad(X, pairs, constant_values=value), types
    )


def slicing(shape: tuple[int, ...], *cuts: slice) -> Move:
    ranges = [range(*cut.indices(size)) for cut, size in zip(cuts, shape, strict=True)]
    starts, steps = [each.start for each in ranges], [each.step for each in ranges]
    return Move(sliced(starts, steps, [len(each) for each in ranges]), [shape], lambda X: X[cuts])


def expansion(given: tuple[int, ...], wanted: tuple[int, ...]) -> Move:
    return Move(repeated(wanted), [given], lambda X: np.broadcast_to(X, wanted))


ALL = slice(None)
MOVES = {
    "as it is": transposition((2, 3, 5), 0, 1, 2),
    "one element": expansion((1, 1), (1, 1)),
    "no axes": expansion((), ()),
    "no elements": expansion((1, 0), (4, 0)),
    "two axes": transposition((37, 41), 1, 0),
    "two axes, few rows": transposition((3, 100), 1, 0),
    "two axes, short lines": transposition((100, 5), 1, 0),
    "channels last": transposition((2, 19, 5, 7), 0, 2, 3, 1),
    "backwards": transposition((3, 5, 2, 9), 3, 2, 1, 0),
    "outer axes": transposition((4, 3, 50), 1, 0, 2),
    "middle axes": transposition((2, 3, 20, 17), 0, 2, 1, 3),
    "joined outside": concatenation((2, 300), (3, 300), 0),
    "joined inside": concatenation((30, 5), (30, 9), 1),
    "joined in the middle": concatenation((3, 2, 70), (3, 4, 70), 1),
    "one column joined": concatenation((40, 5), (40, 1), 1),
    "one column first": concatenation((40, 1), (40, 3), 1),
    "joined with nothing": concatenation((3, 0), (3, 4), 1),
    "long lines joined": concatenation((2, 5000), (2, 3001), 1),
    "padded": padding((2, 3, 9, 11), (0, 0, 1, 2), (0, 1, 2, 3), 7),
    "padded by one column": padding((40, 9), (0, 1), (0, 1), 0),
    "padded outside": padding((2, 700), (1, 0), (2, 0), 1),
    "cropped": slicing((5, 40, 50), ALL, slice(3, 30), slice(4, 46)),
    "every second": slicing((3, 40, 51), ALL, slice(1, None, 2), slice(0, None, 2)),
    "every third, backwards": slicing((3, 40, 51), slice(None, None, -1), ALL, slice(50, 1, -3)),
    "turned round": slicing((7, 130), ALL, slice(None, None, -1)),
    "one column": slicing((50, 9), ALL, slice(4, 5)),
    "repeated outside": expansion((1, 17), (100, 17)),
    "repeated inside": expansion((40, 1), (40, 30)),
    "repeated few times": expansion((300, 1), (300, 4)),
    "one element again and again": expansion((), (2100,)),
    "several long runs": expansion((3, 1), (3, 2100)),
    "repeated in turn": expansion((2, 1, 3, 1, 2, 1, 3), (2, 3, 3, 2, 2, 4, 3)),
    "repeated long lines": expansion((2, 1, 1500), (2, 3, 1500)),
    "flat": Move(flattened(), [(3, 4, 5)], lambda X: X.reshape(-1)),
}


def compare(move: Move, name: str, **how: Any) -> None:
    names = "XY"[: len(move.shapes)]
    arrays: Mapping[str, Array] = {
        each: any_bits(name, int(np.prod(shape)), seed).reshape(shape)
        for seed, (each, shape) in enumerate(zip(names, move.shapes, strict=True))
    }
    expected = np.array(move.expected(*arrays.values()), order="C")
    found = asked(stand_in(move.definition, *names), arrays, name, expected.shape)
    words = dict(found.calls[0].parameters)["elements"]
    for way, offset in product(ways(words), (0, 1)):
        result = executed(found, arrays, name, expected.shape, way, offset=offset, **how)
        assert result.tobytes() == expected.tobytes(), (name, way, offset)


@pytest.mark.parametrize("what", MOVES)
def test_a_move_has_the_bits_of_numpy(what: str) -> None:
    for name in MOVES[what].types:
        compare(MOVES[what], name)


@pytest.mark.parametrize("seed", range(30))
def test_moves_drawn_at_random_have_the_bits_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    name = MOVED[seed % len(MOVED)]
    rank = int(random.integers(1, 5))
    shape = tuple(map(int, random.integers(1, 13, rank)))
    cuts = [slice(int(random.integers(size)), None, int(random.integers(1, 4))) for size in shape]
    cuts = [slice(None, None, -each.step) if random.integers(3) == 0 else each for each in cuts]
    compare(slicing(shape, *cuts), name)
    compare(transposition(shape, *map(int, random.permutation(rank))), name)
    axis, more = int(random.integers(rank)), int(random.integers(0, 9))
    compare(concatenation(shape, (*shape[:axis], more, *shape[axis + 1 :]), axis), name)
    ones = tuple(size if random.integers(2) else 1 for size in shape)
    compare(expansion(ones, (2, *shape)), name)


def table(move: Move, name: str = "float") -> dict[str, int]:
    (shape,) = move.shapes
    X = any_bits(name, int(np.prod(shape))).reshape(shape)
    expected = move.expected(X)
    (call,) = asked(stand_in(move.definition, "X"), {"X": X}, name, expected.shape).calls
    return dict(call.parameters)


def test_the_parts_of_a_complex_element_are_copied_together() -> None:
    found = table(transposition((5, 7), 1, 0), "complex64")
    assert (found["elements"], found["box0_line_size"], found["box0_axis0_from"]) == (70, 2, 14)


def test_boxes_and_runs_are_few() -> None:
    whole = table(transposition((4, 5, 6), 0, 1, 2))
    assert (whole["box0_rank"], whole["box0_line_size"]) == (0, 120)
    across = table(transposition((2, 30, 40), 0, 2, 1))
    assert (across["box0_rank"], across["box0_rows_size"], across["box0_rows_from"]) == (1, 40, 1)
    again = table(expansion((1, 3), (50, 3)))
    assert (again["box0_rank"], again["box0_rows_size"], again["box0_line_size"]) == (0, 50, 3)
    assert {name for name in again if name.startswith("box1")} == set()


def test_boxes_that_are_apart_are_written_past_the_caches_too() -> None:
    shape = (3, 1_100_000)
    operator = stand_in(joined(1), "X", "Y")
    types = {"x": TensorType(DType.FLOAT, shape), "z": TensorType(DType.FLOAT, (3, 2 * shape[1]))}
    given = KernelRequest({"X": "x", "Y": "x"}, {"Z": "z"}, types, {}, "")
    found = kernels(operator, given)
    assert found is not None
    parameters = dict(found.calls[0].parameters)
    assert (parameters["streamed"], found.calls[0].tasks) == (1, 51)


def test_a_constant_decides_a_shape() -> None:
    operator = stand_in(tensorwise(lambda X, S: tensor(S, lambda i, j: X[j, i])), "X", "S", constants=("S",))
    given = {"X": any_bits("int16", 12).reshape(3, 4)}
    found = kernels(operator, requested(given, "int16", (4, 3), {"S": (4, 3)}))
    assert executed(found, given, "int16", (4, 3)).tolist() == given["X"].T.tolist()
    assert {held.itemsize for held in map(HELD.__getitem__, MOVED)} == {1, 2, 4, 8, 16}
