"""Trials of Conv: SAME and VALID on many shapes, special values, sums; and the clauses for an element."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.convolution_trials import (
    Rulings,
    convolution_clauses,
    drawn_elements,
    drawn_slide,
    random_axis,
    random_elements,
    with_special,
)
from sonnx.operators.xla.conv_with_general_padding.geometry import (
    LEADING,
    SAME,
    VALID,
    general_attributes,
    sliding,
)
from sonnx.operators.xla.conv_with_general_padding.trials import (
    DRAWN_HELD,
    MOST_SPATIAL,
    TINY_TEXT,
    tiny_operands,
    twice,
    value_trials,
    whole_operands,
)
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import Random, Shape
from sonnx.vocabulary.trial import Clause, Trial

_NAME = "xla.conv"
_RULINGS = Rulings(zeros="D-XLA-5", padding="D-XLA-4", places="D-XLA-5", order="D-XLA-5")
_RANDOM = 24


def _rules(*labels: str) -> tuple[str, ...]:
    return (*(f"{_NAME}.{label}" for label in labels), "D-XLA-4")


_TYPES = _rules("lhs.D1", "rhs.D1", "output.D2", "output.D1", "rhs.D2", "rhs.D3", "padding.D1")
_STRIDES, _POINT, _EMPTY = _rules("window_strides.D1"), _rules("rhs.D4"), _rules("output.D1")
# Those that are tried with other elements too.
_USUAL = ("three-by-three", "three-by-three-by-two")
_SMALL = ("three-by-three-by-two", "unlike-strides")
# The operands' shapes, the strides and what is at its edge; each with both words for the padding.
_SIZES: Mapping[str, tuple[Shape, Shape, Shape, tuple[str, ...]]] = {
    "no-spatial-dimension": ((2, 3), (4, 3), (), _rules("lhs.D2")),
    "one-element": ((1, 1, 1), (1, 1, 1), (1,), _POINT),
    "one-spatial-dimension": ((1, 2, 6), (3, 2, 3), (1,), _TYPES),
    "odd-zero-to-the-high-end": ((1, 2, 6), (3, 2, 2), (1,), _TYPES),
    "three-zeros": ((1, 2, 6), (3, 2, 4), (1,), _TYPES),
    "two-spatial-dimensions": ((1, 2, 5, 6), (3, 2, 3, 2), (1, 1), _TYPES),
    "three-spatial-dimensions": ((1, 2, 3, 4, 3), (2, 2, 2, 2, 1), (1, 1, 1), _TYPES),
    "four-spatial-dimensions": ((1, 1, 2, 3, 2, 3), (2, 1, 2, 1, 2, 2), (1, 1, 1, 1), _TYPES),
    "pointwise": ((2, 5, 3, 4), (7, 5, 1, 1), (1, 1), _POINT),
    "pointwise-with-strides": ((1, 2, 5, 7), (2, 2, 1, 1), (2, 3), (*_POINT, *_STRIDES)),
    "window-as-large-as-base": ((2, 3, 4, 3), (2, 3, 4, 3), (1, 1), _POINT),
    "window-larger-than-base": ((1, 2, 3), (2, 2, 5), (1,), _EMPTY),
    "window-larger-in-one-dimension": ((1, 2, 3, 5), (2, 2, 4, 2), (1, 1), _EMPTY),
    "batch-of-three": ((3, 2, 4, 4), (2, 2, 2, 3), (1, 1), _TYPES),
    "many-features": ((1, 4, 3, 3), (16, 4, 2, 2), (1, 1), _TYPES),
    "line-of-many-features": ((1, 33, 16), (5, 33, 2), (1,), _TYPES),
    "line-to-many-features": ((1, 2, 33), (65, 2, 3), (1,), _TYPES),
    "three-by-three": ((1, 4, 7, 8), (4, 4, 3, 3), (1, 1), _TYPES),
    "three-by-three-by-two": ((1, 4, 7, 8), (4, 4, 3, 3), (2, 2), _STRIDES),
    "stride-2": ((1, 2, 7), (2, 2, 3), (2,), _STRIDES),
    "stride-2-and-odd-zero": ((1, 2, 6), (2, 2, 3), (2,), _STRIDES),
    "stride-3-and-no-zeros": ((1, 2, 7), (2, 2, 1), (3,), _STRIDES),
    "unlike-strides": ((1, 2, 6, 9), (2, 2, 2, 4), (1, 3), _STRIDES),
    "other-unlike-strides": ((1, 2, 9, 6), (2, 2, 4, 2), (3, 2), _STRIDES),
    "strides-that-leave-a-rest": ((1, 1, 8, 10), (2, 1, 3, 3), (3, 4), _STRIDES),
    "strides-beyond-the-base": ((1, 2, 3, 3), (2, 2, 2, 2), (7, 9), _STRIDES),
    "three-unlike-strides": ((1, 2, 5, 6, 7), (2, 2, 2, 3, 4), (2, 1, 3), _STRIDES),
    "four-unlike-strides": ((1, 1, 6, 3, 7, 6), (2, 1, 2, 2, 1, 3), (4, 1, 3, 2), _STRIDES),
    "quick-batch-of-forty": ((40, 9), (12, 9), (), _rules("lhs.D2")),
    "quick-features-by-two": ((2, 8, 7, 7), (16, 8, 3, 3), (2, 2), _STRIDES),
    "no-batch": ((0, 2, 3), (2, 2, 2), (1,), _EMPTY),
    "no-input-features": ((1, 0, 3), (2, 0, 2), (1,), _EMPTY),
    "no-output-features": ((1, 2, 3), (0, 2, 2), (1,), _EMPTY),
    "no-base-area": ((1, 2, 0), (2, 2, 2), (1,), _EMPTY),
}


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything twice: the window as an input, and as a constant."""
    yield from twice(_trials(dtype, np.random.default_rng(seed)))


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    for name, (lhs, rhs, strides, shows) in _SIZES.items():
        for padding in (SAME, VALID):
            text = f"{name.replace('-', ' ').capitalize()}, {padding}: whole numbers, exact in any order."
            operands = whole_operands(lhs, rhs, dtype)
            yield _trial(f"{name}-{padding.lower()}", operands, strides, padding, shows, text)
    if dtype in FORMATS:
        yield from _beyond_numbers(dtype)
    yield from value_trials(dtype, _make)
    for number in range(_RANDOM):
        yield _random(number, dtype, random)


def _beyond_numbers(dtype: DType) -> Iterator[Trial]:
    shows = ("D-XLA-4", "D-XLA-5", "D-ALL-4")
    for name in _USUAL:
        lhs, rhs, strides, _ = _SIZES[name]
        operands = with_special(*whole_operands(lhs, rhs, dtype))
        text = "Whole numbers, and NaNs and infinities among them."
        yield _trial(f"{name}-special", operands, strides, SAME, shows, text)
    for name in _SMALL:
        lhs, rhs, strides, _ = _SIZES[name]
        operands = tiny_operands(lhs, rhs, dtype)
        yield _trial(f"{name}-tiny", operands, strides, SAME, shows, TINY_TEXT)


def _trial(
    name: str,
    operands: tuple[Array, Array],
    strides: Shape,
    padding: str,
    shows: tuple[str, ...],
    text: str,
) -> Trial:
    lhs, rhs = operands
    attributes = {"window_strides": strides, "padding": padding}
    return Trial(name, {"lhs": lhs, "rhs": rhs}, shows, text, attributes)


def _make(name: str, lhs: Array, rhs: Array, padded: bool, text: str) -> Trial:
    strides = (1,) * (lhs.ndim - LEADING)
    shows = ("D-XLA-5", "D-ALL-4")
    return _trial(name, (lhs, rhs), strides, SAME if padded else VALID, shows, text)


def _random(number: int, dtype: DType, random: Random) -> Trial:
    found = [random_axis(random) for _ in range(random.integers(0, 3))]
    batch, features, outputs = (int(random.integers(1, most)) for most in (3, 5, 6))
    shapes = (
        (batch, features, *(size for size, _ in found)),
        (outputs, features, *(axis.kernel for _, axis in found)),
    )
    lhs, rhs = (random_elements(random, dtype, shape, number) for shape in shapes)
    strides = tuple(axis.stride for _, axis in found)
    padding = (SAME, VALID)[number // 4 % 2]
    shows = ("D-XLA-4", "D-XLA-5")
    return _trial(f"random-{number}", (lhs, rhs), strides, padding, shows, "A random convolution.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any strides and both words, of up to two spatial dimensions; elements of all kinds."""
    lhs, rhs, axes = drawn_slide(draw, draw.integer(0, MOST_SPATIAL))
    first, second = drawn_elements(draw, dtype, lhs, rhs)
    strides = tuple(axis.stride for axis in axes)
    padding, shows = choice(draw, (VALID, SAME)), ("D-XLA-4", "D-XLA-5")
    trial = _trial("drawn", (first, second), strides, padding, shows, "A drawn convolution.")
    return replace(trial, constants=choice(draw, DRAWN_HELD))


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """Those that all convolutions share; where zeros lie is D-XLA-4."""
    X, W = inputs["lhs"], inputs["rhs"]
    axes = sliding(W, general_attributes(inputs, attributes))
    return convolution_clauses(X, W, None, axes, 1, _RULINGS)
