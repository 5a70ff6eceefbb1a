"""Broadcast: its three definitions against each other, against indices, and against NumPy."""

from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.operators.broadcast_definitions import alternate, binary, f, recursive, relations
from tests.operators.support import BROADCAST, LAYOUTS, Array, array_of, arrays, bits, special_values

import sonnx
from sonnx.numeric.arrays import describe
from sonnx.operators.onnx.broadcast import OPERATOR
from sonnx.operators.rules.broadcasting import broadcast_shape
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(40))
Definition = Callable[[Sequence[Array]], list[Array]]
DEFINITIONS: list[Definition] = [relations, alternate, recursive]


def public(tensors: Sequence[Array]) -> list[Array]:
    """The public function as a definition like the others."""
    return list(sonnx.broadcast(*tensors))


Shape = tuple[int, ...]


def allowed(shapes: Sequence[Shape]) -> bool:
    """C1 in the words of the document: on each axis a size is the largest of all, or 1."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return all(size in (max(axis), 1) for axis in zip(*padded, strict=True) for size in axis)


@st.composite
def fitting_shapes(draw: st.DrawFn, *, count: int | None = None, rank: int = 4) -> list[Shape]:
    """Shapes that C1 lets pass: each is the tail of a common shape, with some sizes 1."""
    sizes = st.sampled_from([1, 2, 3, 2, 0] if rank <= 4 else [1, 1, 2])
    common = draw(st.lists(sizes, max_size=rank))
    shapes = []
    for _ in range(count or draw(st.sampled_from([1, 2, 3, 5]))):
        tail = common[draw(st.integers(0, len(common))) :]
        # A size 0 cannot stand beside a size 1 (D-BCAST-2), so 0 stays 0.
        shapes.append(tuple(draw(st.sampled_from([size, 1])) if size else 0 for size in tail))
    return shapes if allowed(shapes) else [tuple(common)]


def read_by_index(X: Array, shape: Shape) -> list[Any]:
    """The elements of X broadcast to a shape, one index at a time, counted from 0 (D-BCAST-1)."""
    found = []
    for index in product(*map(range, shape)):
        tail = index[len(shape) - X.ndim :]
        found.append(X[tuple(0 if size == 1 else i for i, size in zip(tail, X.shape, strict=True))])
    return found


def is_broadcast(name: str, results: Sequence[Array], tensors: Sequence[Array]) -> bool:
    """Tell whether results are, bit for bit, the tensors read by index at the common shape."""
    rank = max(tensor.ndim for tensor in tensors)
    shapes = [(1,) * (rank - tensor.ndim) + tensor.shape for tensor in tensors]
    common = tuple(map(max, zip(*shapes, strict=True)))
    expected = [array_of(name, common, read_by_index(tensor, common)) for tensor in tensors]
    return [bits(result) for result in results] == [bits(array) for array in expected]


@pytest.mark.parametrize("name", BROADCAST)
@settings(deadline=None, max_examples=examples(15))
@given(data=st.data())
def test_broadcast_reads_each_tensor_by_index_for_every_type(name: str, data: st.DataObject) -> None:
    tensors = [data.draw(arrays(name, shape)) for shape in data.draw(fitting_shapes(rank=3))]
    before = [bits(tensor) for tensor in tensors]
    results = sonnx.broadcast(*tensors)
    assert is_broadcast(name, results, tensors)
    assert [bits(tensor) for tensor in tensors] == before
    assert all(isinstance(result, sonnx.RealArray) == (name == "real") for result in results)


@LAWS
@given(data=st.data(), shapes=fitting_shapes())
def test_the_three_definitions_of_broadcast_agree(data: st.DataObject, shapes: list[Shape]) -> None:
    """D-BCAST-3."""
    name = data.draw(st.sampled_from(["float", "string", "real", "int8"]))
    tensors = [data.draw(arrays(name, shape)) for shape in shapes]
    by_relations, by_rank, by_recursion = ([bits(Z) for Z in define(tensors)] for define in DEFINITIONS)
    assert by_relations == by_rank == by_recursion


@LAWS
@given(shapes=fitting_shapes(rank=8))
def test_the_three_definitions_agree_on_ranks_up_to_eight(shapes: list[Shape]) -> None:
    """D-BCAST-3."""
    tensors = [np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape) for shape in shapes]
    for define in DEFINITIONS:
        results = define(tensors)
        assert is_broadcast("int64", results, tensors)
        assert all(isinstance(result, np.ndarray) for result in results)


@LAWS
@given(data=st.data(), shapes=fitting_shapes())
def test_broadcast_is_commutative_under_permutation(data: st.DataObject, shapes: list[Shape]) -> None:
    """D-BCAST-3."""
    tensors = [data.draw(arrays("float", shape)) for shape in shapes]
    order = data.draw(st.permutations(range(len(tensors))))
    for define in [*DEFINITIONS, public]:
        straight, permuted = define(tensors), define([tensors[m] for m in order])
        assert [bits(Z) for Z in permuted] == [bits(straight[m]) for m in order]


def test_broadcast_is_commutative_for_every_order_of_four_tensors() -> None:
    """D-BCAST-3."""
    tensors = [
        np.arange(n, dtype=np.int8).reshape(s) for n, s in [(1, ()), (3, (3,)), (2, (2, 1)), (4, (4, 1, 1))]
    ]
    straight = sonnx.broadcast(*tensors)
    for order in permutations(range(4)):
        assert [bits(Z) for Z in sonnx.broadcast(*(tensors[m] for m in order))] == [
            bits(straight[m]) for m in order
        ]


@settings(deadline=None, max_examples=examples(150))
@given(shapes=st.lists(st.lists(st.integers(0, 3), max_size=4).map(tuple), min_size=1, max_size=5))
def test_broadcast_equals_numpy_where_the_profile_allows_the_shapes_and_refuses_the_others(
    shapes: list[Shape],
) -> None:
    """D-BCAST-2."""
    tensors = [np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape) for shape in shapes]
    if allowed(shapes):
        expected = np.broadcast_arrays(*tensors)
        assert [bits(Z) for Z in sonnx.broadcast(*tensors)] == [bits(Z) for Z in expected]
        assert broadcast_shape(shapes) == expected[0].shape
    else:
        with pytest.raises(sonnx.RuleError) as caught:
            sonnx.broadcast(*tensors)
        assert [finding.rule for finding in caught.value.findings] == ["broadcast.C1"]
        assert broadcast_shape(shapes) is None


@pytest.mark.parametrize("rank", range(9))
def test_a_scalar_is_broadcast_to_every_rank(rank: int) -> None:
    scalar, tensor = np.array(7, np.uint16), np.zeros((2,) * rank, np.uint16)
    results = sonnx.broadcast(scalar, tensor)
    assert [Z.shape for Z in results] == [(2,) * rank] * 2
    assert (results[0] == 7).all()


def test_one_tensor_is_its_own_broadcast() -> None:
    for shape in [(), (0,), (3, 0, 2), (2, 3)]:
        tensor = np.zeros(shape, np.float16)
        (result,) = sonnx.broadcast(tensor)
        assert bits(result) == bits(tensor)


def test_five_tensors_of_five_types_keep_their_types() -> None:
    tensors = (
        np.array([1.5], np.float16),
        np.array([[True], [False]]),
        np.array("text"),
        np.array([1, 2, 3], np.uint64),
        sonnx.real([["1/3", "2", "0.1"]]),
    )
    results = sonnx.broadcast(*tensors)
    assert [str(describe(Z)[0]) for Z in results] == [
        "float16[2,3]",
        "bool[2,3]",
        "string[2,3]",
        "uint64[2,3]",
        "real[2,3]",
    ]
    assert results[1].tolist() == [[True] * 3, [False] * 3]
    assert results[3].tolist() == [[1, 2, 3]] * 2


def test_results_are_read_only_views_of_the_inputs() -> None:
    tensors: list[Array] = [np.arange(3, dtype=np.float32), np.arange(2, dtype=np.int64).reshape(2, 1)]
    for result, tensor in zip(sonnx.broadcast(*tensors), tensors, strict=True):
        assert np.shares_memory(result, tensor)
        assert not result.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            result[0, 0] = 1
        assert tensor.flags.writeable
    (exact,) = sonnx.broadcast(sonnx.real([1, 2]))
    assert not exact.flags.writeable


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("define", DEFINITIONS, ids=lambda define: define.__name__)
def test_broadcast_reads_elements_however_they_lie_in_memory(define: Definition, layout: Any) -> None:
    X0, X1 = layout(np.array([[1, 2, 3]], np.int32)), layout(np.array([[10], [20]], np.int32))
    Z0, Z1 = define([X0, X1])
    assert Z0.tolist() == [[1, 2, 3], [1, 2, 3]]
    assert Z1.tolist() == [[10, 10, 10], [20, 20, 20]]


def test_f_reads_the_index_itself_or_zero() -> None:
    """D-BCAST-1: indices count from 0."""
    assert [f(a, 3, 3) for a in range(3)] == [0, 1, 2]
    assert [f(a, 1, 3) for a in range(3)] == [0, 0, 0]


def test_the_binary_operator_takes_its_tensors_in_either_order() -> None:
    X1, X2 = np.array([1, 2]), np.array([[3], [4], [5]])
    for one, other in [binary(X1, X2), binary(X2, X1)[::-1]]:
        assert one.tolist() == [[1, 2]] * 3
        assert other.tolist() == [[3, 3], [4, 4], [5, 5]]


@LAWS
@given(shapes=fitting_shapes(), data=st.data())
def test_the_shape_rule_of_broadcast_tells_types_and_shape_without_data(
    shapes: list[Shape], data: st.DataObject
) -> None:
    tensors = []
    for shape in shapes:
        name = data.draw(st.sampled_from(BROADCAST))
        tensors.append(array_of(name, shape, [special_values(name)[0]] * int(np.prod(shape))))
    kinds = {f"X{m}": describe(tensor)[0] for m, tensor in enumerate(tensors)}
    foretold = OPERATOR.contract.output_types(Call("Broadcast", kinds))
    results = sonnx.broadcast(*tensors)
    assert foretold == {f"Z{m}": describe(result)[0] for m, result in enumerate(results)}


def repeats_the_last(tensors: Sequence[Array]) -> list[Array]:
    """Wrong: where a size is 1 the last element of the other axis order is read."""
    return [np.ascontiguousarray(Z)[..., ::-1] for Z in relations(tensors)]


def aligns_at_the_front(tensors: Sequence[Array]) -> list[Array]:
    """Wrong: sizes 1 are appended instead of prepended."""
    rank = max(tensor.ndim for tensor in tensors)
    return relations([tensor.reshape(tensor.shape + (1,) * (rank - tensor.ndim)) for tensor in tensors])


@pytest.mark.parametrize("wrong", [repeats_the_last, aligns_at_the_front], ids=lambda wrong: wrong.__name__)
def test_reading_by_index_catches_wrong_definitions(wrong: Definition) -> None:
    tensors = [np.arange(2, dtype=np.int64), np.arange(4, dtype=np.int64).reshape(2, 2)]
    assert is_broadcast("int64", relations(tensors), tensors)
    assert not is_broadcast("int64", wrong(tensors), tensors)


def test_the_three_definitions_agree_at_the_highest_rank() -> None:
    x = np.arange(3).reshape((1,) * 63 + (3,))
    y = np.arange(2).reshape((1, 2, 1))
    wanted = [np.broadcast_to(t, (1,) * 62 + (2, 3)) for t in (x, y)]
    for definition in (relations, alternate, recursive):
        for found, right in zip(definition([x, y]), wanted, strict=True):
            assert np.array_equal(found, right)
