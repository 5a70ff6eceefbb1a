"""Elementwise functions applied block by block."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sonnx.numeric import blocks
from sonnx.numeric.blocks import by_blocks

Array = NDArray[Any]


def choose(condition: Array, x: Array, y: Array, out: Array) -> None:
    out[...] = np.where(condition, x, y)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 6, 7])
def test_every_element_is_handled_once_whatever_the_number_of_blocks(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 3 * 8)
    seen: list[list[int]] = []

    def negate(x: Array, out: Array) -> None:
        seen.append(x.tolist())
        out[...] = -x

    assert by_blocks(negate, np.arange(size, dtype=np.int64)).tolist() == [-value for value in range(size)]
    assert [value for block in seen for value in block] == list(range(size))
    assert all(len(block) <= 3 for block in seen)


def test_the_result_has_the_shape_and_the_dtype_of_the_last_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2 * 2)
    x = np.arange(6, dtype=np.int16).reshape(3, 2).T
    result = by_blocks(choose, x % 2 == 0, x.astype(np.int32), -x)
    assert result.tolist() == [[0, 2, 4], [-1, -3, -5]]
    assert result.dtype == np.int16


def test_an_array_without_axes_and_one_of_objects_are_handled() -> None:
    single = by_blocks(choose, np.array(True), np.array(1.5), np.array(2.5))
    assert single.shape == ()
    assert float(single) == 1.5
    words = np.array(["a", "b"], dtype=object)
    assert by_blocks(choose, np.array([True, False]), words, words[::-1]).tolist() == ["a", "a"]
