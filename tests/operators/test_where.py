"""Where: laws, special values, and a second definition one element at a time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.support import EVERY_TYPE, LAYOUTS, Array, array_of, arrays, bits, special_values

import sonnx
from sonnx.numeric.arrays import describe
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(12))
SHAPES = st.sampled_from([(), (0,), (5,), (2, 3), (2, 0, 3), (1, 2, 1, 3), (1, 2, 1, 1, 2, 1, 1, 2)])


def is_the_choice(name: str, result: Array, condition: Array, X: Array, Y: Array) -> bool:
    """Tell whether each element is, bit for bit, the one that its condition names."""
    flags = np.asarray(condition).reshape(-1).tobytes()
    chosen = [x if flag else y for flag, x, y in zip(flags, np.ravel(X), np.ravel(Y), strict=True)]
    return bits(result) == bits(array_of(name, np.shape(X), chosen))


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_where_copies_the_chosen_element_bit_for_bit(name: str, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    condition = data.draw(arrays("bool", shape))
    X, Y = data.draw(arrays(name, shape)), data.draw(arrays(name, shape))
    before = bits(condition), bits(X), bits(Y)
    result = sonnx.where(condition, X, Y)
    assert is_the_choice(name, result, condition, X, Y)
    assert (bits(condition), bits(X), bits(Y)) == before
    assert isinstance(result, sonnx.RealArray) == (name == "real")


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_where_of_x_and_x_is_x_whatever_the_condition(name: str, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    condition, X = data.draw(arrays("bool", shape)), data.draw(arrays(name, shape))
    assert bits(sonnx.where(condition, X, X)) == bits(array_of(name, shape, list(np.ravel(X))))


@for_each("name", EVERY_TYPE)
def test_where_moves_every_special_value(name: str) -> None:
    values = special_values(name)
    X, Y = array_of(name, (len(values),), values), array_of(name, (len(values),), values[::-1])
    for choice in (True, False):
        result = sonnx.where(np.full(len(values), choice), X, Y)
        assert bits(result) == bits(X if choice else Y)


def test_where_keeps_signed_zeros_and_nan_payloads() -> None:
    """D-WHERE-2, with the bits written out."""
    raw = np.array([0x80000000, 0x7FC12345, 0xFF800001, 0x00000001], np.uint32)
    other = np.zeros(4, np.float32)
    assert (
        sonnx.where(np.ones(4, np.bool_), raw.view(np.float32), other).view(np.uint32).tolist()
        == raw.tolist()
    )
    assert (
        sonnx.where(np.zeros(4, np.bool_), other, raw.view(np.float32)).view(np.uint32).tolist()
        == raw.tolist()
    )


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_where_looks_at_elements_however_they_lie_in_memory(layout: Any) -> None:
    condition = layout(np.array([[True, False, True], [False, False, True]]))
    X, Y = (
        layout(np.array([[1, 2, 3], [4, 5, 6]], np.int16)),
        np.array([[-1, -2, -3], [-4, -5, -6]], np.int16),
    )
    assert sonnx.where(condition, X, Y).tolist() == [[1, -2, 3], [-4, -5, 6]]
    assert sonnx.where(condition, Y, X).tolist() == [[-1, 2, -3], [4, 5, -6]]


def test_where_of_more_elements_than_one_block_treats_every_element() -> None:
    many = np.arange(100_000, dtype=np.int32)
    assert (sonnx.where(many % 3 == 0, many, -many) == np.where(many % 3 == 0, many, -many)).all()


@for_each("name", EVERY_TYPE)
def test_the_shape_rule_of_where_tells_type_and_shape_without_data(name: str) -> None:
    for shape in [(), (0, 2), (3, 1, 2)]:
        count = int(np.prod(shape))
        X = array_of(name, shape, [special_values(name)[0]] * count)
        condition = np.ones(shape, np.bool_)
        kinds = {"condition": describe(condition)[0], "X": describe(X)[0], "Y": describe(X)[0]}
        assert (
            WHERE.contract.output_types(Call("Where", kinds))["output"]
            == describe(sonnx.where(condition, X, X))[0]
        )


MUTANTS: dict[str, Any] = {
    "arithmetic instead of choice": lambda c, x, y: x * c + y * ~c,
    "the other way round": lambda c, x, y: np.where(c, y, x),
    "a zero added": lambda c, x, y: np.add(np.where(c, x, y), np.float32(0)),
    "only the byte 1 is true": lambda c, x, y: np.where(c.view(np.uint8) == 1, x, y),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_with_the_choice_catches_wrong_definitions(mutant: str) -> None:
    condition = np.array([0, 1, 2, 255, 0], np.uint8).view(np.bool_)
    X, Y = np.array([1, -0.0, 3, 4, 5], np.float32), np.array([-1, np.inf, -3, -4, -0.0], np.float32)
    with np.errstate(invalid="ignore"):
        wrong = np.asarray(MUTANTS[mutant](condition, X, Y), np.float32)
    assert not is_the_choice("float", wrong, condition, X, Y)
    assert is_the_choice("float", sonnx.where(condition, X, Y), condition, X, Y)
