"""Trials of ConvWithGeneralPadding: geometries, special values, sums; and the clauses for an element."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.convolution_trials import (
    Rulings,
    Sum,
    convolution_clauses,
    drawn_elements,
    drawn_slide,
    long_sums,
    ordered_terms,
    random_axis,
    random_elements,
    sums,
    with_special,
)
from sonnx.operators.xla.conv_with_general_padding.geometry import LEADING, sliding
from sonnx.vocabulary.draws import Draw, choice
from sonnx.vocabulary.special_values import (
    NOTHING,
    Random,
    Shape,
    random_numbers,
    special_values,
    special_vector,
    tiny_numbers,
    whole_numbers,
)
from sonnx.vocabulary.trial import Clause, Trial

# A name, the operands, whether zeros are to lie around the base area, and a text → a trial.
Make = Callable[[str, Array, Array, bool, str], Trial]

_NAME = "xla.conv_with_general_padding"
_RULINGS = Rulings(zeros="D-XLA-5", padding="D-XLA-5", places="D-XLA-5", order="D-XLA-5")
_RANDOM = 24
MOST_SPATIAL = 2
DRAWN_HELD = (NOTHING, frozenset({"rhs"}), frozenset({"lhs"}))
_LARGE = (1, 8, 120, 110), (8, 8, 3, 3)


@dataclass(frozen=True)
class _Geometry:
    """Shapes and attributes; those that are left out are no padding and steps and distances of 1."""

    name: str
    lhs: Shape
    rhs: Shape
    padding: tuple[tuple[int, int], ...] = ()
    strides: Shape = ()
    base: Shape = ()
    window: Shape = ()
    shows: tuple[str, ...] = ()

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Everything that is written."""
        ones = (1,) * (len(self.lhs) - LEADING)
        return {
            "window_strides": self.strides or ones,
            "padding": self.padding or ((0, 0),) * len(ones),
            "lhs_dilation": self.base or ones,
            "rhs_dilation": self.window or ones,
        }


def _rules(*labels: str) -> tuple[str, ...]:
    return (*(f"{_NAME}.{label}" for label in labels), "D-XLA-5")


_TYPES = _rules("lhs.D1", "rhs.D1", "output.D2", "output.D1", "rhs.D2", "rhs.D3")
_POINT = _rules("rhs.D4")
_STRIDES, _PADDING = _rules("window_strides.D1"), _rules("padding.D1")
_BASE, _WINDOW = _rules("lhs_dilation.D1"), _rules("rhs_dilation.D1")
_EMPTY = _rules("output.D1")

GEOMETRIES = (
    _Geometry("no-spatial-dimension", (2, 3), (4, 3), shows=_rules("lhs.D2")),
    _Geometry("one-element", (1, 1), (1, 1), shows=_rules("lhs.D2")),
    _Geometry("one-spatial-dimension", (1, 2, 6), (3, 2, 3), shows=_TYPES),
    _Geometry("two-spatial-dimensions", (1, 2, 5, 6), (3, 2, 3, 2), shows=_TYPES),
    _Geometry("three-spatial-dimensions", (1, 2, 3, 4, 3), (2, 2, 2, 2, 1), shows=_TYPES),
    _Geometry("four-spatial-dimensions", (1, 1, 2, 3, 2, 3), (2, 1, 2, 1, 2, 2), shows=_TYPES),
    _Geometry("pointwise", (2, 5, 3, 4), (7, 5, 1, 1), shows=_POINT),
    _Geometry("window-as-large-as-base", (2, 3, 4, 3), (2, 3, 4, 3), shows=_POINT),
    _Geometry("window-as-large-as-padded", (1, 2, 2), (2, 2, 5), ((1, 2),), shows=_PADDING),
    _Geometry("batch-of-three", (3, 2, 4, 4), (2, 2, 2, 3), shows=_TYPES),
    _Geometry("many-features", (1, 4, 3, 3), (16, 4, 2, 2), shows=_TYPES),
    _Geometry("line-of-15-of-many-features", (1, 33, 16), (5, 33, 2), shows=_TYPES),
    _Geometry("line-of-31-to-many-features", (1, 2, 33), (65, 2, 3), shows=_TYPES),
    _Geometry("padded-point", (1, 4, 4, 5), (4, 4, 1, 1), ((1, 1), (1, 1)), shows=_PADDING),
    _Geometry("three-by-three", (1, 4, 7, 8), (4, 4, 3, 3), ((1, 1), (1, 1)), shows=_PADDING),
    _Geometry("three-by-three-by-two", (1, 4, 7, 8), (4, 4, 3, 3), ((1, 1), (1, 1)), (2, 2), shows=_STRIDES),
    _Geometry("padding-low", (1, 1, 3, 4), (2, 1, 2, 2), ((2, 0), (0, 0)), shows=_PADDING),
    _Geometry("padding-high", (1, 1, 3, 4), (2, 1, 2, 2), ((0, 0), (0, 2)), shows=_PADDING),
    _Geometry("padding-unlike", (1, 2, 3, 4), (2, 2, 3, 3), ((1, 3), (2, 0)), shows=_PADDING),
    _Geometry("padding-around", (1, 2, 4, 4), (3, 2, 3, 3), ((1, 1), (1, 1)), shows=_PADDING),
    _Geometry("padding-beyond-the-window", (1, 1, 2), (2, 1, 2), ((4, 5),), shows=_PADDING),
    _Geometry("padding-negative-low", (1, 2, 6), (2, 2, 2), ((-2, 0),), shows=_PADDING),
    _Geometry("padding-negative-high", (1, 2, 6), (2, 2, 2), ((0, -3),), shows=_PADDING),
    _Geometry("padding-of-both-signs", (1, 2, 5, 5), (2, 2, 2, 2), ((-1, 2), (3, -2)), shows=_PADDING),
    _Geometry("padding-removes-all", (1, 2, 3), (2, 2, 2), ((-3, 4),), shows=_PADDING),
    _Geometry("padding-removes-more", (1, 2, 3), (2, 2, 2), ((-5, 8),), shows=_PADDING),
    _Geometry("strides-of-first", (1, 2, 6, 5), (2, 2, 2, 2), strides=(2, 1), shows=_STRIDES),
    _Geometry("strides-of-second", (1, 2, 6, 5), (2, 2, 2, 2), strides=(1, 2), shows=_STRIDES),
    _Geometry("strides-that-leave-a-rest", (1, 1, 8, 10), (2, 1, 3, 3), strides=(3, 4), shows=_STRIDES),
    _Geometry("strides-beyond-the-base", (1, 2, 3, 3), (2, 2, 2, 2), strides=(7, 9), shows=_STRIDES),
    _Geometry("base-dilation", (1, 2, 4), (2, 2, 3), base=(2,), shows=_BASE),
    _Geometry("base-dilation-of-one-element", (1, 2, 1), (2, 2, 1), base=(5,), shows=_BASE),
    _Geometry("base-dilation-unlike", (1, 2, 3, 3), (2, 2, 2, 3), base=(3, 2), shows=_BASE),
    _Geometry("base-dilation-and-padding", (1, 1, 3), (2, 1, 2), ((2, 1),), base=(3,), shows=_BASE),
    _Geometry("base-dilation-and-removal", (1, 1, 4), (2, 1, 2), ((-2, -1),), base=(3,), shows=_BASE),
    _Geometry("base-dilation-and-strides", (1, 2, 4), (2, 2, 3), strides=(2,), base=(3,), shows=_BASE),
    _Geometry("window-dilation", (1, 2, 7, 4), (2, 2, 3, 2), window=(3, 1), shows=_WINDOW),
    _Geometry("window-dilation-of-a-point", (1, 2, 3), (2, 2, 1), window=(6,), shows=_WINDOW),
    _Geometry("both-dilations", (1, 2, 5, 3), (2, 2, 2, 2), base=(2, 3), window=(3, 2), shows=_BASE),
    _Geometry(
        "everything-unlike",
        *((2, 3, 5, 6), (4, 3, 3, 2), ((1, -2), (-1, 4)), (2, 3), (2, 1), (1, 3)),
        shows=(*_PADDING, *_STRIDES, *_BASE, *_WINDOW),
    ),
    # Three and four dimensions, of which no two have an attribute in common.
    _Geometry(
        "three-unlike-dimensions",
        *((1, 2, 4, 5, 4), (2, 2, 2, 3, 2), ((1, -1), (-1, 3), (2, 0)), (1, 3, 2), (3, 2, 1), (2, 1, 3)),
        shows=(*_PADDING, *_STRIDES, *_BASE, *_WINDOW),
    ),
    _Geometry(
        "four-unlike-dimensions",
        *((1, 1, 3, 4, 5, 6), (2, 1, 2, 1, 2, 2), ((2, 0), (0, -1), (-2, 1), (1, 3))),
        *((2, 1, 4, 3), (4, 3, 2, 1), (1, 2, 3, 4)),
        shows=(*_PADDING, *_STRIDES, *_BASE, *_WINDOW),
    ),
    # Those that runtimes have quick ways for.
    _Geometry("quick-batch-of-forty", (40, 9), (12, 9), shows=_rules("lhs.D2")),
    _Geometry("quick-features-by-two", (1, 3, 7, 8), (16, 3, 3, 3), ((1, 1), (0, 1)), (2, 2), shows=_STRIDES),
    _Geometry(
        "quick-base-dilation",
        *((2, 8, 3, 4), (8, 8, 3, 3), ((1, 2), (1, 2))),
        base=(2, 2),
        shows=_BASE,
    ),
    _Geometry("no-batch", (0, 2, 3), (2, 2, 2), shows=_EMPTY),
    _Geometry("no-input-features", (1, 0, 3), (2, 0, 2), shows=_EMPTY),
    _Geometry("no-output-features", (1, 2, 3), (0, 2, 2), shows=_EMPTY),
    _Geometry("no-base-area", (1, 2, 0), (2, 2, 2), ((2, 1),), base=(3,), shows=_EMPTY),
    _Geometry("window-does-not-fit", (1, 2, 2, 5), (2, 2, 3, 2), shows=_EMPTY),
    _Geometry("nothing-remains", (1, 2, 3), (2, 2, 1), ((-2, -1),), shows=_EMPTY),
)
# Those that are tried with other elements too.
_USUAL = ("three-by-three", "three-by-three-by-two")
_SMALL = ("three-by-three-by-two", "base-dilation-and-strides", "window-dilation", "everything-unlike")
TINY_TEXT = "Subnormal elements times whole numbers, exact in any order."


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Everything twice: the window as an input, and as a constant."""
    yield from twice(_trials(dtype, np.random.default_rng(seed)))


def twice(each: Iterator[Trial]) -> Iterator[Trial]:
    """Every trial, and again with a constant window: what is calculated beforehand may come out otherwise."""
    for trial in each:
        yield trial
        text = f"{trial.text.removesuffix('.')}, with a constant window."
        yield replace(trial, name=f"{trial.name}-constant", text=text, constants=frozenset({"rhs"}))


def _trials(dtype: DType, random: Random) -> Iterator[Trial]:
    for geometry in GEOMETRIES:
        text = f"{geometry.name.replace('-', ' ').capitalize()}: whole numbers, exact in any order."
        yield _trial(geometry, *whole_operands(geometry.lhs, geometry.rhs, dtype), text)
    if dtype in FORMATS:
        yield from _holes(dtype)
        yield from _beyond_numbers(dtype)
    yield from value_trials(dtype, _make)
    for number in range(_RANDOM):
        yield _random(number, dtype, random)


def _trial(geometry: _Geometry, lhs: Array, rhs: Array, text: str) -> Trial:
    return Trial(geometry.name, {"lhs": lhs, "rhs": rhs}, geometry.shows, text, geometry.attributes)


def _make(name: str, lhs: Array, rhs: Array, padded: bool, text: str) -> Trial:
    padding = ((1, 1),) * (lhs.ndim - LEADING) if padded else ()
    shows = ("D-XLA-5", "D-ALL-4")
    return _trial(_Geometry(name, lhs.shape, rhs.shape, padding, shows=shows), lhs, rhs, text)


def whole_operands(lhs: Shape, rhs: Shape, dtype: DType) -> tuple[Array, Array]:
    """Whole numbers that hang on the shapes alone."""
    random = np.random.default_rng([*lhs, *rhs])
    return whole_numbers(random, dtype, lhs, 7), whole_numbers(random, dtype, rhs, 3)


def tiny_operands(lhs: Shape, rhs: Shape, dtype: DType) -> tuple[Array, Array]:
    """Subnormal elements and a window of whole numbers."""
    random = np.random.default_rng([*lhs, *rhs])
    return tiny_numbers(random, dtype, lhs, 7), whole_numbers(random, dtype, rhs, 3)


def _holes(dtype: DType) -> Iterator[Trial]:
    """Zeros between elements take part; what is removed, and what lies in a window's holes, does not."""
    values = special_values(dtype)
    one = values["one"]
    for name in ("infinity", "minus-infinity", "quiet-nan"):
        value = values[name]
        lhs = np.stack([one, one, one]).reshape(1, 1, 3)
        rhs = np.stack([value, one]).reshape(1, 1, 2)
        geometry = _Geometry(f"{name}-over-a-hole", lhs.shape, rhs.shape, base=(2,), shows=_BASE)
        yield _trial(geometry, lhs, rhs, "A special weight meets zeros between elements.")
        lhs = np.stack([value, one, one, value]).reshape(1, 1, 4)
        rhs = np.stack([one, one]).reshape(1, 1, 2)
        geometry = _Geometry(f"{name}-removed", lhs.shape, rhs.shape, ((-1, -1),), shows=_PADDING)
        yield _trial(geometry, lhs, rhs, "Special elements are removed and do not take part.")
        lhs = np.stack([one, value, one]).reshape(1, 1, 3)
        geometry = _Geometry(f"{name}-in-the-window", lhs.shape, rhs.shape, window=(2,), shows=_WINDOW)
        yield _trial(geometry, lhs, rhs, "A hole of the window meets a special element.")


def _beyond_numbers(dtype: DType) -> Iterator[Trial]:
    found = {geometry.name: geometry for geometry in GEOMETRIES}
    for name in _USUAL:
        geometry = replace(found[name], name=f"{name}-special", shows=(*found[name].shows, "D-ALL-4"))
        operands = with_special(*whole_operands(geometry.lhs, geometry.rhs, dtype))
        yield _trial(geometry, *operands, "Whole numbers, and NaNs and infinities among them.")
    for name in _SMALL:
        geometry = replace(found[name], name=f"{name}-tiny", shows=(*found[name].shows, "D-ALL-4"))
        yield _trial(geometry, *tiny_operands(geometry.lhs, geometry.rhs, dtype), TINY_TEXT)


def _random(number: int, dtype: DType, random: Random) -> Trial:
    found = [random_axis(random) for _ in range(random.integers(0, 3))]
    batch, features, outputs = (int(random.integers(1, most)) for most in (3, 5, 6))
    axes = [axis for _, axis in found]
    geometry = _Geometry(
        f"random-{number}",
        (batch, features, *(size for size, _ in found)),
        (outputs, features, *(axis.kernel for axis in axes)),
        tuple((axis.begin - int(random.integers(0, 2)), axis.end) for axis in axes),
        tuple(axis.stride for axis in axes),
        tuple(int(random.integers(1, 3)) for _ in axes),
        tuple(axis.dilation for axis in axes),
        shows=("D-XLA-5",),
    )
    lhs, rhs = (random_elements(random, dtype, shape, number) for shape in (geometry.lhs, geometry.rhs))
    return _trial(geometry, lhs, rhs, "A random convolution.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Any geometry of up to two spatial dimensions; elements of all kinds."""
    lhs, rhs, axes = drawn_slide(draw, draw.integer(0, MOST_SPATIAL))
    geometry = _Geometry(
        "drawn",
        lhs,
        rhs,
        # Up to two elements are removed at either end.
        tuple((axis.begin - draw.integer(0, 2), axis.end - draw.integer(0, 2)) for axis in axes),
        tuple(axis.stride for axis in axes),
        tuple(draw.integer(1, 3) for _ in axes),
        tuple(axis.dilation for axis in axes),
        shows=("D-XLA-5",),
    )
    first, second = drawn_elements(draw, dtype, lhs, rhs)
    trial = _trial(geometry, first, second, "A drawn convolution.")
    return replace(trial, constants=choice(draw, DRAWN_HELD))


# --- what both XLA convolutions try ------------------------------------------------------------------------


def value_trials(dtype: DType, make: Make) -> Iterator[Trial]:
    """Special values in both operands, sums that show how they are taken, and a large one."""
    values = special_vector(dtype, signalling=True)
    count = len(values)
    for padded in (False, True):
        label = "-padded" if padded else ""
        lhs, rhs = whole_operands((count, 1, 3, 3), (1, 1, 2, 2), dtype)
        lhs[:, 0, 1, 1] = values
        text = "Every special value in a base area of its own."
        yield make(f"special-elements{label}", lhs, rhs, padded, text)
        lhs, rhs = whole_operands((1, 1, 3, 3), (count, 1, 2, 2), dtype)
        rhs[:, 0, 0, 1] = values
        text = "Every special value in a window of its own."
        yield make(f"special-weights{label}", lhs, rhs, padded, text)
    lhs = rhs = values.reshape(count, 1)
    yield make("special-products", lhs, rhs, False, "Every special value times every other.")
    for each in sums(dtype):
        yield from _layouts(each, dtype, make)
    for long in long_sums(dtype):
        yield make(long.name, long.X, long.W, False, long.text)
    if dtype in FORMATS:
        first, second = (terms[np.newaxis] for terms in ordered_terms(dtype))
        text = "Features come before spatial dimensions, and these come in order."
        yield make("order-of-axes", first, second, False, text)
    if dtype is DType.FLOAT:
        random = np.random.default_rng(_LARGE[0])
        lhs, rhs = (random_numbers(random, dtype, shape) for shape in _LARGE)
        yield make("hundred-thousand-sums", lhs, rhs, False, "A hundred thousand sums of 72 terms.")


def _layouts(each: Sum, dtype: DType, make: Make) -> Iterator[Trial]:
    """One sum along the features, which is a product of matrices, and along a spatial dimension."""
    begun = each if each.start is None else replace(each, terms=((each.start, 1), *each.terms))
    first, second = begun.factors(dtype)
    count = len(first)
    for label, shape in (("features", (1, count)), ("a-dimension", (1, 1, count))):
        name, text = f"sum-{each.name}-along-{label}", f"{each.text.removesuffix('.')}, along {label}."
        yield make(name, first.reshape(shape), second.reshape(shape), False, text.replace("-", " "))


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """Those that all convolutions share; everything is D-XLA-5."""
    X, W = inputs["lhs"], inputs["rhs"]
    return convolution_clauses(X, W, None, sliding(W, attributes), 1, _RULINGS)
