"""The convolution of any number of spatial axes: output sizes, base area, windows, and the sum itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, zero
from sonnx.numeric.products import sum_of_products
from sonnx.numeric.windows import Windows
from sonnx.terms.tensors import Given, Made, fold, tensor
from sonnx.terms.term import Term, Truth
from sonnx.terms.words import narrow, plus_product, select, wide


@dataclass(frozen=True)
class Axis:
    """How a kernel of `kernel` taps slides along one spatial axis.

    `begin` and `end` count the zeros put before and after the input, negative where elements are taken away;
    `base_dilation` is the distance of the input's elements once zeros have been put between them.
    """

    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0
    base_dilation: int = 1

    @property
    def extent(self) -> int:
        """The length of input that one position of the kernel spans."""
        return self.dilation * (self.kernel - 1) + 1

    def padded_size(self, size: int) -> int:
        """The length that the kernel slides along: dilated first, then padded; never less than nothing."""
        dilated = self.base_dilation * (size - 1) + 1 if size else 0
        return max(dilated + self.begin + self.end, 0)

    def output_size(self, size: int) -> int:
        """The number of positions on an input of `size` (D-CONV-1); 0 or less where it does not fit."""
        return (self.padded_size(size) - self.extent) // self.stride + 1

    def same_total(self, size: int) -> int:
        """The zeros that an input needs for ceil(size / stride) positions (D-CONV-8, D-XLA-4)."""
        positions = -(-size // self.stride)
        return max((positions - 1) * self.stride + self.extent - size, 0)

    def same(self, size: int) -> "Axis":
        """The axis with these zeros at both ends; an odd one goes to the end."""
        total = self.same_total(size)
        return replace(self, begin=total // 2, end=total - total // 2)


def output_sizes(sizes: Sequence[int], axes: Sequence[Axis]) -> tuple[int, ...]:
    """The positions along every axis, none where the kernel does not fit."""
    return tuple(max(axis.output_size(size), 0) for size, axis in zip(sizes, axes, strict=True))


def pad(X: Array, axes: Sequence[Axis], dtype: DType) -> Array:
    """Insert zeros between, before and after elements; they take part in the sum (D-CONV-5, D-XLA-5)."""
    pairs = list(zip(X.shape[2:], axes, strict=True))
    sizes = [axis.padded_size(size) for size, axis in pairs]
    padded = np.full((*X.shape[:2], *sizes), zero(dtype), dtype=X.dtype)
    found = [places(size, axis) for size, axis in pairs]
    everything = (slice(None), slice(None))
    into, taken = (tuple(place[part] for place in found) for part in (0, 1))
    padded[everything + into] = X[everything + taken]
    return padded


def places(size: int, axis: Axis) -> tuple[slice, slice]:
    """Where an input's elements lie in the padded one, and which of them are not taken away."""
    step = axis.base_dilation
    # Element i lies at begin + i·step; those from 0 up to the padded size remain.
    first = max(0, -(axis.begin // step))
    last = min(size, -((axis.begin - axis.padded_size(size)) // step))
    if last <= first:
        return slice(0, 0), slice(0, 0)
    start = axis.begin + first * step
    return slice(start, start + (last - first - 1) * step + 1, step), slice(first, last)


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
    return slice(first, first + (count - 1) * axis.stride + 1, axis.stride) if count else slice(0, 0)


def convolve(
    X: Array, W: Array, B: Array, axes: Sequence[Axis], group: int, dtype: DType, accumulate: str
) -> Array:
    """Y[b,c,p] = B[c] + Σ_channel Σ_tap padded X[b,channel,p·stride+tap·dilation] · W[c,channel,tap]."""
    out_channels = W.shape[0]
    positions = output_sizes(X.shape[2:], axes)
    Y = sum_of_products(
        pad(X, axes, dtype),
        windows(axes, positions, group),
        W.reshape(group, out_channels // group, int(np.prod(W.shape[1:], dtype=np.int64))),
        B.reshape(group, out_channels // group),
        dtype,
        accumulate,
    )
    return Y.reshape(X.shape[0], out_channels, *positions)


def convolution(X: Given, W: Given, B: Given | None, axes: Sequence[Axis], group: int = 1) -> Made:
    """Y[b,c,m] = B[c] + Σ_z Σ_k X'[b,z,m·stride+k·dilation] · W[c,z,k], where X' is X dilated, then padded.

    The sum is taken in that order, in the wide type, from the bias or from 0 (D-CONV-6, D-XLA-5).
    """
    outputs, channels, *kernel = W.shape

    def at(b: Term, c: Term, *m: Term) -> Term:
        first = c // (outputs // group) * channels if group > 1 else 0

        def step(s: Term, z: Term, *k: Term) -> Term:
            met = [m_ * axis.stride + k_ * axis.dilation for m_, k_, axis in zip(m, k, axes, strict=True)]
            return plus_product(s, wide(padded(X, (b, z + first), met, axes)), wide(W[c, z, *k]))

        return narrow(fold((channels, *kernel), wide(0 if B is None else B[c]), step))

    return tensor((X.shape[0], outputs, *output_sizes(X.shape[2:], axes)), at)


def padded(X: Given, leading: tuple[Term, Term], places: Sequence[Term], axes: Sequence[Axis]) -> Term:
    """The element of X, dilated, then padded, at these places; zeros are elements too (D-CONV-5, D-XLA-5).

    Only where zeros are it is asked whether one is met.
    """
    is_element: Truth = True
    indices = []
    for place, axis, size in zip(places, axes, X.shape[2:], strict=True):
        dilated = place - axis.begin
        found = dilated // axis.base_dilation
        if axis.begin > 0:
            is_element = is_element & (found >= 0)
        if axis.end > 0:
            is_element = is_element & (found < size)
        if axis.base_dilation > 1:
            is_element = is_element & (dilated % axis.base_dilation == 0)
        indices.append(found)
    return select(is_element, X[*leading, *indices], 0)
