"""How long exact numbers become is bounded by the walk: no result of drawn fractions is longer."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.derive.test_evaluate_walk import operator

import sonnx
from sonnx.derive.evaluate import evaluate
from sonnx.derive.lengths import lengths
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.lengths import OF_INTEGERS, Lengths
from sonnx.numeric.measure import lengths_of
from sonnx.terms.tensors import Given, fold, tensor
from sonnx.terms.term import DefinitionError
from sonnx.terms.tracing import Definition, elementwise, tensorwise
from sonnx.terms.words import absolute, cases, maximum, narrow, otherwise, plus_product, select, wide
from sonnx.vocabulary.call import Call

pytestmark = pytest.mark.measured


def folded(step: Callable[..., Any], start: Any = 0) -> Definition:
    def rows(X: Given, Y: Given) -> Any:
        return tensor((), lambda: fold(X.shape, start, lambda s, i: step(s, X[i], Y[i])))

    return tensorwise(rows)


DEFINITIONS: dict[str, Definition] = {
    "add": elementwise(lambda X, Y: X + Y),
    "subtract": elementwise(lambda X, Y: X - Y),
    "multiply": elementwise(lambda X, Y: X * Y),
    "divide": elementwise(lambda X, Y: X / select(Y == 0, 1, Y)),
    "a literal": elementwise(lambda X, Y: X * 0.375 + Y),
    "an odd literal": elementwise(lambda X, Y: X / 3 - Y * 7),
    "select": elementwise(lambda X, Y: select(X < Y, -X, absolute(Y))),
    "maximum": elementwise(lambda X, Y: maximum(X, Y)),  # noqa: PLW0108  its parameters name operands
    "stated": elementwise(lambda X, Y: cases(otherwise(narrow(wide(X) + Y), "D-ADD", "The sum."))),
    "a sum": folded(lambda s, x, y: s + x),
    "a sum of products": folded(plus_product, 1),
    "a maximum": folded(lambda s, x, y: maximum(s, x), 1),
    "one product": elementwise(lambda X, Y: plus_product(X, X, Y)),
    "a flat read": tensorwise(lambda X, Y: tensor((2,), lambda i: X.flat(i + 1))),
}
FRACTIONS = st.lists(st.fractions(max_denominator=10**6), min_size=3, max_size=3)


@pytest.mark.parametrize("name", DEFINITIONS)
@given(FRACTIONS, FRACTIONS)
@example([Fraction(1, 32), Fraction(0), Fraction(1, 32)], [Fraction(1, 32), Fraction(0), Fraction(1, 32)])
def test_no_result_is_longer_than_the_walk_says(name: str, x: Any, y: Any) -> None:
    op = operator(DEFINITIONS[name], "X", "Y", made="real[3]")
    arrays = {"X": sonnx.real(x), "Y": sonnx.real(y)}
    call = Call("Stand", dict.fromkeys(arrays, tensor_type("real[3]")))
    claim = lengths(op, call, {key: lengths_of(array) for key, array in arrays.items()})
    made = sonnx.real(np.asarray(evaluate(op, arrays, {})["Z"]))
    found = lengths_of(made)
    # Zeros are below every power of two, whatever is said of them by themselves.
    assert all(abs(each) < Fraction(2) ** claim.magnitude for each in made.reshape(-1).tolist())
    for part in ("twos", "odd", "common", "longest"):
        assert getattr(found, part) <= getattr(claim, part), part


def test_what_grows_without_a_known_end_is_refused() -> None:
    op = operator(folded(lambda s, x, y: s * x), "X", "Y")
    call = Call("Stand", {name: tensor_type("real[3]") for name in "XY"})
    with pytest.raises(DefinitionError, match="how long"):
        lengths(op, call, {"X": Lengths(3, longest=5), "Y": Lengths()})


def test_integers_are_as_long_as_the_longest() -> None:
    op = operator(elementwise(lambda X: X + 0), "X")
    call = Call("Stand", {"X": tensor_type("int8[3]")})
    assert lengths(op, call, {}).magnitude > OF_INTEGERS.magnitude
