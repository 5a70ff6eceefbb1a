"""The views that a convolution sums over."""

import pytest

from sonnx.numeric.windows import Windows


@pytest.mark.parametrize(("positions", "points"), [((), 1), ((5,), 5), ((2, 3), 6), ((4, 0, 2), 0)])
def test_the_number_of_points_is_the_product_of_the_positions(
    positions: tuple[int, ...], points: int
) -> None:
    windows = Windows(lambda x: [x], positions)
    assert windows.points == points
    assert type(windows.points) is int
