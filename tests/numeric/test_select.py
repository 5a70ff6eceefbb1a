"""Selection keeps every bit of the element it takes."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sonnx.numeric.select import select

pytestmark = pytest.mark.measured

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16"]


@pytest.mark.parametrize("held", [*TYPES, ml_dtypes.bfloat16])
def test_every_pattern_of_bits_is_moved_as_it_is(held: Any) -> None:
    generator = np.random.default_rng(3)
    size = np.dtype(held).itemsize
    x, y = generator.integers(0, 256, (2, 4000, size), dtype=np.uint8)
    condition = generator.integers(0, 2, 4000).astype(bool)
    taken = select(condition, x.view(held)[:, 0], y.view(held)[:, 0])
    expected = [x[i].tolist() if condition[i] else y[i].tolist() for i in range(4000)]
    assert np.ascontiguousarray(taken).view(np.uint8).reshape(-1, size).tolist() == expected
    assert taken.dtype == np.dtype(held)


def test_zeros_keep_their_signs_and_nans_their_payloads() -> None:
    x = np.array([0x80000000, 0x7F800001, 0xFFC12345], dtype=np.uint32)
    y = np.array([0x00000000, 0x7FC00000, 0x3F800000], dtype=np.uint32)
    for flag, bits in ((True, x), (False, y)):
        taken = select(np.full(3, flag), x.view(np.float32), y.view(np.float32))
        assert taken.view(np.uint32).tolist() == bits.tolist()


def test_booleans_reals_and_strings_are_selected() -> None:
    condition = np.array([True, False])
    assert select(condition, np.array([True, True]), np.array([False, False])).tolist() == [True, False]
    reals = np.array([Fraction(1), Fraction(2)], dtype=object)
    assert select(condition, reals, -reals).tolist() == [Fraction(1), Fraction(-2)]
    words = np.array(["a", "b"], dtype=object)
    assert select(condition, words, words[::-1]).tolist() == ["a", "a"]


def test_one_element_without_axes_stands_for_all() -> None:
    x, bound = np.array([1.0, np.nan, 3.0]), np.array(-0.0)
    assert select(x > 2, bound, x)[2].hex() == (-0.0).hex()
    assert select(x > 2, x, bound).tolist() == [-0.0, -0.0, 3.0]


def test_an_element_without_any_bit_stands_for_all_too() -> None:
    x = np.array([0x80000000, 0x7F800001, 0x00000000, 0x3F800000], np.uint32).view(np.float32)
    zero, minus = np.array(0, np.float32), np.array(-0.0, np.float32)
    condition = np.array([True, False, False, True])
    asked = [(zero, x, [0, 0x7F800001, 0, 0]), (x, zero, [0x80000000, 0, 0, 0x3F800000])]
    asked += [(zero, minus, [0, 0x80000000, 0x80000000, 0]), (zero, zero, [0, 0, 0, 0])]
    for first, second, expected in asked:
        assert select(condition, first, second).view(np.uint32).tolist() == expected
        out = np.ones(4, np.float32)
        assert np.shares_memory(select(condition, first, second, out), out)
        assert out.view(np.uint32).tolist() == expected
    true: Any = np.bool_(True)  # what comparing arrays without axes gives
    assert select(true, minus, zero).view(np.uint32) == select(~true, zero, minus).view(np.uint32) == 2**31
    along, across = np.array([[True], [False]]), np.array([[1.5, 2.5, 3.5]])
    assert select(along, np.array(0.0), across).tolist() == [[0, 0, 0], [1.5, 2.5, 3.5]]
    assert select(along, across, -across).tolist() == [[1.5, 2.5, 3.5], [-1.5, -2.5, -3.5]]


def test_empty_and_strided_arrays_are_selected() -> None:
    assert select(np.zeros((0, 2), bool), np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)
    grid = np.arange(6.0).reshape(2, 3).T
    assert select(grid > 2, grid, -grid).tolist() == [[0.0, 3.0], [-1.0, 4.0], [-2.0, 5.0]]
