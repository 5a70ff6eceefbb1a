"""Trials of Conv: SAME and VALID on many shapes, special values, sums."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared import convolution_trials as common
from sonnx.operators.shared.convolution_operator import LEADING
from sonnx.operators.shared.convolution_tables import Asked, twice
from sonnx.operators.xla.conv_with_general_padding.geometry import SAME, VALID
from sonnx.operators.xla.conv_with_general_padding.trials import HELD, MOST_SPATIAL, shown, value_trials
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import Random, Shape
from sonnx.vocabulary.trial import Trial

_SHOWN = shown(
    "xla.conv",
    "D-XLA-4",
    {
        "types": ("lhs.D1", "rhs.D1", "output.D2", "output.D1", "rhs.D2", "rhs.D3", "padding.D1"),
        "rank": ("lhs.D2",),
        "point": ("rhs.D4",),
        "strides": ("window_strides.D1",),
        "empty": ("output.D1",),
    },
)
_BOTH = ("D-XLA-4", "D-XLA-5")


def _attributes(lhs: Shape, _rhs: Shape, values: Mapping[str, Any]) -> Mapping[str, Any]:
    strides = values.get("strides", (1,) * (len(lhs) - LEADING))
    return {"window_strides": strides, "padding": values.get("padding", VALID)}


_CONV = Asked(("lhs", "rhs"), _attributes, _SHOWN)
# Each with both words for the padding.
_TABLE = """
no-spatial-dimension: 2,3 by 4,3; rank
one-element: 1,1,1 by 1,1,1; point
one-spatial-dimension: 1,2,6 by 3,2,3; types
odd-zero-to-the-high-end: 1,2,6 by 3,2,2; types
three-zeros: 1,2,6 by 3,2,4; types
two-spatial-dimensions: 1,2,5,6 by 3,2,3,2; types
three-spatial-dimensions: 1,2,3,4,3 by 2,2,2,2,1; types
four-spatial-dimensions: 1,1,2,3,2,3 by 2,1,2,1,2,2; types
pointwise: 2,5,3,4 by 7,5,1,1; point
pointwise-with-strides: 1,2,5,7 by 2,2,1,1 strides=2,3; point strides
window-as-large-as-base: 2,3,4,3 by 2,3,4,3; point
window-larger-than-base: 1,2,3 by 2,2,5; empty
window-larger-in-one-dimension: 1,2,3,5 by 2,2,4,2; empty
batch-of-three: 3,2,4,4 by 2,2,2,3; types
many-features: 1,4,3,3 by 16,4,2,2; types
line-of-many-features: 1,33,16 by 5,33,2; types
line-to-many-features: 1,2,33 by 65,2,3; types
three-by-three: 1,4,7,8 by 4,4,3,3; types
three-by-three-by-two: 1,4,7,8 by 4,4,3,3 strides=2,2; strides
stride-2: 1,2,7 by 2,2,3 strides=2; strides
stride-2-and-odd-zero: 1,2,6 by 2,2,3 strides=2; strides
stride-3-and-no-zeros: 1,2,7 by 2,2,1 strides=3; strides
unlike-strides: 1,2,6,9 by 2,2,2,4 strides=1,3; strides
other-unlike-strides: 1,2,9,6 by 2,2,4,2 strides=3,2; strides
strides-that-leave-a-rest: 1,1,8,10 by 2,1,3,3 strides=3,4; strides
strides-beyond-the-base: 1,2,3,3 by 2,2,2,2 strides=7,9; strides
three-unlike-strides: 1,2,5,6,7 by 2,2,2,3,4 strides=2,1,3; strides
four-unlike-strides: 1,1,6,3,7,6 by 2,1,2,2,1,3 strides=4,1,3,2; strides
quick-batch-of-forty: 40,9 by 12,9; rank
quick-features-by-two: 2,8,7,7 by 16,8,3,3 strides=2,2; strides
no-batch: 0,2,3 by 2,2,2; empty
no-input-features: 1,0,3 by 2,0,2; empty
no-output-features: 1,2,3 by 0,2,2; empty
no-base-area: 1,2,0 by 2,2,2; empty
"""
_GEOMETRIES = {each.name: each for each in _CONV.table(_TABLE)}
# Those that are tried with other elements too.
_USUAL = ("three-by-three", "three-by-three-by-two")
_SMALL = ("three-by-three-by-two", "unlike-strides")


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything twice: the window as an input, and as a constant."""
    for trial in _trials(dtype, np.random.default_rng(seed)):
        yield from twice(trial, HELD[1], "with a constant window")


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    for name, geometry in _GEOMETRIES.items():
        for word in (SAME, VALID):
            padded = replace(
                geometry, name=f"{name}-{word.lower()}", values={**geometry.values, "padding": word}
            )
            yield padded.counted(dtype, f"{name.replace('-', ' ').capitalize()}, {word}")
    if dtype in FORMATS:
        same = {
            name: replace(each, values={**each.values, "padding": SAME}, shows=_BOTH)
            for name, each in _GEOMETRIES.items()
        }
        yield from (same[name].special(dtype) for name in _USUAL)
        yield from (same[name].tiny(dtype) for name in _SMALL)
    yield from value_trials(_CONV, dtype, {"padding": SAME})
    for number in range(common.RANDOM):
        yield _random(number, dtype, random)


def _random(number: int, dtype: DType, random: Random) -> Trial:
    lhs, rhs, axes = common.random_slide(random, int(random.integers(0, 3)))
    operands = [common.random_elements(random, dtype, shape, number) for shape in (lhs, rhs)]
    values = {"strides": tuple(axis.stride for axis in axes), "padding": (SAME, VALID)[number // 4 % 2]}
    return _CONV.trial(f"random-{number}", operands, "A random convolution.", _BOTH, **values)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any strides and both words, of up to two spatial dimensions; elements of all kinds."""
    lhs, rhs, axes = common.drawn_slide(draw, draw.integer(0, MOST_SPATIAL))
    operands = common.drawn_elements(draw, dtype, lhs, rhs)
    values = {"strides": tuple(axis.stride for axis in axes), "padding": choice(draw, (VALID, SAME))}
    trial = _CONV.trial("drawn", operands, "A drawn convolution.", _BOTH, **values)
    return replace(trial, constants=choice(draw, HELD))
