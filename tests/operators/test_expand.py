"""Expand is the first result of Broadcast with a tensor of the given shape."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.support import BROADCAST, EVERY_TYPE, LAYOUTS, array_of, arrays, bits, special_values

import sonnx
from sonnx.numeric.arrays import describe
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(15))


def allowed(*shapes: tuple[int, ...]) -> bool:
    """C1 of Broadcast in the words of the document: on each axis a size is the largest of all, or 1."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return all(size in (max(axis), 1) for axis in zip(*padded, strict=True) for size in axis)


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_expand_is_the_first_result_of_broadcast(name: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(), (1,), (3,), (2, 1), (1, 3), (0,), (2, 3, 1)]))
    target = data.draw(
        st.sampled_from([[], [1], [3], [2, 3], [0], [4, 1, 1], [2, 3, 2], [1, 1, 1, 1, 1, 1, 1, 3]])
    )
    array = data.draw(arrays(name, shape))
    if not allowed(shape, tuple(target)):
        with pytest.raises(sonnx.RuleError) as caught:
            sonnx.expand(array, target)
        assert [finding.rule for finding in caught.value.findings] == ["expand.shape.C1"]
        return
    result = sonnx.expand(array, target)
    assert bits(result) == bits(np.broadcast_to(array, np.broadcast_shapes(shape, tuple(target)), subok=True))
    if name in BROADCAST:
        assert bits(result) == bits(sonnx.broadcast(array, np.zeros(target, np.int8))[0])
    assert isinstance(result, sonnx.RealArray) == (name == "real")


def test_expand_by_hand() -> None:
    column = np.array([[1], [2], [3]], np.int16)
    assert sonnx.expand(column, [2, 1, 2]).tolist() == [[[1, 1], [2, 2], [3, 3]]] * 2
    assert sonnx.expand(column, (3, 1)).tolist() == [[1], [2], [3]]
    assert sonnx.expand(column, [1]).tolist() == [[1], [2], [3]]
    assert sonnx.expand(column, []).tolist() == [[1], [2], [3]]
    assert sonnx.expand(np.float32(2.5), [2, 2]).tolist() == [[2.5, 2.5], [2.5, 2.5]]
    assert sonnx.expand(column[:0], [0, 4]).shape == (0, 4)


def test_expand_gives_a_read_only_view_and_leaves_its_input_alone() -> None:
    array = np.arange(3, dtype=np.float32)
    result = sonnx.expand(array, np.array([2, 3]))
    assert np.shares_memory(result, array)
    with pytest.raises(ValueError, match="read-only"):
        result[0, 0] = 1
    assert array.flags.writeable


@for_each("name", EVERY_TYPE)
def test_expand_moves_every_special_value(name: str) -> None:
    values = special_values(name)
    array = array_of(name, (len(values),), values)
    result = sonnx.expand(array, [2, len(values)])
    assert bits(result[0]) == bits(result[1]) == bits(array)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_expand_reads_operands_however_they_lie_in_memory(layout: Any) -> None:
    array, shape = layout(np.array([[1], [2]], np.int64)), layout(np.array([2, 3]))
    assert sonnx.expand(array, shape).tolist() == [[1, 1, 1], [2, 2, 2]]


@for_each("name", EVERY_TYPE)
def test_the_shape_rule_of_expand_tells_type_and_shape_without_data(name: str) -> None:
    array, shape = array_of(name, (3, 1), [special_values(name)[0]] * 3), (2, 1, 4)
    kinds = {"input": describe(array)[0], "shape": describe(np.array(shape))[0]}
    foretold = EXPAND.contract.output_types(Call("Expand", kinds, constants={"shape": shape}))["output"]
    assert foretold == describe(sonnx.expand(array, shape))[0]
    assert str(foretold) == f"{name}[2,3,4]"
