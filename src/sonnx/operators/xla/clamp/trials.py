"""Trials of Clamp: special values between all bounds, scalars and arrays; and the clauses for an element."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.rounding import FORMATS
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
    filled,
    in_bulk,
    is_nan,
    is_subnormal,
    random_bits,
    random_numbers,
    special_block,
    special_values,
    special_vector,
    spread,
    told_apart,
)
from sonnx.operators.shared.trials import Clause, Trial

_TYPE_RULES = ("xla.clamp.operand.D1", "xla.clamp.min.D1", "xla.clamp.max.D1", "xla.clamp.output.D2")
_SHAPE_RULES = ("xla.clamp.min.D2", "xla.clamp.max.D2", "xla.clamp.output.D1")
_RANDOM = 32
# Bounds in their order, those that a type has.
_ORDERED = (("minus-one", "one"), ("next-to-least", "half"), ("false", "true"))


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Scalar bounds in pairs, arrays of bounds, shapes, a large one; random ones."""
    yield from map(_trial, _between(dtype, np.random.default_rng(seed)))


def _between(dtype: DType, random: Random) -> Iterator[Between]:
    yield from between_bounds(dtype, *_TYPE_RULES)
    yield from in_bulk(dtype, special_vector(dtype, signalling=True))
    yield from _triples(dtype)
    yield from _shapes(dtype)
    yield from _lengths(dtype)
    if dtype in FORMATS:
        yield from _signalling(dtype)
    if dtype is DType.FLOAT:
        yield _large()
    yield from _random(dtype, random)


def _trial(each: Between) -> Trial:
    small = any(is_subnormal(operand).any() for operand in each.operands)
    return each.trial("operand", *(("D-XLA-1", "D-ALL-4") if small else ("D-XLA-1",)))


def _triples(dtype: DType) -> Iterator[Between]:
    """Arrays of bounds: each special value between all pairs, and as each bound of all others."""
    several = np.stack(list(bounds(dtype).values()))
    lows, highs = (part.reshape(-1) for part in np.meshgrid(several, several, indexing="ij"))
    every = special_vector(dtype, signalling=True)
    backwards = every[::-1].copy()
    for name, value in special_values(dtype).items():
        words = name.replace("-", " ").capitalize()
        operands = filled(value, lows.shape), lows, highs
        yield Between(f"{name}-between-arrays", operands, f"{words} between all pairs.", _SHAPE_RULES)
        same = filled(value, every.shape)
        yield Between(f"{name}-as-min", (every, same, backwards), f"{words} as min of all.", _SHAPE_RULES)
        yield Between(f"{name}-as-max", (every, backwards, same), f"{words} as max of all.", _SHAPE_RULES)
        yield Between(f"{name}-as-both", (every, value, value), f"{words} as both bounds.", _SHAPE_RULES)


def _shapes(dtype: DType) -> Iterator[Between]:
    every = special_vector(dtype)
    for first, (name, shape) in enumerate(SHAPES.items()):
        x, low, high = (spread(every, shape, first + shift) for shift in (0, 2, 5))
        one, other = (every[first % len(every)], every[(first + 3) % len(every)])
        kinds = {
            "scalar-bounds": (np.asarray(one), np.asarray(other)),
            "scalar-min": (np.asarray(one), high),
            "scalar-max": (low, np.asarray(other)),
            "array-bounds": (low, high),
        }
        for number, (kind, pair) in enumerate(kinds.items()):
            text = f"An operand of shape {name.replace('-', ' ')}, {kind.replace('-', ' ')}."
            held = HELD_BOUNDS[number]
            yield Between(f"shape-{name}-{kind}", (x, *pair), text, _SHAPE_RULES, held)


def _lengths(dtype: DType) -> Iterator[Between]:
    """Bounds that let some elements pass and not the last one."""
    values = bounds(dtype)
    low, high = next((values[low], values[high]) for low, high in _ORDERED if low in values)
    for number, length in enumerate(LONGER):
        x = special_block(dtype, length)
        pair = (filled(low, x.shape), filled(high, x.shape)) if number % 2 else (low, high)
        text, held = f"An operand of {length} elements.", HELD_BOUNDS[number // 2 % len(HELD_BOUNDS)]
        yield Between(f"length-{length}", (x, *pair), text, _SHAPE_RULES, held)
    x, low, high = (told_apart(dtype, THOUSANDS, seed) for seed in range(3))
    yield Between("thousands", (x, low, high), "Thousands of elements, each with its bounds.", _SHAPE_RULES)


def _signalling(dtype: DType) -> Iterator[Between]:
    values, every = special_values(dtype, signalling=True), special_vector(dtype, signalling=True)
    signalling, text = values["signalling-nan"], "A signalling NaN is a NaN, and gives one."
    yield Between("signalling-min", (every, signalling, values["one"]), text)
    yield Between("signalling-max", (every, values["minus-one"], signalling), text)


def _large() -> Between:
    """About a quarter of the operand lies below its own bound, and as much above."""
    random = np.random.default_rng(MANY)
    x = distinct_floats(random, DType.FLOAT, MANY)
    shifts = random.integers(-3 * MANY, MANY, (2, MANY))
    raw = x.view(np.uint32)
    low, high = ((raw + sign * shift).astype(np.uint32) for sign, shift in zip((1, -1), shifts, strict=True))
    text = "A million floats, each another, with bounds of their own."
    return Between("million", (x, low.view(np.float32), high.view(np.float32)), text)


def _random(dtype: DType, random: Random) -> Iterator[Between]:
    shapes = list(SHAPES.values())
    for number in range(_RANDOM):
        shape = shapes[int(random.integers(0, len(shapes)))]
        make = random_bits if number % 2 or dtype is DType.BOOL else random_numbers
        low, high = (shape if random.integers(0, 2) else () for _ in range(2))
        x, least, most = (make(random, dtype, each) for each in (shape, low, high))
        held = HELD_BOUNDS[number // 2 % len(HELD_BOUNDS)]
        yield Between(f"random-{number}", (x, least, most), "Random elements and bounds.", held=held)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds; each bound a scalar or an array."""
    shape = drawn_shape(draw)
    low, high = (choice(draw, ((), shape)) for _ in range(2))
    x, least, most = (drawn_array(draw, dtype, each, signalling=True) for each in (shape, low, high))
    text = "Drawn elements and bounds."
    return _trial(Between("drawn", (x, least, most), text, held=choice(draw, HELD_BOUNDS)))


def clauses(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """NaN in any place, crossed bounds, zeros, subnormal numbers; then how the element lies."""
    x = inputs["operand"]
    low, high = (np.broadcast_to(inputs[name], x.shape) for name in ("min", "max"))
    with np.errstate(invalid="ignore"):  # comparing NaNs of bfloat16 raises a flag
        crossed, below, above = low > high, x < low, x > high
        zero, low_zero, high_zero = x == 0, low == 0, high == 0
    zeros = (zero & (low_zero | high_zero)) | (low_zero & high_zero)
    signed = x.dtype.kind not in "iub"
    subnormal = is_subnormal(x) | is_subnormal(low) | is_subnormal(high)
    return (
        Clause("D-XLA-1", "A NaN element gives NaN, whatever the bounds are.", is_nan(x)),
        Clause("D-XLA-1", "A NaN min gives NaN.", is_nan(low)),
        Clause("D-XLA-1", "A NaN max gives NaN.", is_nan(high)),
        Clause("D-XLA-1", "Where min is above max, the output is max.", crossed),
        Clause("D-XLA-1", "Zeros are ordered: -0 is below +0.", zeros & signed),
        Clause("D-ALL-4", "Subnormal numbers are compared as they are, and kept.", subnormal),
        Clause("D-XLA-1", "An element below min becomes min.", below),
        Clause("D-XLA-1", "An element above max becomes max.", above),
        Clause("D-XLA-1", "An element between the bounds stays.", everywhere(x.shape)),
    )
