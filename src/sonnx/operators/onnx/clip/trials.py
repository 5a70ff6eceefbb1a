"""Trials of Clip: special values between all pairs of bounds; and the clauses that decide an element."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.onnx.clip.meaning import effective_bounds
from sonnx.operators.shared.draws import Draw, choice, drawn_array, drawn_shape
from sonnx.operators.shared.special_values import (
    HELD_BOUNDS,
    LONGER,
    MANY,
    SHAPES,
    THOUSANDS,
    Between,
    Random,
    between_bounds,
    bounds,
    distinct_floats,
    everywhere,
    in_bulk,
    is_nan,
    is_subnormal,
    random_bits,
    random_numbers,
    replaced,
    special_block,
    special_values,
    special_vector,
    spread,
    told_apart,
    words,
)
from sonnx.operators.shared.trials import Clause, Trial

_TYPE_RULES = ("clip.input.D1", "clip.min.C1", "clip.max.C1", "clip.output.C2", "D-CLIP-3")
_BOUND_RULES = ("clip.min.D1", "clip.min.D2", "clip.max.D1", "clip.max.D2", "D-CLIP-4")
_SHAPE_RULES = ("clip.output.C1", "clip.min.D2", "clip.max.D2")
_RANDOM = 40


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Pairs of bounds, equal ones and their neighbours, shapes, signalling NaNs, a large one; random ones."""
    yield from map(_trial, _between(dtype, np.random.default_rng(seed)))


def _between(dtype: DType, random: Random) -> Iterator[Between]:
    yield from between_bounds(dtype, *_BOUND_RULES)
    yield from in_bulk(dtype, special_vector(dtype, signalling=True))
    yield from _equal_bounds(dtype)
    yield from _shapes(dtype)
    yield _beside_the_bounds(dtype)
    if dtype in FORMATS:
        yield from _signalling(dtype)
    if dtype is DType.FLOAT:
        yield _large()
    yield from _random(dtype, random)


def _trial(each: Between) -> Trial:
    _, low, high = each.operands
    return each.trial("input", *_rulings(low, high))


def _rulings(low: Array, high: Array) -> Iterator[str]:
    """What a pair of bounds is about."""
    if is_nan(low) or is_nan(high) or low > high:
        yield "D-CLIP-1"
    if low == 0 or high == 0:
        yield "D-CLIP-2"
    if is_subnormal(low) or is_subnormal(high):
        yield "D-ALL-4"
    yield "D-CLIP-5"


def _equal_bounds(dtype: DType) -> Iterator[Between]:
    x = special_vector(dtype)
    for name, bound in special_values(dtype).items():
        text = f"Special values where both bounds are {words(name)}."
        yield Between(f"both-{name}", (x, bound, bound), text, _TYPE_RULES)


def _shapes(dtype: DType) -> Iterator[Between]:
    values = bounds(dtype)
    low, high = (values["minus-one"], values["one"]) if "minus-one" in values else _middle(dtype)
    for first, (name, shape) in enumerate(SHAPES.items()):
        x = spread(special_vector(dtype), shape, first)
        held, text = HELD_BOUNDS[first % len(HELD_BOUNDS)], f"An input of shape {words(name)}."
        yield Between(f"shape-{name}", (x, low, high), text, _SHAPE_RULES, held)
    for number, length in enumerate(LONGER):
        x, held = special_block(dtype, length), HELD_BOUNDS[number % len(HELD_BOUNDS)]
        text = f"An input of {length} elements."
        yield Between(f"length-{length}", (x, low, high), text, _SHAPE_RULES, held)
    x, widest = told_apart(dtype, THOUSANDS), special_values(dtype)
    ends = ("zero", "largest") if dtype in FORMATS else ("least", "greatest")
    least, most = (widest[name] for name in ends)
    yield Between("thousands", (x, least, most), "Thousands of elements, which all stay.", _SHAPE_RULES)


def _middle(dtype: DType) -> tuple[Array, Array]:
    """Two bounds well inside a type's range, both of one sign."""
    held = numpy_dtype(dtype)
    return np.array(10, held), np.array(100, held)


def _beside_the_bounds(dtype: DType) -> Between:
    """Neighbours of positive bounds follow each other in their bits, of floats as of integers."""
    low, high = _middle(dtype)
    raw = np.dtype(f"u{low.dtype.itemsize}")
    steps = np.arange(-2, 3).astype(raw)
    x = np.concatenate([bound.view(raw) + steps for bound in (low, high)]).view(low.dtype)
    return Between("beside-the-bounds", (x, low, high), "The bounds themselves and their nearest neighbours.")


def _signalling(dtype: DType) -> Iterator[Between]:
    values = special_values(dtype, signalling=True)
    signalling = values["signalling-nan"]
    x = np.stack([values["one"], signalling, values["negative-signalling-nan"], values["minus-zero"]])
    for low, high in (("minus-one", "one"), ("one", "minus-one"), ("quiet-nan", "zero")):
        text = f"A signalling NaN between {words(low)} and {words(high)} stays as it is."
        yield Between(f"signalling-from-{low}-to-{high}", (x, values[low], values[high]), text, ("D-CLIP-1",))
    quiet = special_vector(dtype)
    text = "A signalling NaN does not bound."
    yield Between("signalling-min", (quiet, signalling, values["one"]), text)
    yield Between("signalling-max", (quiet, values["minus-one"], signalling), text)


def _large() -> Between:
    """Neighbours from 1 up; the bounds cut off a tenth at either end."""
    many = distinct_floats(np.random.default_rng(MANY), DType.FLOAT, MANY)
    steps = np.array([MANY // 10, MANY - MANY // 10], np.uint32)
    low, high = (np.float32(1).view(np.uint32) + steps).view(np.float32).reshape(2, 1)
    nan = special_values(DType.FLOAT)["nan-with-payload"]
    x = replaced(many, {(0,): nan, (MANY // 2,): nan, (MANY - 1,): nan})
    text = "A million floats, each another, of which four fifths stay."
    return Between("million", (x, low.reshape(()), high.reshape(())), text)


def _random(dtype: DType, random: Random) -> Iterator[Between]:
    shapes = list(SHAPES.values())
    for number in range(_RANDOM):
        shape = shapes[int(random.integers(0, len(shapes)))]
        make = random_bits if number % 2 else random_numbers
        low, high = make(random, dtype, (2, 1))
        operands = make(random, dtype, shape), low.reshape(()), high.reshape(())
        held = HELD_BOUNDS[number // 2 % len(HELD_BOUNDS)]
        yield Between(f"random-{number}", operands, "Random elements and bounds.", held=held)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements and bounds of all kinds, any of them constant but the input."""
    x = drawn_array(draw, dtype, drawn_shape(draw), signalling=True)
    low, high = drawn_array(draw, dtype, (2,), signalling=True).reshape(2, 1)
    operands = x, low.reshape(()), high.reshape(())
    text = "Drawn elements and bounds."
    return _trial(Between("drawn", operands, text, held=choice(draw, HELD_BOUNDS)))


def clauses(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """The cases of D-CLIP-1 in their order, and before comparisons what makes them go wrong."""
    x, given_low, given_high = inputs["input"], inputs["min"], inputs["max"]
    low, high = effective_bounds(given_low, given_high)
    everything = everywhere(x.shape)
    with np.errstate(invalid="ignore"):  # a comparison with a signalling NaN raises a flag
        zeros = (x == 0) & ((low == 0) | (high == 0))
        below, above = x < low, x > high
    subnormal = is_subnormal(x) | is_subnormal(low) | is_subnormal(high)
    return (
        Clause("D-CLIP-1", "A NaN input stays that NaN, bit for bit, whatever the bounds are.", is_nan(x)),
        Clause("D-CLIP-1", "A NaN min does not bound.", everything & is_nan(given_low)),
        Clause("D-CLIP-1", "A NaN max does not bound.", everything & is_nan(given_high)),
        Clause("D-CLIP-1", "Where min is above max, the output is max.", everything & (low > high)),
        Clause("D-CLIP-2", "Zeros of either sign are equal, so a zero at a zero bound stays.", zeros),
        Clause("D-ALL-4", "Subnormal numbers are compared as they are, and kept.", subnormal),
        Clause("D-CLIP-5", "An input below min becomes min, bit for bit.", below),
        Clause("D-CLIP-5", "An input above max becomes max, bit for bit.", above),
        Clause("D-CLIP-5", "An input inside the bounds stays, bit for bit.", everything),
    )
