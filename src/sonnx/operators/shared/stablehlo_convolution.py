"""The convolution for XLA, for every operator that has one: sums of any order, zeros really inserted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sonnx.mlir.operations import (
    ExportError,
    Tensor,
    barrier,
    concatenate,
    convert,
    type_text,
    zeros,
)
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.products import ACCUMULATOR
from sonnx.operators.shared.convolution import Axis, output_sizes, places

# Each takes some lines of the text; a model of a few bytes can ask for very many.
_MOST_GROUPS = 4096
# Without it engines with matrix units multiply in fewer bits than the type has.
_PRECISION = "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"


@dataclass(frozen=True)
class _Spread:
    """What is left to do to a base area of which nothing is taken away any more: spread, then pad."""

    steps: tuple[int, ...]
    ends: tuple[tuple[int, int], ...]

    @property
    def between(self) -> bool:
        """Tell whether any zero is inserted between elements."""
        return any(step > 1 for step in self.steps)

    @property
    def around(self) -> bool:
        """Tell whether any zero is inserted before or after them."""
        return any(map(any, self.ends))

    def sizes(self, base: Sequence[int]) -> list[int]:
        """The sizes that it makes of those of a base area."""
        along = zip(base, self.steps, self.ends, strict=True)
        return [low + (size - 1) * step + 1 + high for size, step, (low, high) in along]


def convolution(X: Tensor, W: Tensor, axes: Sequence[Axis], group: int) -> Tensor:
    """Sum the products in the type of the accumulator, which the result has (D-CONV-6, D-XLA-5)."""
    dtype = ACCUMULATOR[X.dtype]
    positions = output_sizes(X.shape[2:], axes)
    shape = (X.shape[0], W.shape[0], *positions)
    if 0 in shape:  # where a window does not fit, its numbers may be larger than any engine expects
        return zeros(X.block, dtype, shape)
    base, spread = _kept(X, axes)
    base, weights = convert(base, dtype), convert(W, dtype)
    if dtype in INTEGERS:
        # What XLA finds out while it compiles, from parts that are constant or cut away, it saturates.
        base = barrier(base)
    # XLA ends the whole process over some convolutions that are to insert zeros between elements themselves.
    if spread.between or (spread.around and not _harmless(W)):
        base, spread = _inserted(base, spread)
    if group > 1 and dtype is DType.DOUBLE:
        return _apart(base, weights, spread, axes, group, shape)
    return _convolution(base, weights, spread, axes, group, shape)


def _apart(
    X: Tensor, W: Tensor, spread: _Spread, axes: Sequence[Axis], group: int, shape: tuple[int, ...]
) -> Tensor:
    """Each group by itself: of doubles XLA makes one sum over all, with zeros, and 0·inf is NaN."""
    if group > _MOST_GROUPS:
        raise ExportError(
            f"of a convolution of doubles at most {_MOST_GROUPS} groups are written, not {group}"
        )
    parts = []
    made = (shape[0], shape[1] // group, *shape[2:])
    for number in range(group):
        base, kernel = _part(X, 1, group, number), _part(W, 0, group, number)
        parts.append(_convolution(base, kernel, spread, axes, 1, made))
    return concatenate(parts, 1, shape)


def _part(X: Tensor, axis: int, group: int, number: int) -> Tensor:
    size = X.shape[axis] // group
    taken = [slice(0, whole) for whole in X.shape]
    taken[axis] = slice(number * size, (number + 1) * size)
    return _slice(X, taken, tuple(part.stop - part.start for part in taken))


def _harmless(W: Tensor) -> bool:
    """Tell whether zeros times these weights are certainly 0: only then may an engine leave them out."""
    return W.dtype in INTEGERS or (W.value is not None and bool(np.isfinite(W.value).all()))


def _kept(X: Tensor, axes: Sequence[Axis]) -> tuple[Tensor, _Spread]:
    """The elements that negative padding leaves; what remains to be padded is then positive and short."""
    sizes = X.shape[2:]
    found = [places(size, axis) for size, axis in zip(sizes, axes, strict=True)]
    taken = [slice(0, size) for size in X.shape[:2]] + [place[1] for place in found]
    shape = tuple(part.stop - part.start for part in taken)
    padded = [axis.padded_size(size) for size, axis in zip(sizes, axes, strict=True)]
    # Of one element, or of none, the distance to the next says nothing, however large it is.
    steps = tuple(axis.base_dilation if size > 1 else 1 for size, axis in zip(shape[2:], axes, strict=True))
    ends = tuple((place[0].start, size - place[0].stop) for place, size in zip(found, padded, strict=True))
    return (X if shape == X.shape else _slice(X, taken, shape)), _Spread(steps, ends)


def _slice(X: Tensor, taken: Sequence[slice], shape: tuple[int, ...]) -> Tensor:
    ranges = ", ".join(f"{part.start}:{part.stop}" for part in taken)
    text = f"stablehlo.slice {X.name} [{ranges}] : ({X.type}) -> {type_text(X.dtype, shape)}"
    return X.block.add(text, X.dtype, shape)


def _inserted(X: Tensor, spread: _Spread) -> tuple[Tensor, _Spread]:
    """Insert the zeros before the convolution: inside it engines leave them out, and 0·inf with them."""
    shape = (*X.shape[:2], *spread.sizes(X.shape[2:]))
    low, high = ([0, 0, *(pair[end] for pair in spread.ends)] for end in (0, 1))
    interior = [0, 0, *(step - 1 for step in spread.steps)]
    zero = zeros(X.block, X.dtype, ())
    text = f"stablehlo.pad {X.name}, {zero.name}, low = {low}, high = {high}, interior = {interior}"
    padded = X.block.add(f"{text} : ({X.type}, {zero.type}) -> {type_text(X.dtype, shape)}", X.dtype, shape)
    # A barrier, lest the padding be drawn into the convolution again.
    return barrier(padded), _Spread((1,) * len(spread.steps), ((0, 0),) * len(spread.ends))


def _convolution(
    X: Tensor, W: Tensor, spread: _Spread, axes: Sequence[Axis], group: int, shape: tuple[int, ...]
) -> Tensor:
    spatial = "".join(f", {axis}" for axis in range(len(axes)))
    dimensions = f"[b, f{spatial}]x[o, i{spatial}]->[b, f{spatial}]"
    # A step or distance that is never gone says nothing, however large it is.
    strides = [min(axis.stride, size) for axis, size in zip(axes, spread.sizes(X.shape[2:]), strict=True)]
    taps = [axis.dilation if axis.kernel > 1 else 1 for axis in axes]
    window = f"stride = {strides}, pad = {list(map(list, spread.ends))}, rhs_dilate = {taps}"
    groups = f"batch_group_count = 1 : i64, feature_group_count = {group} : i64"
    made = type_text(X.dtype, shape)
    text = (
        f"stablehlo.convolution({X.name}, {W.name}) dim_numbers = {dimensions}, window = {{{window}}} "
        f"{{{groups}, {_PRECISION}}} : ({X.type}, {W.type}) -> {made}"
    )
    return X.block.add(text, X.dtype, shape)
