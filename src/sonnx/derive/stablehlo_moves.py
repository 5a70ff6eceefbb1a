"""Boxes of a move as operations of StableHLO: slices, reversed, transposed, repeated, and then joined."""

from collections.abc import Callable, Sequence
from math import prod

from sonnx.derive.boxes import Box, Read, element_strides
from sonnx.mlir import operations as hlo
from sonnx.mlir.operations import Tensor
from sonnx.model.dtype import DType


def joined(found: Sequence[Box], source: Callable[[Box], Tensor], rank: int) -> Tensor:
    """The boxes of a result, given in C order, as one tensor."""
    parts = {box.begin: source(box) for box in found}
    for axis in reversed(range(rank)):
        rows: dict[tuple[int, ...], list[Tensor]] = {}
        for begin, part in parts.items():
            rows.setdefault(begin[:axis], []).append(part)
        parts = {begin: _row(row, axis) for begin, row in rows.items()}
    return parts[()]


def _row(row: Sequence[Tensor], axis: int) -> Tensor:
    if len(row) == 1:
        return row[0]
    first = row[0].shape
    shape = (*first[:axis], sum(part.shape[axis] for part in row), *first[axis + 1 :])
    return hlo.moved(lambda *parts: hlo.concatenate(parts, axis, shape), *row)


def placed(x: Tensor, read: Read, box: Box) -> Tensor:
    """The elements of a box: those of an operand at affine indices, all of which lie on its axes."""
    if read.flat:
        return _contiguous(x, read, box)
    used = [name for each in read.indices for name in each.factors]
    if len(set(used)) < len(used) or any(len(each.factors) > 1 for each in read.indices):
        return _gathered(x, read, element_strides(x.shape), box)
    ends = list(read.extremes(box))
    # A single element has no direction.
    steps = [
        next(iter(each.factors.values())) if low < high else 1
        for each, (low, high) in zip(read.indices, ends, strict=True)
    ]
    ranges = [(low, high + 1, abs(step)) for (low, high), step in zip(ends, steps, strict=True)]
    if ranges != [(0, size, 1) for size in x.shape]:
        x = hlo.moved(lambda bits: hlo.sliced(bits, ranges), x)
    backwards = [axis for axis, step in enumerate(steps) if step < 0]
    if backwards:
        x = hlo.moved(lambda bits: hlo.reversed_along(bits, backwards), x)
    names = (next(iter(each.factors), None) for each in read.indices)
    return _spread(x, [None if name is None else box.names.index(name) for name in names], box)


def _spread(x: Tensor, axes: Sequence[int | None], box: Box) -> Tensor:
    """A tensor whose axes are those of a box, in any order, or have size 1 and vanish."""
    kept = [axis for axis in axes if axis is not None]
    sizes = [size for size, axis in zip(x.shape, axes, strict=True) if axis is not None]
    if len(kept) < len(axes):
        shape = tuple(sizes)
        x = hlo.moved(lambda bits: hlo.reshape(bits, shape), x)
    if kept != sorted(kept):
        order = sorted(range(len(kept)), key=kept.__getitem__)
        x = hlo.moved(lambda bits: hlo.transposed(bits, order), x)
    return hlo.repeated(x, box.sizes, sorted(kept))


def _contiguous(x: Tensor, read: Read, box: Box) -> Tensor:
    """Elements that follow one another in C order, or else any."""
    (first,), along = read.first(box), read.along((1,), box)
    strides = element_strides(box.sizes)
    if any(step != stride for step, stride, size in zip(along, strides, box.sizes, strict=True) if size > 1):
        return _gathered(x, read, (1,), box)
    count, total = prod(box.sizes), prod(x.shape)
    if count < total:
        flat = hlo.moved(lambda bits: hlo.reshape(bits, (total,)), x)
        x = hlo.moved(lambda bits: hlo.sliced(bits, [(first, first + count, 1)]), flat)
    return x if x.shape == box.sizes else hlo.moved(lambda bits: hlo.reshape(bits, box.sizes), x)


def _gathered(x: Tensor, read: Read, strides: Sequence[int], box: Box) -> Tensor:
    """Elements at places that are affine in the indices of a box."""
    first = sum(at * stride for at, stride in zip(read.first(box), strides, strict=True))
    places = hlo.splat(Tensor(x.block, "", DType.INT64, box.sizes), first)
    for axis, step in enumerate(read.along(strides, box)):
        if step:
            index = hlo.iota(x.block, DType.INT64, box.sizes, axis)
            places = hlo.elementwise("add", places, hlo.with_number("multiply", index, step))
    return gathered(x, places)


def gathered(x: Tensor, places: Tensor) -> Tensor:
    """The elements of a tensor at places in C order."""
    return hlo.moved(lambda bits: hlo.taken(hlo.reshape(bits, (prod(x.shape),)), places), x)
