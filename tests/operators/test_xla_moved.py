"""Broadcast, Collapse, Concatenate and Clamp of XLA: index formulas as loops, and every bit kept."""

from itertools import product
from math import copysign, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.support import LAYOUTS, Array, bits
from tests.operators.xla_support import (
    EVERY_TYPE,
    FLOATS,
    INTEGERS,
    ORDERED,
    array,
    held,
    random_bits,
    same_numbers,
    specials,
)

import sonnx
from sonnx import xla
from sonnx.numeric.arrays import describe
from sonnx.operators.catalogue import operator
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(15))
SIZES = st.lists(st.sampled_from([1, 2, 3, 2, 0]), max_size=5).map(tuple)


@st.composite
def arrays(draw: st.DrawFn, name: str, shape: tuple[int, ...]) -> Array:
    """Any bits of a type, in any layout."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return draw(st.sampled_from(LAYOUTS))(random_bits(random, name, shape))


def words(elements: Array) -> Array:
    """The elements as so many bytes, which nothing converts on the way; reals as they are."""
    native = elements.astype(elements.dtype.newbyteorder("="), copy=False)
    if native.dtype.kind == "O":
        return np.asarray(native)
    return np.ascontiguousarray(native).reshape(native.shape).view(f"V{native.dtype.itemsize}")


def same_words(result: Array, expected: Array, name: str) -> bool:
    found = words(result)
    right_kind = isinstance(result, sonnx.RealArray) if name == "real" else result.dtype == held(name)
    return right_kind and found.shape == expected.shape and found.tolist() == expected.tolist()


def foretold(name: str, operands: dict[str, Array], attributes: dict[str, Any]) -> Any:
    """Type and shape of a result by the rule on shapes, which sees no data."""
    kinds = {operand: describe(value)[0] for operand, value in operands.items()}
    return operator(name).contract.output_types(Call(name, kinds, attributes))["output"]


# --- Broadcast ---------------------------------------------------------------------------------------------


def broadcast_by_indices(X: Array, sizes: tuple[int, ...]) -> Array:
    """output[i0, ..., iN, j0, ..., jM] = operand[j0, ..., jM]."""
    source = words(X)
    Y = np.empty((*sizes, *X.shape), source.dtype)
    for index in np.ndindex(*Y.shape):
        Y[index] = source[index[len(sizes) :]]
    return Y


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_broadcast_puts_new_dimensions_before_the_old_ones(name: str, data: st.DataObject) -> None:
    """D-XLA-6, D-ALL-4."""
    shape, sizes = data.draw(SIZES), data.draw(SIZES.filter(lambda sizes: prod(sizes) < 30))
    X = data.draw(arrays(name, shape))
    before = bits(X)
    result = xla.broadcast(X, sizes)
    assert same_words(result, broadcast_by_indices(X, sizes), name)
    assert foretold("xla.Broadcast", {"operand": X}, {"broadcast_sizes": sizes}) == describe(result)[0]
    assert bits(X) == before


def test_broadcast_repeats_the_scalar_of_the_document() -> None:
    assert xla.broadcast(np.float32(2), (2, 3)).tolist() == [[2.0] * 3] * 2
    assert xla.broadcast(np.array([1, 2]), (2,)).tolist() == [[1, 2], [1, 2]]
    assert xla.broadcast(np.array([1, 2]), ()).tolist() == [1, 2]
    assert xla.broadcast(np.array([1, 2]), (1, 0)).shape == (1, 0, 2)


# --- Collapse ----------------------------------------------------------------------------------------------


def collapse_by_indices(X: Array, dimensions: list[int]) -> Array:
    """The lowest dimension varies slowest: count up the indices of the collapsed ones, the last fastest."""
    source, (first, last) = words(X), (dimensions[0], dimensions[-1])
    sizes = X.shape[first : last + 1]
    Y = np.empty((*X.shape[:first], prod(sizes), *X.shape[last + 1 :]), source.dtype)
    for index in np.ndindex(*X.shape):
        place = 0
        for i, size in zip(index[first : last + 1], sizes, strict=True):
            place = place * size + i
        Y[(*index[:first], place, *index[last + 1 :])] = source[index]
    return Y


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_collapse_counts_the_collapsed_dimensions_the_last_one_fastest(
    name: str, data: st.DataObject
) -> None:
    """D-XLA-6, D-ALL-4."""
    shape = data.draw(SIZES.filter(len))
    X = data.draw(arrays(name, shape))
    first = data.draw(st.integers(0, len(shape) - 1))
    dimensions = list(range(first, data.draw(st.integers(first, len(shape) - 1)) + 1))
    before = bits(X)
    result = xla.collapse(X, dimensions)
    assert same_words(result, collapse_by_indices(X, dimensions), name)
    assert foretold("xla.Collapse", {"operand": X}, {"dimensions": dimensions}) == describe(result)[0]
    assert bits(X) == before


def test_collapse_gives_what_the_document_shows_with_the_right_names_of_dimensions() -> None:
    v = np.array([[[10, 11, 12], [15, 16, 17]], [[20, 21, 22], [25, 26, 27]]])
    assert xla.collapse(v, (0, 1, 2)).tolist() == [10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27]
    assert xla.collapse(v, (0, 1)).tolist() == [[10, 11, 12], [15, 16, 17], [20, 21, 22], [25, 26, 27]]
    assert xla.collapse(v, (1, 2)).tolist() == [[10, 11, 12, 15, 16, 17], [20, 21, 22, 25, 26, 27]]
    assert xla.collapse(v, (1,)).tolist() == v.tolist()


# --- Concatenate -------------------------------------------------------------------------------------------


def concatenate_by_indices(operands: list[Array], dimension: int) -> Array:
    """Each element comes from the operand in whose part of the joined dimension it lies."""
    total = sum(X.shape[dimension] for X in operands)
    shape = operands[0].shape
    sources = [words(X) for X in operands]
    Y = np.empty((*shape[:dimension], total, *shape[dimension + 1 :]), sources[0].dtype)
    for index in np.ndindex(*Y.shape):
        m, place = 0, index[dimension]
        while place >= operands[m].shape[dimension]:
            place -= operands[m].shape[dimension]
            m += 1
        Y[index] = sources[m][(*index[:dimension], place, *index[dimension + 1 :])]
    return Y


@for_each("name", EVERY_TYPE)
@LAWS
@given(data=st.data())
def test_concatenate_puts_operands_one_after_the_other(name: str, data: st.DataObject) -> None:
    """D-XLA-2, D-ALL-4."""
    shape = data.draw(SIZES.filter(len))
    dimension = data.draw(st.integers(0, len(shape) - 1))
    along = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    operands = [data.draw(arrays(name, (*shape[:dimension], n, *shape[dimension + 1 :]))) for n in along]
    before = list(map(bits, operands))
    result = xla.concatenate(operands, dimension)
    assert same_words(result, concatenate_by_indices(operands, dimension), name)
    named = {f"operands{m}": X for m, X in enumerate(operands)}
    assert foretold("xla.Concatenate", named, {"dimension": dimension}) == describe(result)[0]
    assert list(map(bits, operands)) == before


def test_concatenate_takes_any_number_of_operands() -> None:
    many = [np.full((k % 3, 2), k, np.int32) for k in range(2000)]
    expected = [[k, k] for k in range(2000) for _ in range(k % 3)]
    assert xla.concatenate(many, 0).tolist() == expected
    assert xla.concatenate(many[4:5], 0).tolist() == [[4, 4]]


def test_concatenate_gives_what_the_document_shows() -> None:
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[7, 8]])
    assert xla.concatenate([a, b], 0).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    parts = [np.array([2, 3]), np.array([4, 5]), np.array([6, 7])]
    assert xla.concatenate(parts, 0).tolist() == [2, 3, 4, 5, 6, 7]


# --- Clamp -------------------------------------------------------------------------------------------------


def is_nan(x: Any) -> bool:
    return bool(x != x)  # noqa: PLR0124  only a NaN differs from itself


def below(a: Any, b: Any) -> bool:
    """The order of IEEE 754-2019 minimum and maximum: that of numbers, and -0 below +0."""
    if a == b == 0 and not isinstance(a, np.bool_):
        return copysign(1, a) < copysign(1, b)
    return bool(a < b)


def clamp_one(x: Any, low: Any, high: Any) -> Any:
    """D-XLA-1 for one element: minimum(maximum(x, low), high)."""
    for value in (x, low, high):
        if is_nan(value):
            return value
    larger = low if below(x, low) else x
    return high if below(high, larger) else larger


def agrees(result: Array, expected: list[Any], name: str) -> bool:
    """Bit for bit; any NaN for any NaN, any true for any true."""
    if name == "pred":
        return list((result != np.False_).reshape(-1)) == [bool(x) for x in expected]
    return same_numbers(np.asarray(result), np.asarray(array(name, result.shape, expected)))


@pytest.mark.parametrize("name", ORDERED)
def test_clamp_of_all_special_values_between_all_special_bounds(name: str) -> None:
    """D-XLA-1, with arrays as bounds."""
    triples = list(product(specials(name), repeat=3))
    X, L, M = (array(name, (len(triples),), [triple[k] for triple in triples]) for k in range(3))
    result = xla.clamp(X, L, M)
    assert agrees(result, [clamp_one(*triple) for triple in triples], name)
    assert describe(result)[0] == describe(X)[0]


@pytest.mark.parametrize("name", ORDERED)
def test_clamp_with_scalar_bounds_serves_all_elements(name: str) -> None:
    """D-XLA-1: each bound is a scalar or has the operand's shape, one by one."""
    values = specials(name)
    X = array(name, (len(values),), values)
    for low, high in zip(values, [*values[3:], *values[:3]], strict=True):
        expected = [clamp_one(x, low, high) for x in values]
        one, other = array(name, (), [low]), array(name, (), [high])
        for L, M in product((one, xla.broadcast(one, X.shape)), (other, xla.broadcast(other, X.shape))):
            assert agrees(xla.clamp(X, L, M), expected, name)
        assert agrees(xla.clamp(X[:1].reshape(()), one, other), expected[:1], name)


@pytest.mark.parametrize("name", ORDERED)
@LAWS
@given(data=st.data())
def test_clamp_is_its_definition_for_any_bits_and_shapes(name: str, data: st.DataObject) -> None:
    shape = data.draw(SIZES)
    X, L, M = (data.draw(arrays(name, data.draw(st.sampled_from([shape, s])))) for s in (shape, (), ()))
    before = list(map(bits, (X, L, M)))
    result = xla.clamp(X, L, M)
    low, high = (np.broadcast_to(bound, shape).reshape(-1) for bound in (L, M))
    expected = [clamp_one(*each) for each in zip(np.asarray(X).reshape(-1), low, high, strict=True)]
    assert agrees(result, expected, name)
    assert list(map(bits, (X, L, M))) == before
    assert foretold("xla.Clamp", {"operand": X, "min": L, "max": M}, {}) == describe(result)[0]


def test_clamp_gives_what_the_document_shows_and_not_what_its_formula_says() -> None:
    """D-XLA-1: max(min(x, 0), 6) would be 6, 6, 6."""
    operand = np.array([-1, 5, 9], np.int32)
    assert xla.clamp(operand, np.int32(0), np.int32(6)).tolist() == [0, 5, 6]
    assert [max(min(x, 0), 6) for x in operand.tolist()] == [6, 6, 6]


@pytest.mark.parametrize("name", FLOATS)
def test_clamp_keeps_the_bits_of_what_it_selects(name: str) -> None:
    numbers = [x for x in specials(name) if not is_nan(x)]
    X = array(name, (len(numbers),), numbers)
    infinities = array(name, (2,), [held(name).type(-np.inf), held(name).type(np.inf)])
    assert bits(xla.clamp(X, infinities[0], infinities[1])) == bits(X)
    assert bits(xla.clamp(X, X, X)) == bits(X)


def differs(x: Any, low: Any, high: Any) -> bool:
    """Where D-CLIP-1, D-CLIP-2 and D-XLA-1 disagree, worked out by hand."""
    if is_nan(x):
        return False  # NaN for both
    if is_nan(low) or is_nan(high):
        return True  # Clip ignores such a bound, Clamp gives NaN

    def zero(value: Any, sign: int) -> bool:
        return bool(value == 0) and copysign(1, value) == sign

    # Clip's comparisons see no difference between zeros and leave the input alone; -0 < +0 for Clamp.
    raised = zero(x, -1) and zero(low, 1) and high >= 0 and not zero(high, -1)
    lowered = zero(x, 1) and zero(high, -1) and low <= 0
    # x < +0 gives Clip its min +0, though max is -0; Clamp goes on to -0.
    crossed = x < 0 and zero(low, 1) and zero(high, -1)
    return bool(raised or lowered or crossed)


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_clip_and_clamp_differ_exactly_at_nan_bounds_and_signed_zeros(name: str) -> None:
    """D-CLIP-1, D-CLIP-2, D-XLA-1."""
    values = specials(name)
    X = array(name, (len(values),), values)
    found = 0
    for low, high in product(values, repeat=2):
        L, M = array(name, (), [low]), array(name, (), [high])
        clipped, clamped = sonnx.clip(X, L, M), xla.clamp(X, L, M)
        for k, x in enumerate(values):
            unequal = not same_numbers(clipped[k : k + 1], clamped[k : k + 1])
            assert unequal == differs(x, low, high), (x, low, high)
            found += unequal
    assert found > 100


@pytest.mark.parametrize("name", ["real", *INTEGERS])
def test_clip_and_clamp_agree_where_there_are_neither_nans_nor_two_zeros(name: str) -> None:
    values = specials(name)
    X = array(name, (len(values),), values)
    for low, high in product(values, repeat=2):
        L, M = array(name, (), [low]), array(name, (), [high])
        assert bits(sonnx.clip(X, L, M)) == bits(xla.clamp(X, L, M))


MUTANTS: dict[str, Any] = {
    "the document's formula": lambda x, low, high: np.where(
        np.where(x < low, x, low) > high, np.where(x < low, x, low), high
    ),
    "comparisons alone": lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)),
    "a NaN bound is ignored": sonnx.clip,
    "zeros are equal": lambda x, low, high: np.where(
        np.isnan(x + low + high), x + low + high, sonnx.clip(x, low, high)
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_with_the_definition_catches_wrong_clamps(mutant: str) -> None:
    values = specials("f32")
    X = array("f32", (len(values),), values)
    verdicts = set()
    for low, high in product(values, repeat=2):
        with np.errstate(all="ignore"):
            wrong = np.asarray(MUTANTS[mutant](X, low, high), np.float32)
        verdicts.add(agrees(wrong, [clamp_one(x, low, high) for x in values], "f32"))
    assert False in verdicts


def test_clamp_of_more_elements_than_one_block_treats_every_element() -> None:
    many = np.arange(-40_000, 60_000, dtype=np.int32).reshape(100, 1000)
    low, high = many % 7 - 3, np.int32(10)
    expected = np.where(many < low, low, np.where(many > 10, 10, many))
    assert (xla.clamp(many, low, high) == expected).all()
    assert (xla.clamp(many[::-1, ::-1], low[::-1, ::-1], high) == expected[::-1, ::-1]).all()
    upper = many % 5 - 2
    both = np.where(expected > upper, upper, expected)
    assert (xla.clamp(many, low, upper) == both).all()


def test_clamp_does_not_care_for_the_error_state_of_numpy() -> None:
    for name in FLOATS:
        X = array(name, (len(specials(name)),), specials(name))
        with np.errstate(all="raise"):
            assert xla.clamp(X, X[::-1], X[0]).shape == X.shape


def test_a_broadcast_view_cannot_be_written_to() -> None:
    assert not xla.broadcast(np.zeros(2, np.float32), (2,)).flags.writeable
