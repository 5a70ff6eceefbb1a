"""Convolutions: which elements meet, by places counted one by one. Others say how they are added."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from tests.conformance.right.elements import FORMS, Array
from tests.conformance.right.moving import Attributes, Operands

# A place that no element has; of an axis with a zero after its last element it is this zero's.
NOWHERE = -1


@dataclass(frozen=True)
class Axis:
    """One spatial axis: the input's size, the kernel's, and how the latter slides."""

    size: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    low: int = 0
    high: int = 0
    base: int = 1

    @property
    def length(self) -> int:
        """The places that the kernel slides along."""
        dilated = (self.size - 1) * self.base + 1 if self.size > 0 else 0
        return max(dilated + self.low + self.high, 0)

    @property
    def positions(self) -> int:
        return max((self.length - (self.dilation * (self.kernel - 1) + 1)) // self.stride + 1, 0)

    def met(self, tap: int) -> list[int]:
        """The element that a tap meets at each position, or nothing."""
        return [self.element(p * self.stride + tap * self.dilation) for p in range(self.positions)]

    def element(self, place: int) -> int:
        index, between = divmod(place - self.low, self.base)
        return index if between == 0 and 0 <= index < self.size else NOWHERE


@dataclass(frozen=True)
class Term:
    """One product of every sum: `x` by batch, channel (one for all, or each its own) and positions; `w`
    by channel. `inserted` tells by positions where the tap meets a zero of the padding."""

    x: Array
    w: Array
    inserted: Array


@dataclass(frozen=True)
class Problem:
    """A convolution; its elements are of the type of X."""

    X: Array
    W: Array
    B: Array | None
    axes: tuple[Axis, ...]
    group: int = 1

    @property
    def held(self) -> np.dtype[Any]:
        """The type of products and sums; whole numbers are added modulo 2^64."""
        if self.X.dtype not in FORMS:
            return np.dtype(np.uint64)
        return np.dtype(np.float64 if self.X.dtype == np.float64 else np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.X), len(self.W), *(axis.positions for axis in self.axes))

    @property
    def start(self) -> Array:
        """What sums begin with, by channel."""
        B = np.zeros(len(self.W), self.X.dtype) if self.B is None else self.B
        return self.channelwise(_wide(B, self.held))

    def channelwise(self, values: Array) -> Array:
        return values.reshape(1, len(self.W), *(1,) * len(self.axes))

    def terms(self) -> Iterator[Term]:
        """In the specified order: input channel by input channel, the last axis of the kernel fastest."""
        X, W = _wide(self.X, self.held), _wide(self.W, self.held)
        X = np.pad(X, [(0, 0), (0, 0), *[(0, 1)] * len(self.axes)])
        for channel in range(W.shape[1]):
            x = X[:, self.channels(channel)]
            for taps in product(*(range(axis.kernel) for axis in self.axes)):
                met = [axis.met(tap) for axis, tap in zip(self.axes, taps, strict=True)]
                window, inserted = x, np.zeros((), bool)
                for number, places in enumerate(met):
                    window = np.take(window, np.array(places, np.int64), axis=2 + number)
                    inserted = inserted[..., None] | (np.array(places, np.int64) == NOWHERE)
                yield Term(window, self.channelwise(W[(slice(None), channel, *taps)]), inserted)

    def channels(self, channel: int) -> list[int]:
        """The input channel of each output channel that the weights of this number belong to."""
        if self.group == 1:
            return [channel]
        outputs, inputs = len(self.W) // self.group, self.X.shape[1] // self.group
        return [output // outputs * inputs + channel for output in range(len(self.W))]


def _wide(array: Array, held: np.dtype[Any]) -> Array:
    return array.astype(np.int64).view(held) if array.dtype.kind == "i" else array.astype(held)


Fold = Callable[[Problem, Sequence[Term]], Array]
Narrow = Callable[[Array, np.dtype[Any]], Array]


def narrowed(total: Array, kind: np.dtype[Any]) -> Array:
    """Sums as elements of a type: floats rounded, whole numbers by their low bits."""
    if kind not in FORMS:
        return total.view(np.int64).astype(kind)
    with np.errstate(all="ignore"):
        return _bfloat16(total.astype(np.float32)) if kind == ml_dtypes.bfloat16 else total.astype(kind)


def _bfloat16(total: Array) -> Array:
    """The upper half of a float; the lower one rounds it, ties to even."""
    raw = total.view(np.uint32)
    rounded = (raw + np.uint32(0x7FFF) + ((raw >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = (raw >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(total), nan, rounded).astype(np.uint16).view(ml_dtypes.bfloat16)


def convolved(problem: Problem, fold: Fold, terms: Sequence[Term] | None = None) -> Array:
    with np.errstate(all="ignore"):
        found = fold(problem, list(problem.terms()) if terms is None else terms)
        total = np.ascontiguousarray(np.broadcast_to(found, problem.shape))
    return narrowed(total, problem.X.dtype)


# --- the three operators -----------------------------------------------------------------------------------


def conv(operands: Operands, attributes: Attributes) -> Problem:
    X, W = operands["X"], operands["W"]
    pads = attributes["pads"]
    axes = [
        Axis(X.shape[2 + a], W.shape[2 + a], attributes["strides"][a], attributes["dilations"][a], *ends)
        for a, ends in enumerate([(pads[0], pads[2]), (pads[1], pads[3])])
    ]
    return Problem(X, W, operands.get("B"), tuple(axes), attributes["group"])


def xla_conv(operands: Operands, attributes: Attributes) -> Problem:
    X, W = operands["lhs"], operands["rhs"]
    axes = []
    for size, kernel, stride in zip(X.shape[2:], W.shape[2:], attributes["window_strides"], strict=True):
        positions = -(-size // stride)
        zeros = max((positions - 1) * stride + kernel - size, 0)
        low = zeros // 2 if attributes["padding"] == "SAME" else 0
        high = zeros - low if attributes["padding"] == "SAME" else 0
        axes.append(Axis(size, kernel, stride, 1, low, high))
    return Problem(X, W, None, tuple(axes))


def xla_general(operands: Operands, attributes: Attributes) -> Problem:
    X, W = operands["lhs"], operands["rhs"]
    names = ("window_strides", "rhs_dilation", "padding", "lhs_dilation")
    axes = [
        Axis(size, kernel, stride, dilation, low, high, base)
        for size, kernel, stride, dilation, (low, high), base in zip(
            X.shape[2:], W.shape[2:], *(attributes[name] for name in names), strict=True
        )
    ]
    return Problem(X, W, None, tuple(axes))


PROBLEMS: dict[str, Callable[[Operands, Attributes], Problem]] = {
    "conv": conv,
    "xla.conv": xla_conv,
    "xla.conv_with_general_padding": xla_general,
}
