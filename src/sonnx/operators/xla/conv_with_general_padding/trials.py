"""Trials of both XLA convolutions: geometries, special values, sums."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared import convolution_tables as tables
from sonnx.operators.shared import convolution_trials as common
from sonnx.operators.shared.convolution_operator import LEADING
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import NOTHING, Random, Shape, special_values, special_vector
from sonnx.vocabulary.trial import Trial

MOST_SPATIAL = 2
HELD = (NOTHING, frozenset({"rhs"}), frozenset({"lhs"}))


def shown(identifier: str, ruling: str, labels: Mapping[str, Sequence[str]]) -> Mapping[str, tables.Shows]:
    """What geometries are about: rules by their labels, and the ruling behind them."""
    return {name: (*(f"{identifier}.{label}" for label in rules), ruling) for name, rules in labels.items()}


_KINDS = shown(
    "xla.conv_with_general_padding",
    "D-XLA-5",
    {
        "types": ("lhs.D1", "rhs.D1", "output.D2", "output.D1", "rhs.D2", "rhs.D3"),
        "rank": ("lhs.D2",),
        "point": ("rhs.D4",),
        "strides": ("window_strides.D1",),
        "padding": ("padding.D1",),
        "base": ("lhs_dilation.D1",),
        "window": ("rhs_dilation.D1",),
        "empty": ("output.D1",),
    },
)
_SHOWN = {**_KINDS, "all": sum((_KINDS[name] for name in ("padding", "strides", "base", "window")), ())}


def _attributes(lhs: Shape, _rhs: Shape, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Everything that is written."""
    ones = (1,) * (len(lhs) - LEADING)
    return {
        "window_strides": values.get("strides", ones),
        "padding": values.get("padding", ((0, 0),) * len(ones)),
        "lhs_dilation": values.get("base", ones),
        "rhs_dilation": values.get("window", ones),
    }


_GENERAL = tables.Asked(("lhs", "rhs"), _attributes, _SHOWN)
# The last before the quick ones have three and four dimensions, of which no two have an attribute in common.
_TABLE = """
no-spatial-dimension: 2,3 by 4,3; rank
one-element: 1,1 by 1,1; rank
one-spatial-dimension: 1,2,6 by 3,2,3; types
two-spatial-dimensions: 1,2,5,6 by 3,2,3,2; types
three-spatial-dimensions: 1,2,3,4,3 by 2,2,2,2,1; types
four-spatial-dimensions: 1,1,2,3,2,3 by 2,1,2,1,2,2; types
pointwise: 2,5,3,4 by 7,5,1,1; point
window-as-large-as-base: 2,3,4,3 by 2,3,4,3; point
window-as-large-as-padded: 1,2,2 by 2,2,5 padding=1:2; padding
batch-of-three: 3,2,4,4 by 2,2,2,3; types
many-features: 1,4,3,3 by 16,4,2,2; types
line-of-15-of-many-features: 1,33,16 by 5,33,2; types
line-of-31-to-many-features: 1,2,33 by 65,2,3; types
padded-point: 1,4,4,5 by 4,4,1,1 padding=1:1,1:1; padding
three-by-three: 1,4,7,8 by 4,4,3,3 padding=1:1,1:1; padding
three-by-three-by-two: 1,4,7,8 by 4,4,3,3 padding=1:1,1:1 strides=2,2; strides
padding-low: 1,1,3,4 by 2,1,2,2 padding=2:0,0:0; padding
padding-high: 1,1,3,4 by 2,1,2,2 padding=0:0,0:2; padding
padding-unlike: 1,2,3,4 by 2,2,3,3 padding=1:3,2:0; padding
padding-around: 1,2,4,4 by 3,2,3,3 padding=1:1,1:1; padding
padding-beyond-the-window: 1,1,2 by 2,1,2 padding=4:5; padding
padding-negative-low: 1,2,6 by 2,2,2 padding=-2:0; padding
padding-negative-high: 1,2,6 by 2,2,2 padding=0:-3; padding
padding-of-both-signs: 1,2,5,5 by 2,2,2,2 padding=-1:2,3:-2; padding
padding-removes-all: 1,2,3 by 2,2,2 padding=-3:4; padding
padding-removes-more: 1,2,3 by 2,2,2 padding=-5:8; padding
strides-of-first: 1,2,6,5 by 2,2,2,2 strides=2,1; strides
strides-of-second: 1,2,6,5 by 2,2,2,2 strides=1,2; strides
strides-that-leave-a-rest: 1,1,8,10 by 2,1,3,3 strides=3,4; strides
strides-beyond-the-base: 1,2,3,3 by 2,2,2,2 strides=7,9; strides
base-dilation: 1,2,4 by 2,2,3 base=2; base
base-dilation-of-one-element: 1,2,1 by 2,2,1 base=5; base
base-dilation-unlike: 1,2,3,3 by 2,2,2,3 base=3,2; base
base-dilation-and-padding: 1,1,3 by 2,1,2 padding=2:1 base=3; base
base-dilation-and-removal: 1,1,4 by 2,1,2 padding=-2:-1 base=3; base
base-dilation-and-strides: 1,2,4 by 2,2,3 strides=2 base=3; base
window-dilation: 1,2,7,4 by 2,2,3,2 window=3,1; window
window-dilation-of-a-point: 1,2,3 by 2,2,1 window=6; window
both-dilations: 1,2,5,3 by 2,2,2,2 base=2,3 window=3,2; base
everything-unlike: 2,3,5,6 by 4,3,3,2 padding=1:-2,-1:4 strides=2,3 base=2,1 window=1,3; all
three-unlike-dimensions: 1,2,4,5,4 by 2,2,2,3,2 padding=1:-1,-1:3,2:0 \
    strides=1,3,2 base=3,2,1 window=2,1,3; all
four-unlike-dimensions: 1,1,3,4,5,6 by 2,1,2,1,2,2 padding=2:0,0:-1,-2:1,1:3 \
    strides=2,1,4,3 base=4,3,2,1 window=1,2,3,4; all
quick-batch-of-forty: 40,9 by 12,9; rank
quick-features-by-two: 1,3,7,8 by 16,3,3,3 padding=1:1,0:1 strides=2,2; strides
quick-base-dilation: 2,8,3,4 by 8,8,3,3 padding=1:2,1:2 base=2,2; base
no-batch: 0,2,3 by 2,2,2; empty
no-input-features: 1,0,3 by 2,0,2; empty
no-output-features: 1,2,3 by 0,2,2; empty
no-base-area: 1,2,0 by 2,2,2 padding=2:1 base=3; empty
window-does-not-fit: 1,2,2,5 by 2,2,3,2; empty
nothing-remains: 1,2,3 by 2,2,1 padding=-2:-1; empty
"""
GEOMETRIES = {each.name: each for each in _GENERAL.table(_TABLE)}
# Those that are tried with other elements too.
_USUAL = ("three-by-three", "three-by-three-by-two")
_SMALL = ("three-by-three-by-two", "base-dilation-and-strides", "window-dilation", "everything-unlike")
# Where special elements x lie among ones.
_HOLES = """
over-a-hole: 1,1,3 by 1,1,2 base=2; base
removed: 1,1,4 by 1,1,2 padding=-1:-1; padding
in-the-window: 1,1,3 by 1,1,2 window=2; window
"""
_IN_HOLES = {
    "over-a-hole": ("111", "x1", "A special weight meets zeros between elements."),
    "removed": ("x11x", "11", "Special elements are removed and do not take part."),
    "in-the-window": ("1x1", "11", "A hole of the window meets a special element."),
}


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything tables.twice: the window as an input, and as a constant."""
    for trial in _trials(dtype, np.random.default_rng(seed)):
        yield from tables.twice(trial, HELD[1], "with a constant window")


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    yield from (geometry.counted(dtype) for geometry in GEOMETRIES.values())
    if dtype in FORMATS:
        yield from _holes(dtype)
        yield from (GEOMETRIES[name].special(dtype) for name in _USUAL)
        yield from (GEOMETRIES[name].tiny(dtype) for name in _SMALL)
    yield from value_trials(_GENERAL, dtype, {"padding": ((1, 1), (1, 1))})
    for number in range(common.RANDOM):
        yield _random(number, dtype, random)


def _holes(dtype: DType) -> Iterator[Trial]:
    """Zeros between elements take part; what is removed, and what lies in a window's holes, does not."""
    values = special_values(dtype)
    for name in ("infinity", "minus-infinity", "quiet-nan"):
        told = {"1": values["one"], "x": values[name]}
        for geometry in _GENERAL.table(_HOLES):
            *written, text = _IN_HOLES[geometry.name]
            operands = [np.stack([told[each] for each in line]).reshape(1, 1, -1) for line in written]
            yield replace(geometry, name=f"{name}-{geometry.name}").trial(operands, text)


def _random(number: int, dtype: DType, random: Random) -> Trial:
    lhs, rhs, axes = common.random_slide(random, int(random.integers(0, 3)))
    values = {
        "padding": tuple((axis.begin - int(random.integers(0, 2)), axis.end) for axis in axes),
        "strides": tuple(axis.stride for axis in axes),
        "base": tuple(int(random.integers(1, 3)) for _ in axes),
        "window": tuple(axis.dilation for axis in axes),
    }
    operands = [common.random_elements(random, dtype, shape, number) for shape in (lhs, rhs)]
    return _GENERAL.trial(f"random-{number}", operands, "A random convolution.", ("D-XLA-5",), **values)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any geometry of up to two spatial dimensions; elements of all kinds."""
    lhs, rhs, axes = common.drawn_slide(draw, draw.integer(0, MOST_SPATIAL))
    values = {
        # Up to two elements are removed at either end.
        "padding": tuple((axis.begin - draw.integer(0, 2), axis.end - draw.integer(0, 2)) for axis in axes),
        "strides": tuple(axis.stride for axis in axes),
        "base": tuple(draw.integer(1, 3) for _ in axes),
        "window": tuple(axis.dilation for axis in axes),
    }
    operands = common.drawn_elements(draw, dtype, lhs, rhs)
    trial = _GENERAL.trial("drawn", operands, "A drawn convolution.", ("D-XLA-5",), **values)
    return replace(trial, constants=choice(draw, HELD))


# --- what both XLA convolutions try ------------------------------------------------------------------------


def value_trials(of: tables.Asked, dtype: DType, padded: Mapping[str, Any]) -> Iterator[Trial]:
    """Special values in both operands, sums that show how they are taken, and a large one."""
    shows = ("D-XLA-5", "D-ALL-4")
    values = special_vector(dtype, signalling=True)
    count = len(values)
    for label, told in {"": {}, "-padded": padded}.items():
        small = tables.Geometry(of, f"special-elements{label}", (count, 1, 3, 3), (1, 1, 2, 2), told, shows)
        text = "Every special value in a base area of its own."
        yield small.holding(dtype, "lhs", (slice(None), 0, 1, 1), text)
        small = replace(small, name=f"special-weights{label}", X=(1, 1, 3, 3), W=(count, 1, 2, 2))
        text = "Every special value in a window of its own."
        yield small.holding(dtype, "rhs", (slice(None), 0, 0, 1), text)
    each = values.reshape(count, 1)
    yield of.trial("special-products", (each, each), "Every special value times every other.", shows)
    yield from tables.sum_trials(of, dtype, {"features": (1, -1), "a-dimension": (1, 1, -1)}, shows)
    yield from tables.long_trials(of, dtype, shows)
    if dtype in FORMATS:
        text = "Features come before spatial dimensions, and these come in order."
        yield next(tables.order_trials(of, dtype, text, shows))
    text = "A hundred thousand sums of 72 terms."
    yield from tables.large_trials(of, dtype, (1, 8, 120, 110), text, shows)
