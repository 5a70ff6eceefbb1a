"""The view of a tensor that a convolution sums over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from sonnx.numeric.arrays import Array


@dataclass(frozen=True)
class Windows:
    """Windows (batch, group, *positions) into an array (batch, channel, …), in the order of addition."""

    cut: Callable[[Array], Iterable[Array]]
    positions: tuple[int, ...]

    @property
    def points(self) -> int:
        """The number of positions."""
        return int(np.prod(self.positions, dtype=np.int64))
