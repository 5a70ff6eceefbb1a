"""Trials of Conv: geometries, special values, sums that show their order; and the clauses for an element."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.conv.auto_pad import SAME_LOWER, SAME_UPPER, resolve
from sonnx.operators.onnx.conv.geometry import SPATIAL, sliding
from sonnx.operators.shared.convolution_trials import (
    Rulings,
    Sum,
    convolution_clauses,
    drawn_elements,
    drawn_slide,
    element,
    long_sums,
    ordered_terms,
    random_axis,
    random_elements,
    sums,
    with_special,
)
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import (
    NOTHING,
    Random,
    Shape,
    filled,
    random_numbers,
    special_vector,
    tiny_numbers,
    whole_numbers,
)
from sonnx.vocabulary.trial import Clause, Trial

_RULINGS = Rulings(zeros="D-CONV-5", padding="D-CONV-5", places="D-CONV-1", order="D-CONV-6", bias="D-CONV-4")
_RANDOM = 24
# Rules that every trial is at the edge of: there is no other number of values, axes or types.
_FORM_RULES = (
    *("conv.X.C1", "conv.W.D1", "conv.B.D1", "conv.auto_pad.C1", "conv.kernel_shape.C2"),
    *("conv.strides.C1", "conv.pads.C2", "conv.dilations.C2", "conv.kernel_shape.D1"),
)
_TYPE_RULES = ("conv.X.D1", "conv.W.D2", "conv.B.D2", "conv.Y.D1")


@dataclass(frozen=True)
class _Geometry:
    """Shapes and attributes; a bias is there where it is not denied."""

    name: str
    X: Shape
    W: Shape
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    depthwise: bool = False
    bias: bool = True
    shows: tuple[str, ...] = ("D-CONV-1",)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Everything that a model writes."""
        return {
            "strides": self.strides,
            "pads": self.pads,
            "dilations": self.dilations,
            "group": self.X[1] if self.depthwise else 1,
            "kernel_shape": self.W[2:],
            "auto_pad": "NOTSET",
        }


_EDGE = ("conv.X.C3", "D-CONV-1")
_PADS = ("conv.pads.C1", "D-CONV-5", "D-CONV-7")
_STRIDES = ("conv.strides.D1", "D-CONV-3")
_DILATIONS = ("conv.dilations.C1", "D-CONV-1")
_GROUP = ("conv.group.C1", "conv.group.D1", "conv.X.C2", "D-CONV-2")
_BIAS = ("conv.B.C1", "D-CONV-4")
_EMPTY = ("conv.Y.C1",)


def _same(auto_pad: str, X: Shape, W: Shape, strides: tuple[int, int]) -> tuple[int, int, int, int]:
    before, left, after, right = resolve(auto_pad, X[2:], W[2:], strides, (1, 1))
    return before, left, after, right


GEOMETRIES = (
    _Geometry("one-element", (1, 1, 1, 1), (1, 1, 1, 1), shows=("conv.kernel_shape.C1", *_EDGE)),
    _Geometry("plain", (1, 2, 5, 6), (3, 2, 3, 2), shows=(*_FORM_RULES, *_TYPE_RULES, "conv.Y.C1")),
    _Geometry("no-bias", (1, 2, 5, 6), (3, 2, 3, 2), bias=False, shows=_BIAS),
    _Geometry("pointwise", (2, 5, 3, 4), (7, 5, 1, 1), shows=("conv.kernel_shape.C1", "D-CONV-2")),
    _Geometry("kernel-of-one-line", (1, 2, 4, 7), (2, 2, 1, 5), shows=("D-CONV-3",)),
    _Geometry("kernel-of-one-column", (1, 2, 7, 4), (2, 2, 5, 1), shows=("D-CONV-3",)),
    _Geometry("kernel-as-large-as-input", (2, 3, 4, 3), (2, 3, 4, 3), shows=_EDGE),
    _Geometry("kernel-as-large-as-padded", (1, 2, 2, 2), (2, 2, 4, 5), (1, 1, 1, 2), shows=_EDGE),
    _Geometry(
        "dilated-kernel-as-large-as-padded",
        *((1, 2, 4, 5), (2, 2, 3, 3), (1, 0, 0, 2), (1, 1), (2, 3)),
        shows=(*_EDGE, "conv.dilations.C1"),
    ),
    _Geometry("batch-of-three", (3, 2, 4, 4), (2, 2, 2, 3)),
    _Geometry("many-channels", (1, 9, 3, 3), (8, 9, 2, 2), shows=("D-CONV-2", "conv.X.C2")),
    _Geometry("pads-before-lines", (1, 1, 3, 4), (2, 1, 2, 2), (2, 0, 0, 0), shows=_PADS),
    _Geometry("pads-before-columns", (1, 1, 3, 4), (2, 1, 2, 2), (0, 2, 0, 0), shows=_PADS),
    _Geometry("pads-after-lines", (1, 1, 3, 4), (2, 1, 2, 2), (0, 0, 2, 0), shows=_PADS),
    _Geometry("pads-after-columns", (1, 1, 3, 4), (2, 1, 2, 2), (0, 0, 0, 2), shows=_PADS),
    _Geometry("four-unlike-pads", (1, 2, 3, 4), (2, 2, 3, 3), (1, 2, 3, 0), shows=_PADS),
    _Geometry("pads-around", (1, 2, 4, 4), (3, 2, 3, 3), (1, 1, 1, 1), shows=_PADS),
    _Geometry("pads-beyond-the-kernel", (1, 1, 2, 2), (2, 1, 2, 2), (4, 3, 5, 6), shows=_PADS),
    _Geometry("pads-of-a-point", (1, 3, 1, 1), (2, 3, 3, 3), (1, 1, 1, 1), shows=_PADS),
    _Geometry(
        "same-upper",
        *((1, 2, 5, 6), (2, 2, 2, 4)),
        pads=_same(SAME_UPPER, (1, 2, 5, 6), (2, 2, 2, 4), (1, 1)),
        shows=_PADS,
    ),
    _Geometry(
        "same-lower",
        *((1, 2, 5, 6), (2, 2, 2, 4)),
        pads=_same(SAME_LOWER, (1, 2, 5, 6), (2, 2, 2, 4), (1, 1)),
        shows=_PADS,
    ),
    _Geometry(
        "same-upper-with-strides",
        *((1, 1, 7, 8), (2, 1, 4, 3)),
        pads=_same(SAME_UPPER, (1, 1, 7, 8), (2, 1, 4, 3), (3, 2)),
        strides=(3, 2),
        shows=_PADS,
    ),
    _Geometry("strides-down-lines", (1, 2, 6, 5), (2, 2, 2, 2), strides=(2, 1), shows=_STRIDES),
    _Geometry("strides-along-columns", (1, 2, 6, 5), (2, 2, 2, 2), strides=(1, 2), shows=_STRIDES),
    _Geometry("unlike-strides", (1, 2, 8, 9), (2, 2, 3, 2), strides=(2, 3), shows=_STRIDES),
    _Geometry("strides-that-leave-a-rest", (1, 1, 8, 10), (2, 1, 3, 3), strides=(3, 4), shows=_STRIDES),
    _Geometry("strides-beyond-the-kernel", (1, 2, 9, 9), (2, 2, 2, 1), strides=(4, 3), shows=_STRIDES),
    _Geometry("strides-beyond-the-input", (1, 2, 3, 3), (2, 2, 2, 2), strides=(7, 9), shows=_STRIDES),
    _Geometry("dilations-of-lines", (1, 2, 7, 4), (2, 2, 3, 2), dilations=(3, 1), shows=_DILATIONS),
    _Geometry("dilations-of-columns", (1, 2, 4, 7), (2, 2, 2, 3), dilations=(1, 3), shows=_DILATIONS),
    _Geometry("dilations-of-a-point", (1, 2, 3, 3), (2, 2, 1, 1), dilations=(5, 6), shows=_DILATIONS),
    _Geometry(
        "everything-unlike",
        *((1, 3, 9, 10), (4, 3, 3, 2), (1, 2, 3, 0), (2, 3), (2, 3)),
        shows=(*_PADS, *_STRIDES, *_DILATIONS),
    ),
    _Geometry("depthwise", (1, 3, 4, 5), (3, 1, 2, 3), depthwise=True, shows=_GROUP),
    _Geometry("depthwise-of-one-channel", (2, 1, 4, 4), (1, 1, 3, 3), depthwise=True, shows=_GROUP),
    _Geometry("depthwise-of-many-channels", (1, 17, 2, 3), (17, 1, 2, 2), depthwise=True, shows=_GROUP),
    _Geometry("depthwise-without-bias", (2, 4, 3, 3), (4, 1, 2, 2), depthwise=True, bias=False, shows=_GROUP),
    _Geometry(
        "depthwise-with-everything",
        *((2, 3, 7, 8), (3, 1, 3, 2), (2, 0, 1, 3), (2, 3), (2, 1)),
        depthwise=True,
        shows=(*_GROUP, *_PADS, *_STRIDES, *_DILATIONS),
    ),
    _Geometry("line-of-33", (1, 1, 1, 35), (3, 1, 1, 3)),
    _Geometry("line-of-16", (1, 2, 2, 18), (5, 2, 2, 3)),
    _Geometry("line-of-15", (1, 2, 2, 17), (3, 2, 2, 3)),
    _Geometry("line-of-31", (1, 1, 1, 33), (5, 1, 1, 3)),
    _Geometry("sixty-five-input-channels", (1, 65, 2, 3), (3, 65, 1, 2), shows=("D-CONV-2", "conv.X.C2")),
    _Geometry("sixty-five-output-channels", (1, 2, 3, 4), (65, 2, 2, 2), shows=("D-CONV-2", "conv.B.C1")),
    _Geometry("depthwise-of-sixty-five", (1, 65, 2, 3), (65, 1, 2, 2), depthwise=True, shows=_GROUP),
    _Geometry("sixteen-output-channels", (1, 2, 4, 4), (16, 2, 3, 3), (1, 1, 1, 1), shows=_PADS),
    _Geometry("no-batch", (0, 2, 3, 3), (2, 2, 2, 2), shows=_EMPTY),
    _Geometry("no-input-channels", (1, 0, 3, 3), (2, 0, 2, 2), shows=("D-CONV-4", *_EMPTY)),
    _Geometry("no-output-channels", (1, 2, 3, 3), (0, 2, 2, 2), shows=_EMPTY),
    _Geometry("no-image", (1, 2, 0, 0), (2, 2, 2, 1), (1, 1, 1, 1), shows=(*_PADS, "conv.X.C3")),
)
# Those that runtimes have quick ways for; the channels are so many that they are taken several at a time.
_IMAGE, _AROUND = (1, 8, 7, 8), (1, 1, 1, 1)
USUAL = (
    _Geometry("usual-padded-point", _IMAGE, (8, 8, 1, 1), _AROUND, shows=_PADS),
    _Geometry("usual-point-by-two", _IMAGE, (8, 8, 1, 1), strides=(2, 2), shows=_STRIDES),
    _Geometry("usual-three-by-three", _IMAGE, (8, 8, 3, 3), _AROUND, shows=_PADS),
    _Geometry("usual-three-by-three-by-two", _IMAGE, (8, 8, 3, 3), _AROUND, (2, 2), shows=_STRIDES),
    _Geometry("usual-five-by-five", (1, 3, 7, 8), (8, 3, 5, 5), (2, 2, 2, 2), shows=_PADS),
    _Geometry("usual-depthwise", _IMAGE, (8, 1, 3, 3), _AROUND, depthwise=True, shows=_GROUP),
    _Geometry("usual-depthwise-by-two", _IMAGE, (8, 1, 3, 3), _AROUND, (2, 2), depthwise=True, shows=_GROUP),
    _Geometry("usual-sixteen-channels", (1, 16, 7, 8), (16, 16, 3, 3), _AROUND, shows=_PADS),
    _Geometry(
        "usual-depthwise-of-sixteen", (1, 16, 7, 8), (16, 1, 3, 3), _AROUND, depthwise=True, shows=_GROUP
    ),
)
# Others of them: shapes and strides that networks have, without a bias, of several images, with pads at one
# end. Whole numbers will do, where only what meets can go wrong.
QUICK = (
    _Geometry("quick-thirty-two-channels", (2, 32, 3, 7), (32, 32, 3, 3), _AROUND, bias=False, shows=_PADS),
    _Geometry("quick-twelve-to-six-channels", (4, 12, 3, 5), (6, 12, 3, 3), _AROUND, shows=_PADS),
    _Geometry("quick-seven-to-twelve-channels", (1, 7, 4, 4), (12, 7, 2, 2), bias=False),
    _Geometry("quick-point-of-six-channels", (2, 6, 3, 3), (24, 6, 1, 1), bias=False),
    _Geometry("quick-point-of-sixty-four-channels", (1, 64, 2, 3), (64, 64, 1, 1)),
    _Geometry("quick-first-layer", (1, 3, 9, 11), (16, 3, 7, 7), (3, 3, 3, 3), (2, 2), shows=_STRIDES),
    _Geometry("quick-first-small-layer", (1, 3, 8, 8), (32, 3, 3, 3), (0, 0, 1, 1), (2, 2), shows=_STRIDES),
    _Geometry("quick-patches", (1, 2, 12, 12), (8, 2, 6, 6), strides=(6, 6), bias=False, shows=_STRIDES),
    _Geometry("quick-pads-at-the-end", (1, 8, 8, 8), (8, 8, 3, 3), (0, 0, 1, 1), (2, 2), shows=_PADS),
    _Geometry("quick-by-two-without-pads", (1, 8, 7, 9), (8, 8, 3, 3), strides=(2, 2), shows=_STRIDES),
    _Geometry("quick-twelve-wide", (2, 8, 4, 14), (8, 8, 3, 3), bias=False),
    _Geometry("quick-fourteen-wide", (1, 8, 2, 14), (8, 8, 3, 3), (1, 2, 0, 0), shows=_PADS),
    _Geometry("quick-line", (1, 24, 2, 5), (48, 24, 1, 7), (0, 3, 0, 3), shows=_PADS),
    _Geometry("quick-column", (1, 24, 5, 2), (48, 24, 7, 1), (3, 0, 3, 0), shows=_PADS),
    _Geometry("quick-wide-dilation", (1, 3, 7, 8), (8, 3, 3, 3), (7,) * 4, (1, 1), (7, 7), shows=_DILATIONS),
    _Geometry("quick-line-of-300", (1, 2, 1, 302), (2, 2, 1, 3)),
    _Geometry(
        "quick-depthwise-five-by-five",
        *((2, 32, 3, 5), (32, 1, 5, 5), (2, 2, 2, 2)),
        depthwise=True,
        bias=False,
        shows=_GROUP,
    ),
    _Geometry(
        "quick-depthwise-dilated",
        *((1, 16, 6, 7), (16, 1, 3, 3), (2, 2, 2, 2), (1, 1), (2, 2)),
        depthwise=True,
        shows=_GROUP,
    ),
    _Geometry("quick-depthwise-of-many", (2, 72, 3, 3), (72, 1, 3, 3), _AROUND, depthwise=True, shows=_GROUP),
    _Geometry(
        "quick-depthwise-pads-at-the-end",
        *((1, 16, 6, 6), (16, 1, 3, 3), (0, 0, 1, 1), (2, 2)),
        depthwise=True,
        bias=False,
        shows=_GROUP,
    ),
)
# Others that are tried with subnormal numbers too.
_TINY = (
    "strides-that-leave-a-rest",
    "dilations-of-columns",
    "everything-unlike",
    "depthwise-with-everything",
)
# Those of which a model holds the kernel and not the bias, and the other way round.
_HELD_ALONE = ("plain", "depthwise")
_BIAS_ALONE = _Geometry("bias-alone", (1, 2, 3, 7), (5, 2, 2, 2), shows=("conv.B.C1", "D-CONV-4"))
# The image and the kernel of the trials of special values.
_PADDED = _Geometry("", (1, 1, 3, 3), (1, 1, 2, 2), (1, 1, 1, 1))
_SPREAD = _Geometry("", (1, 1, 3, 3), (1, 1, 2, 2), (2, 1, 0, 3), (2, 1), (1, 2))
_LARGE = _Geometry("hundred-thousand-sums", (1, 8, 120, 110), (8, 8, 3, 3))


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything twice: the kernel and the bias as inputs of the model, and as its constants.

    Then a few of which only one of them is a constant.
    """
    for trial in _trials(dtype, np.random.default_rng(seed)):
        yield from _twice(trial, frozenset(trial.inputs.keys() - {"X"}), "with a constant kernel")
    for geometry in (each for each in GEOMETRIES if each.name in _HELD_ALONE):
        for name, word in (("W", "kernel"), ("B", "bias")):
            text = f"{geometry.name.capitalize()}: whole numbers, exact in any order."
            alone = replace(geometry, name=f"{geometry.name}-{word}-alone", shows=(*_BIAS, "D-CONV-6"))
            trial = _trial(alone, *_whole(geometry, dtype), text)
            yield from _twice(trial, frozenset({name}), f"with a constant {word} alone")


def _twice(trial: Trial, held: frozenset[str], words: str) -> Iterator[Trial]:
    yield trial
    text = f"{trial.text.removesuffix('.')}, {words}."
    yield replace(trial, name=f"{trial.name}-constant", text=text, constants=held)


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    for geometry in (*GEOMETRIES, *USUAL, *QUICK):
        text = f"{geometry.name.replace('-', ' ').capitalize()}: whole numbers, exact in any order."
        yield _trial(geometry, *_whole(geometry, dtype), text)
    yield _bias_alone(dtype)
    yield from _special_values(dtype)
    yield from _usual(dtype)
    yield from _orders(dtype)
    for each in sums(dtype):
        yield from _layouts(each, dtype)
    for sum_ in long_sums(dtype):
        geometry = _Geometry(sum_.name, sum_.X.shape, sum_.W.shape, shows=("D-CONV-6", "D-CONV-4"))
        yield _trial(geometry, sum_.X, sum_.W, sum_.B, sum_.text)
    if dtype is DType.FLOAT:
        operands = _numbers(_LARGE, dtype, np.random.default_rng(len(_LARGE.name)))
        yield _trial(_LARGE, *operands, "A hundred thousand sums of 72 terms and a bias.")
    for number in range(_RANDOM):
        yield _random(number, dtype, random)


def _trial(geometry: _Geometry, X: Array, W: Array, B: Array | None, text: str) -> Trial:
    given = {"X": X, "W": W} if B is None else {"X": X, "W": W, "B": B}
    return Trial(geometry.name, given, geometry.shows, text, geometry.attributes)


def _whole(geometry: _Geometry, dtype: DType) -> tuple[Array, Array, Array | None]:
    """The numbers hang on the shapes alone."""
    random = np.random.default_rng([*geometry.X, *geometry.W])
    X, W = whole_numbers(random, dtype, geometry.X, 7), whole_numbers(random, dtype, geometry.W, 3)
    return X, W, whole_numbers(random, dtype, geometry.W[:1], 9) if geometry.bias else None


def _bias_alone(dtype: DType) -> Trial:
    X, W, _ = _whole(_BIAS_ALONE, dtype)
    B = np.stack([element(number, dtype) for number in range(1, len(W) + 1)])
    text = "All weights are 0, so that each channel is its bias."
    return _trial(_BIAS_ALONE, X, filled(element(0, dtype), W.shape), B, text)


def _usual(dtype: DType) -> Iterator[Trial]:
    """Quick ways that are right for numbers may not be for what is not finite, or very small."""
    for geometry in USUAL:
        X, W, B = _whole(geometry, dtype)
        shows = (*geometry.shows, "D-ALL-4")
        special = replace(geometry, name=f"{geometry.name}-special", shows=shows)
        text = "Whole numbers, and NaNs and infinities among them."
        yield _trial(special, *with_special(X, W), B, text)
    # Small images will do: sums of subnormal doubles are slow.
    cut = [replace(each, X=(*each.X[:2], 4, 4)) for each in USUAL]
    for geometry in (*cut, *(each for each in GEOMETRIES if each.name in _TINY)):
        random = np.random.default_rng([*geometry.X, *geometry.W])
        X, B = (tiny_numbers(random, dtype, shape, 7) for shape in (geometry.X, geometry.W[:1]))
        W = whole_numbers(random, dtype, geometry.W, 3)
        small = replace(geometry, name=f"{geometry.name}-tiny", shows=(*geometry.shows, "D-ALL-4"))
        yield _trial(small, X, W, B, "Subnormal elements times whole numbers, exact in any order.")


def _numbers(geometry: _Geometry, dtype: DType, random: Random) -> tuple[Array, Array, Array]:
    X, W, B = (random_numbers(random, dtype, shape) for shape in (geometry.X, geometry.W, geometry.W[:1]))
    return X, W, B


# --- special values ----------------------------------------------------------------------------------------


def _special_values(dtype: DType) -> Iterator[Trial]:
    values = special_vector(dtype, signalling=True)
    count = len(values)
    for label, like in (
        ("", replace(_PADDED, pads=(0, 0, 0, 0))),
        ("-padded", _PADDED),
        ("-spread", _SPREAD),
    ):
        images = replace(like, name=f"special-inputs{label}", X=(count, 1, 3, 3))
        yield _with(images, dtype, "X", (slice(None), 0, 1, 1), "Every special value in an image of its own.")
        kernels = replace(like, name=f"special-weights{label}", W=(count, 1, 2, 2))
        yield _with(
            kernels, dtype, "W", (slice(None), 0, 0, 1), "Every special value in a kernel of its own."
        )
        depthwise = replace(like, X=(1, count, 3, 3), W=(count, 1, 2, 2), depthwise=True)
        channels = replace(depthwise, name=f"special-channels{label}")
        text = "Every special value in a channel of its own, which touches no other."
        yield _with(channels, dtype, "X", (0, slice(None), 1, 1), text)
        channels = replace(depthwise, name=f"special-channel-weights{label}")
        text = "Every special value in the kernel of a channel, which touches no other."
        yield _with(channels, dtype, "W", (slice(None), 0, 1, 0), text)
    biases = replace(_PADDED, name="special-biases", W=(count, 1, 2, 2), shows=("D-CONV-4", "D-ALL-4"))
    yield _with(biases, dtype, "B", (slice(None),), "Every special value as a bias.")
    X = W = values.reshape(count, 1, 1, 1)
    products = _Geometry("special-products", X.shape, W.shape, bias=False, shows=("D-ALL-4",))
    yield _trial(products, X, W, None, "Every special value times every other.")
    steps = replace(products, name="special-products-and-one", bias=True)
    ones = np.ones(count, values.dtype)
    yield _trial(steps, X, W, ones, "Every special value times every other, added to 1.")
    meeting = replace(steps, name="special-sums-and-biases", shows=("D-CONV-4", "D-ALL-4"))
    text = "Every special value as a bias, to which every other one is added."
    yield _trial(meeting, X, ones.reshape(W.shape), values, text)


def _with(geometry: _Geometry, dtype: DType, name: str, place: tuple[Any, ...], text: str) -> Trial:
    """Whole numbers, and special values at one place of every image, kernel or channel."""
    trial = _trial(geometry, *_whole(geometry, dtype), text)
    changed = trial.inputs[name].copy()
    changed[place] = special_vector(dtype, signalling=True)
    shows = ("D-CONV-5", "D-ALL-4") if any(geometry.pads) else ("D-ALL-4",)
    return replace(trial, inputs={**trial.inputs, name: changed}, shows=(*geometry.shows, *shows))


# --- sums --------------------------------------------------------------------------------------------------


def _layouts(each: Sum, dtype: DType) -> Iterator[Trial]:
    """One sum along the channels and along the columns of the kernel."""
    first, second = each.factors(dtype)
    count = len(first)
    for label, shape in (("channels", (1, count, 1, 1)), ("columns", (1, 1, 1, count))):
        geometry = _Geometry(f"sum-{each.name}-along-{label}", shape, shape, shows=("D-CONV-6", "D-ALL-4"))
        B = None if each.start is None else element(each.start, dtype).reshape(1)
        text = f"{each.text.removesuffix('.')}, along {label}."
        yield _trial(geometry, first.reshape(shape), second.reshape(shape), B, text)


def _orders(dtype: DType) -> Iterator[Trial]:
    first, second = (terms[np.newaxis] for terms in ordered_terms(dtype))
    geometry = _Geometry("order-of-axes", first.shape, first.shape, shows=("D-CONV-6",))
    text = "Channels come before lines, and lines before columns."
    yield _trial(geometry, first, second, None, text)
    twice = np.concatenate([first, first], axis=3)
    wide = replace(geometry, name="order-of-axes-at-every-position", X=twice.shape)
    yield _trial(wide, twice, second, None, f"{text.removesuffix('.')}, wherever the kernel lies.")


# --- random trials -----------------------------------------------------------------------------------------


def _random(number: int, dtype: DType, random: Random) -> Trial:
    (lines, down), (columns, along) = random_axis(random), random_axis(random)
    batch, channels, outputs = (int(random.integers(1, most)) for most in (3, 5, 6))
    depthwise = number % 3 == 2
    kernel = (down.kernel, along.kernel)
    geometry = _Geometry(
        f"random-{number}",
        (batch, channels, lines, columns),
        (channels, 1, *kernel) if depthwise else (outputs, channels, *kernel),
        (down.begin, along.begin, down.end, along.end),
        (down.stride, along.stride),
        (down.dilation, along.dilation),
        depthwise,
        shows=("D-CONV-1", "D-CONV-6"),
    )
    X, W, B = (
        random_elements(random, dtype, shape, number) for shape in (geometry.X, geometry.W, geometry.W[:1])
    )
    return _trial(geometry, X, W, B if random.integers(0, 4) else None, "A random convolution.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any geometry, depthwise or not, with a bias or without; elements of all kinds."""
    X, W, (down, along) = drawn_slide(draw, SPATIAL)
    depthwise, bias = (bool(draw.integer(0, 1)) for _ in range(2))
    depthwise &= X[1] > 0
    geometry = _Geometry(
        "drawn",
        X,
        (X[1], 1, *W[2:]) if depthwise else W,
        (down.begin, along.begin, down.end, along.end),
        (down.stride, along.stride),
        (down.dilation, along.dilation),
        depthwise,
        shows=("D-CONV-1", "D-CONV-6"),
    )
    elements = drawn_elements(draw, dtype, X, geometry.W, *[geometry.W[:1]] * bias)
    names = ("X", "W", "B")[: len(elements)]
    held = choice(draw, (NOTHING, frozenset(names[1:]), frozenset({"W"}), frozenset(names[2:])))
    trial = _trial(geometry, elements[0], elements[1], elements[2] if bias else None, "A drawn convolution.")
    return replace(trial, constants=held)


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """Those that all convolutions share; zeros of the padding are D-CONV-5, the order is D-CONV-6."""
    X, W, B = inputs["X"], inputs["W"], inputs.get("B")
    return convolution_clauses(X, W, B, sliding(W, attributes), int(attributes["group"]), _RULINGS)
