"""The convolution of any number of spatial axes: output sizes, padding, windows, and the sum itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, zero
from sonnx.numeric.products import sum_of_products
from sonnx.numeric.windows import Windows


@dataclass(frozen=True)
class Axis:
    """How a kernel of `kernel` taps slides along one spatial axis."""

    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def extent(self) -> int:
        """The length of input that one position of the kernel spans."""
        return self.dilation * (self.kernel - 1) + 1

    def output_size(self, size: int) -> int:
        """The number of positions on an input of `size` (D-CONV-1); 0 or less where it does not fit."""
        return (size + self.begin + self.end - self.extent) // self.stride + 1


def pad(X: Array, axes: Sequence[Axis], dtype: DType) -> Array:
    """Insert zeros before and after every spatial axis; they take part in the sum (D-CONV-5)."""
    sizes = [size + axis.begin + axis.end for size, axis in zip(X.shape[2:], axes, strict=True)]
    padded = np.full((*X.shape[:2], *sizes), zero(dtype), dtype=X.dtype)
    inner = [slice(axis.begin, axis.begin + size) for size, axis in zip(X.shape[2:], axes, strict=True)]
    padded[(slice(None), slice(None), *inner)] = X
    return padded


def windows(axes: Sequence[Axis], positions: tuple[int, ...], group: int) -> Windows:
    """One window a term, in the order of summation: input channel, then the kernel's axes (D-CONV-6)."""

    def cut(padded: Array) -> Iterator[Array]:
        batch, channels, *sizes = padded.shape
        grouped = padded.reshape(batch, group, channels // group, *sizes)
        for channel in range(channels // group):
            for taps in product(*(range(axis.kernel) for axis in axes)):
                along = tuple(map(_along, taps, axes, positions))
                yield grouped[:, :, channel][(slice(None), slice(None), *along)]

    return Windows(cut, positions)


def _along(tap: int, axis: Axis, count: int) -> slice:
    """What one tap of the kernel meets: position p·stride + tap·dilation for every output position p."""
    first = tap * axis.dilation
    return slice(first, first + (count - 1) * axis.stride + 1, axis.stride)


def convolve(
    X: Array, W: Array, B: Array, axes: Sequence[Axis], group: int, dtype: DType, accumulate: str
) -> Array:
    """Y[b,c,p] = B[c] + Σ_channel Σ_tap padded X[b,channel,p·stride+tap·dilation] · W[c,channel,tap]."""
    out_channels = W.shape[0]
    positions = tuple(axis.output_size(size) for size, axis in zip(X.shape[2:], axes, strict=True))
    Y = sum_of_products(
        pad(X, axes, dtype),
        windows(axes, positions, group),
        W.reshape(group, out_channels // group, int(np.prod(W.shape[1:], dtype=np.int64))),
        B.reshape(group, out_channels // group),
        dtype,
        accumulate,
    )
    return Y.reshape(X.shape[0], out_channels, *positions)
