"""What a move makes is read in place where it is its operand, some elements again; strides are by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.derive.kernel_support import requested, stand_in

from sonnx.derive.views import Axis, View, merged, view
from sonnx.terms.tensors import tensor
from sonnx.terms.tracing import elementwise, tensorwise
from sonnx.terms.words import select

pytestmark = pytest.mark.measured

MOVES: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...] | None]] = {
    "repeated lines": (lambda X: tensor((4, 3), lambda i, j: X[j]), (3,), (4, 3), (0, 1)),
    "repeated columns": (lambda X: tensor((3, 4), lambda i, j: X[i]), (3,), (3, 4), (1, 0)),
    "one for all": (lambda X: tensor((3, 4), lambda i, j: X[()]), (), (3, 4), (0, 0)),
    "channels": (lambda X: tensor((2, 3, 4), lambda b, i, j: X[b, 0, j]), (2, 1, 4), (2, 3, 4), (4, 0, 1)),
    "another shape": (lambda X: tensor((2, 6), lambda i, j: X.flat(6 * i + j)), (3, 4), (2, 6), (6, 1)),
    "the same": (lambda X: tensor((3, 4), lambda i, j: X[i, j]), (3, 4), (3, 4), (4, 1)),
    "transposed": (lambda X: tensor((4, 3), lambda i, j: X[j, i]), (3, 4), (4, 3), None),
    "backwards": (lambda X: tensor((3,), lambda i: X[2 - i]), (3,), (3,), None),
    "a part": (lambda X: tensor((2,), lambda i: X[i]), (3,), (2,), None),
    "the end": (lambda X: tensor((2,), lambda i: X[i + 1]), (3,), (2,), None),
    "two boxes": (lambda X: tensor((3,), lambda i: select(i < 1, X[i], 0)), (3,), (3,), None),
    "zeros": (lambda X: tensor((3,), lambda i: select(X[i] < 0, 0, 0)), (3,), (3,), None),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_move_is_a_view_where_all_elements_keep_their_order(name: str) -> None:
    function, given, made, strides = MOVES[name]
    operator = stand_in(tensorwise(function), "X")
    found = view(operator, requested({"X": np.zeros(given, np.float32)}, "float", made))
    assert found == (None if strides is None else View("t.X", strides))


def test_what_is_no_move_has_no_view() -> None:
    X = {"X": np.zeros(3, np.float32)}
    assert view(stand_in(None, "X"), requested(X, "float", (3,))) is None
    assert view(stand_in(elementwise(lambda X: X), "X"), requested(X, "float", (3,))) is None
    unknown = stand_in(tensorwise(lambda X, S: tensor(S, lambda i: X[i])), "X", "S", constants=["S"])
    assert view(unknown, requested(X, "float", (3,))) is None
    pair = stand_in(tensorwise(lambda X: (tensor((3,), lambda i: X[i]),) * 2), "X")
    several = replace(pair.contract, outputs=(replace(pair.contract.outputs[0], variadic=True),))
    assert view(replace(pair, contract=several), requested(X, "float", (3,))) is None


@pytest.mark.parametrize(
    ("sizes", "strides", "axes"),
    [
        ((2, 3, 4), [(12, 4, 1)], [Axis(24, (1,))]),
        ((2, 3, 4), [(12, 4, 1), (0, 0, 1)], [Axis(6, (4, 0)), Axis(4, (1, 1))]),
        ((2, 3, 4), [(12, 4, 1), (0, 1, 0)], [Axis(2, (12, 0)), Axis(3, (4, 1)), Axis(4, (1, 0))]),
        ((2, 3, 4), [(12, 4, 1), (3, 1, 0)], [Axis(6, (4, 1)), Axis(4, (1, 0))]),
        ((2, 1, 4), [(4, 4, 1), (0, 9, 0)], [Axis(8, (1, 0))]),
        ((1, 1), [(1, 1)], [Axis(1, (0,))]),
        ((), [()], [Axis(1, (0,))]),
    ],
)
def test_axes_that_go_on_for_all_are_one(sizes: Any, strides: Any, axes: Any) -> None:
    assert list(merged(sizes, strides)) == axes
