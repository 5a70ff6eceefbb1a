"""Trials of Conv: geometries, special values, sums that show their order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.operators.onnx.conv.geometry import SPATIAL, pads_of
from sonnx.operators.shared import convolution_tables as tables
from sonnx.operators.shared import convolution_trials as common
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_tables import Geometry
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import NOTHING, Random, Shape, filled, special_vector
from sonnx.vocabulary.trial import Trial

_PADS, _STRIDES = ("conv.pads.C1", "D-CONV-5", "D-CONV-7"), ("conv.strides.D1", "D-CONV-3")
_DILATIONS, _ONE_BIAS = ("conv.dilations.C1", "D-CONV-1"), ("conv.B.C1", "D-CONV-4")
# What geometries are about.
_SHOWN = {
    "": ("D-CONV-1",),
    # Rules that every trial is at the edge of: there is no other number of values, axes or types.
    "form": (
        *("conv.X.C1", "conv.W.D1", "conv.B.D1", "conv.auto_pad.C1", "conv.kernel_shape.C2"),
        *("conv.strides.C1", "conv.pads.C2", "conv.dilations.C2", "conv.kernel_shape.D1"),
    ),
    "types": ("conv.X.D1", "conv.W.D2", "conv.B.D2", "conv.Y.D1"),
    "edge": ("conv.X.C3", "D-CONV-1"),
    "pads": _PADS,
    "strides": _STRIDES,
    "dilations": _DILATIONS,
    "all": (*_PADS, *_STRIDES, *_DILATIONS),
    "group": ("conv.group.C1", "conv.group.D1", "conv.X.C2", "D-CONV-2"),
    "bias": _ONE_BIAS,
}


def _attributes(X: Shape, W: Shape, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Everything that a model writes."""
    return {
        "strides": values.get("strides", (1, 1)),
        "pads": values.get("pads", (0, 0, 0, 0)),
        "dilations": values.get("dilations", (1, 1)),
        "group": X[1] if values.get("depthwise") else 1,
        "kernel_shape": W[2:],
        "auto_pad": "NOTSET",
    }


_CONV = tables.Asked(("X", "W", "B"), _attributes, _SHOWN)
_TABLE = """
one-element: 1,1,1,1 by 1,1,1,1; conv.kernel_shape.C1 edge
plain: 1,2,5,6 by 3,2,3,2; form types conv.Y.C1
no-bias: 1,2,5,6 by 3,2,3,2 unbiased; bias
pointwise: 2,5,3,4 by 7,5,1,1; conv.kernel_shape.C1 D-CONV-2
kernel-of-one-line: 1,2,4,7 by 2,2,1,5; D-CONV-3
kernel-of-one-column: 1,2,7,4 by 2,2,5,1; D-CONV-3
kernel-as-large-as-input: 2,3,4,3 by 2,3,4,3; edge
kernel-as-large-as-padded: 1,2,2,2 by 2,2,4,5 pads=1,1,1,2; edge
dilated-kernel-as-large-as-padded: 1,2,4,5 by 2,2,3,3 pads=1,0,0,2 dilations=2,3; edge conv.dilations.C1
batch-of-three: 3,2,4,4 by 2,2,2,3
many-channels: 1,9,3,3 by 8,9,2,2; D-CONV-2 conv.X.C2
pads-before-lines: 1,1,3,4 by 2,1,2,2 pads=2,0,0,0; pads
pads-before-columns: 1,1,3,4 by 2,1,2,2 pads=0,2,0,0; pads
pads-after-lines: 1,1,3,4 by 2,1,2,2 pads=0,0,2,0; pads
pads-after-columns: 1,1,3,4 by 2,1,2,2 pads=0,0,0,2; pads
four-unlike-pads: 1,2,3,4 by 2,2,3,3 pads=1,2,3,0; pads
pads-around: 1,2,4,4 by 3,2,3,3 pads=1,1,1,1; pads
pads-beyond-the-kernel: 1,1,2,2 by 2,1,2,2 pads=4,3,5,6; pads
pads-of-a-point: 1,3,1,1 by 2,3,3,3 pads=1,1,1,1; pads
same-upper: 1,2,5,6 by 2,2,2,4 pads=0,1,1,2; pads
same-lower: 1,2,5,6 by 2,2,2,4 pads=1,2,0,1; pads
same-upper-with-strides: 1,1,7,8 by 2,1,4,3 pads=1,0,2,1 strides=3,2; pads
strides-down-lines: 1,2,6,5 by 2,2,2,2 strides=2,1; strides
strides-along-columns: 1,2,6,5 by 2,2,2,2 strides=1,2; strides
unlike-strides: 1,2,8,9 by 2,2,3,2 strides=2,3; strides
strides-that-leave-a-rest: 1,1,8,10 by 2,1,3,3 strides=3,4; strides
strides-beyond-the-kernel: 1,2,9,9 by 2,2,2,1 strides=4,3; strides
strides-beyond-the-input: 1,2,3,3 by 2,2,2,2 strides=7,9; strides
dilations-of-lines: 1,2,7,4 by 2,2,3,2 dilations=3,1; dilations
dilations-of-columns: 1,2,4,7 by 2,2,2,3 dilations=1,3; dilations
dilations-of-a-point: 1,2,3,3 by 2,2,1,1 dilations=5,6; dilations
everything-unlike: 1,3,9,10 by 4,3,3,2 pads=1,2,3,0 strides=2,3 dilations=2,3; all
depthwise: 1,3,4,5 by 3,1,2,3 depthwise; group
depthwise-of-one-channel: 2,1,4,4 by 1,1,3,3 depthwise; group
depthwise-of-many-channels: 1,17,2,3 by 17,1,2,2 depthwise; group
depthwise-without-bias: 2,4,3,3 by 4,1,2,2 depthwise unbiased; group
depthwise-with-everything: 2,3,7,8 by 3,1,3,2 pads=2,0,1,3 strides=2,3 dilations=2,1 depthwise; group all
line-of-33: 1,1,1,35 by 3,1,1,3
line-of-16: 1,2,2,18 by 5,2,2,3
line-of-15: 1,2,2,17 by 3,2,2,3
line-of-31: 1,1,1,33 by 5,1,1,3
sixty-five-input-channels: 1,65,2,3 by 3,65,1,2; D-CONV-2 conv.X.C2
sixty-five-output-channels: 1,2,3,4 by 65,2,2,2; D-CONV-2 conv.B.C1
depthwise-of-sixty-five: 1,65,2,3 by 65,1,2,2 depthwise; group
sixteen-output-channels: 1,2,4,4 by 16,2,3,3 pads=1,1,1,1; pads
no-batch: 0,2,3,3 by 2,2,2,2; conv.Y.C1
no-input-channels: 1,0,3,3 by 2,0,2,2; D-CONV-4 conv.Y.C1
no-output-channels: 1,2,3,3 by 0,2,2,2; conv.Y.C1
no-image: 1,2,0,0 by 2,2,2,1 pads=1,1,1,1; pads conv.X.C3
"""
# Those that runtimes have quick ways for; the channels are so many that they are taken several at a time.
_USUAL_TABLE = """
usual-padded-point: 1,8,7,8 by 8,8,1,1 pads=1,1,1,1; pads
usual-point-by-two: 1,8,7,8 by 8,8,1,1 strides=2,2; strides
usual-three-by-three: 1,8,7,8 by 8,8,3,3 pads=1,1,1,1; pads
usual-three-by-three-by-two: 1,8,7,8 by 8,8,3,3 pads=1,1,1,1 strides=2,2; strides
usual-five-by-five: 1,3,7,8 by 8,3,5,5 pads=2,2,2,2; pads
usual-depthwise: 1,8,7,8 by 8,1,3,3 pads=1,1,1,1 depthwise; group
usual-depthwise-by-two: 1,8,7,8 by 8,1,3,3 pads=1,1,1,1 strides=2,2 depthwise; group
usual-sixteen-channels: 1,16,7,8 by 16,16,3,3 pads=1,1,1,1; pads
usual-depthwise-of-sixteen: 1,16,7,8 by 16,1,3,3 pads=1,1,1,1 depthwise; group
"""
# Others of them: shapes and strides that networks have, without a bias, of several images, with pads at one
# end. Whole numbers will do, where only what meets can go wrong.
_QUICK_TABLE = """
quick-thirty-two-channels: 2,32,3,7 by 32,32,3,3 pads=1,1,1,1 unbiased; pads
quick-twelve-to-six-channels: 4,12,3,5 by 6,12,3,3 pads=1,1,1,1; pads
quick-seven-to-twelve-channels: 1,7,4,4 by 12,7,2,2 unbiased
quick-point-of-six-channels: 2,6,3,3 by 24,6,1,1 unbiased
quick-point-of-sixty-four-channels: 1,64,2,3 by 64,64,1,1
quick-first-layer: 1,3,9,11 by 16,3,7,7 pads=3,3,3,3 strides=2,2; strides
quick-first-small-layer: 1,3,8,8 by 32,3,3,3 pads=0,0,1,1 strides=2,2; strides
quick-patches: 1,2,12,12 by 8,2,6,6 strides=6,6 unbiased; strides
quick-pads-at-the-end: 1,8,8,8 by 8,8,3,3 pads=0,0,1,1 strides=2,2; pads
quick-by-two-without-pads: 1,8,7,9 by 8,8,3,3 strides=2,2; strides
quick-twelve-wide: 2,8,4,14 by 8,8,3,3 unbiased
quick-fourteen-wide: 1,8,2,14 by 8,8,3,3 pads=1,2,0,0; pads
quick-line: 1,24,2,5 by 48,24,1,7 pads=0,3,0,3; pads
quick-column: 1,24,5,2 by 48,24,7,1 pads=3,0,3,0; pads
quick-wide-dilation: 1,3,7,8 by 8,3,3,3 pads=7,7,7,7 dilations=7,7; dilations
quick-line-of-300: 1,2,1,302 by 2,2,1,3
quick-depthwise-five-by-five: 2,32,3,5 by 32,1,5,5 pads=2,2,2,2 depthwise unbiased; group
quick-depthwise-dilated: 1,16,6,7 by 16,1,3,3 pads=2,2,2,2 dilations=2,2 depthwise; group
quick-depthwise-of-many: 2,72,3,3 by 72,1,3,3 pads=1,1,1,1 depthwise; group
quick-depthwise-pads-at-the-end: 1,16,6,6 by 16,1,3,3 pads=0,0,1,1 strides=2,2 depthwise unbiased; group
"""
GEOMETRIES, USUAL, QUICK = (tuple(_CONV.table(text)) for text in (_TABLE, _USUAL_TABLE, _QUICK_TABLE))
_NAMED = {each.name: each for each in GEOMETRIES}
# Others that are tried with subnormal numbers too.
_TINY = (
    "strides-that-leave-a-rest",
    "dilations-of-columns",
    "everything-unlike",
    "depthwise-with-everything",
)
# Those of which a model holds the kernel and not the bias, and the other way round.
_HELD_ALONE = ("plain", "depthwise")
# The shapes of the trials of special values, and how their kernels slide.
_SMALL = Geometry(_CONV, "", (1, 1, 3, 3), (1, 1, 2, 2), {}, _SHOWN[""])
_SLIDES: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "-padded": {"pads": (1, 1, 1, 1)},
    "-spread": {"pads": (2, 1, 0, 3), "strides": (2, 1), "dilations": (1, 2)},
}


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything tables.twice: the kernel and the bias as inputs of the model, and as its constants.

    Then a few of which only one of them is a constant.
    """
    for trial in _trials(dtype, np.random.default_rng(seed)):
        yield from tables.twice(trial, frozenset(trial.inputs.keys() - {"X"}), "with a constant kernel")
    for geometry in map(_NAMED.__getitem__, _HELD_ALONE):
        for name, word in (("W", "kernel"), ("B", "bias")):
            alone = replace(geometry, name=f"{geometry.name}-{word}-alone", shows=(*_ONE_BIAS, "D-CONV-6"))
            trial = alone.counted(dtype, geometry.name.capitalize())
            yield from tables.twice(trial, frozenset({name}), f"with a constant {word} alone")


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    for geometry in (*GEOMETRIES, *USUAL, *QUICK):
        yield geometry.counted(dtype)
    yield _bias_alone(dtype)
    yield from _special_values(dtype)
    yield from (geometry.special(dtype) for geometry in USUAL)
    # Small images will do: sums of subnormal doubles are slow.
    cut = (replace(each, X=(*each.X[:2], 4, 4)) for each in USUAL)
    yield from (geometry.tiny(dtype) for geometry in (*cut, *(_NAMED[name] for name in _TINY)))
    yield from tables.order_trials(
        _CONV, dtype, "Channels come before lines, and lines before columns.", ("D-CONV-6",)
    )
    along = {"channels": (1, -1, 1, 1), "columns": (1, 1, 1, -1)}
    yield from tables.sum_trials(_CONV, dtype, along, ("D-CONV-6", "D-ALL-4"))
    yield from tables.long_trials(_CONV, dtype, ("D-CONV-6", "D-CONV-4"))
    yield from tables.large_trials(
        _CONV, dtype, 21, "A hundred thousand sums of 72 terms and a bias.", _SHOWN[""]
    )
    for number in range(common.RANDOM):
        yield _random(number, dtype, random)


def _bias_alone(dtype: DType) -> Trial:
    geometry = Geometry(_CONV, "bias-alone", (1, 2, 3, 7), (5, 2, 2, 2), {}, _ONE_BIAS)
    X, W, _ = geometry.whole(dtype)
    B = np.stack([common.element(number, dtype) for number in range(1, len(W) + 1)])
    text = "All weights are 0, so that each channel is its bias."
    return geometry.trial((X, filled(common.element(0, dtype), W.shape), B), text)


def _special_values(dtype: DType) -> Iterator[Trial]:
    """Every special value in an image, a kernel, a channel, as a bias; and with every other one."""
    values = special_vector(dtype, signalling=True)
    count = len(values)
    every, text = slice(None), "Every special value in"
    alone: Shape = (1, count, 3, 3)
    for label, slide in _SLIDES.items():
        shows = (*_SMALL.shows, *(("D-CONV-5", "D-ALL-4") if slide else ("D-ALL-4",)))
        like = replace(_SMALL, values=slide, shows=shows)
        images = replace(like, name=f"special-inputs{label}", X=(count, 1, 3, 3))
        yield images.holding(dtype, "X", (every, 0, 1, 1), f"{text} an image of its own.")
        kernels = replace(like, name=f"special-weights{label}", W=(count, 1, 2, 2))
        yield kernels.holding(dtype, "W", (every, 0, 0, 1), f"{text} a kernel of its own.")
        like = replace(kernels, X=alone, values={**slide, "depthwise": True})
        channels = replace(like, name=f"special-channels{label}")
        touched = "which touches no other."
        yield channels.holding(dtype, "X", (0, every, 1, 1), f"{text} a channel of its own, {touched}")
        channels = replace(like, name=f"special-channel-weights{label}")
        yield channels.holding(dtype, "W", (every, 0, 1, 0), f"{text} the kernel of a channel, {touched}")
    shows = ("D-CONV-4", "D-ALL-4")
    biases = replace(
        kernels, name="special-biases", values=_SLIDES["-padded"], shows=(*shows, "D-CONV-5", "D-ALL-4")
    )
    yield biases.holding(dtype, "B", (every,), "Every special value as a bias.")
    each, ones = values.reshape(count, 1, 1, 1), np.ones(count, values.dtype)
    text = "Every special value times every other"
    yield _CONV.trial("special-products", (each, each), f"{text}.", ("D-ALL-4",))
    yield _CONV.trial("special-products-and-one", (each, each, ones), f"{text}, added to 1.", ("D-ALL-4",))
    text = "Every special value as a bias, to which every other one is added."
    yield _CONV.trial("special-sums-and-biases", (each, ones.reshape(each.shape), values), text, shows)


def _sliding(name: str, X: Shape, W: Shape, axes: Sequence[Axis], depthwise: bool) -> Geometry:
    values = {
        "pads": pads_of([(axis.begin, axis.end) for axis in axes]),
        "strides": tuple(axis.stride for axis in axes),
        "dilations": tuple(axis.dilation for axis in axes),
        "depthwise": depthwise,
    }
    kernel = (X[1], 1, *W[2:]) if depthwise else W
    return Geometry(_CONV, name, X, kernel, values, ("D-CONV-1", "D-CONV-6"))


def _random(number: int, dtype: DType, random: Random) -> Trial:
    X, W, axes = common.random_slide(random, SPATIAL)
    geometry = _sliding(f"random-{number}", X, W, axes, number % 3 == 2)
    operands = [common.random_elements(random, dtype, shape, number) for shape in geometry.shapes]
    return geometry.trial(operands if random.integers(0, 4) else operands[:2], "A random convolution.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any geometry, depthwise or not, with a bias or without; elements of all kinds."""
    X, W, axes = common.drawn_slide(draw, SPATIAL)
    depthwise, bias = (bool(draw.integer(0, 1)) for _ in range(2))
    geometry = _sliding("drawn", X, W, axes, depthwise and X[1] > 0)
    elements = common.drawn_elements(draw, dtype, *geometry.shapes[: 2 + bias])
    names = _CONV.operands[: len(elements)]
    held = choice(draw, (NOTHING, frozenset(names[1:]), frozenset({"W"}), frozenset(names[2:])))
    return replace(geometry.trial(elements, "A drawn convolution."), constants=held)
