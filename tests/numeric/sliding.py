"""The windows that tests of sums use: one spatial axis, stride 1."""

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from sonnx.numeric.windows import Windows

Array = NDArray[Any]


def sliding(groups: int, taps: int, positions: int) -> Windows:
    """One spatial axis, stride 1, no padding: terms in the order channel, tap (D-CONV-6)."""

    def cut(x: Array) -> Iterator[Array]:
        grouped = x.reshape(len(x), groups, x.shape[1] // groups, x.shape[2])
        for channel in range(grouped.shape[2]):
            for tap in range(taps):
                yield grouped[:, :, channel, tap : tap + positions]

    return Windows(cut, (positions,))
