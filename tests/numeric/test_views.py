"""Views with strides of one's own: the same elements wherever they lie, and nobody writes to them."""

from typing import Any

import numpy as np
import pytest

from sonnx.numeric.arrays import Array
from sonnx.numeric.views import strided

pytestmark = pytest.mark.measured


def lines(dtype: Any) -> Array:
    return np.arange(12).reshape(3, 4).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_elements_are_read_at_the_strides_from_the_first_index_on(dtype: Any) -> None:
    array = lines(dtype)
    down, along = array.strides
    # Worked out by hand: element [i, j] of the view is array[1 + i, 1 + 2 j], then each line twice.
    assert strided(array, (1, 1), (2, 2), (down, 2 * along)).tolist() == [[5, 7], [9, 11]]
    assert strided(array, (2, 0), (2, 3), (0, along)).tolist() == [[8, 9, 10], [8, 9, 10]]


@pytest.mark.parametrize("array", [lines(np.float32), lines(np.float32).T, lines(object)])
def test_a_view_shares_memory_that_nobody_may_write_through_it(array: Array) -> None:
    view = strided(array, (0, 1), (2, 2), array.strides)
    assert view.tolist() == array[:2, 1:3].tolist()
    assert np.shares_memory(view, array)
    assert not view.flags.writeable


def test_an_array_without_axes_stays_one() -> None:
    view = strided(np.array(3, np.float32), (), (2,), (0,))
    assert view.tolist() == [3, 3]


def test_of_memory_that_is_not_the_arrays_there_is_no_view() -> None:
    with pytest.raises(ValueError, match="strides"):
        strided(lines(np.float32), (0, 0), (4, 4), (16, 4))
