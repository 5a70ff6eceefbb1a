"""Trials of Clamp: special values between all bounds, scalars and arrays; and the clauses for an element."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.special_values import (
    SHAPES,
    bounds,
    distinct_floats,
    everywhere,
    filled,
    is_nan,
    is_subnormal,
    random_bits,
    random_numbers,
    special_values,
    special_vector,
    spread,
)
from sonnx.operators.shared.trials import Clause, Trial

_NOTHING: frozenset[str] = frozenset()
_BOUNDS = frozenset({"min", "max"})
_HELD = (_NOTHING, _BOUNDS, frozenset({"min"}), frozenset({"max"}))
_TYPE_RULES = ("xla.clamp.operand.D1", "xla.clamp.min.D1", "xla.clamp.max.D1", "xla.clamp.output.D2")
_SHAPE_RULES = ("xla.clamp.min.D2", "xla.clamp.max.D2", "xla.clamp.output.D1")
_RANDOM = 32
_MANY = 1_000_003


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Scalar bounds in pairs, arrays of bounds, shapes, a large one; random ones."""
    yield from _pairs(dtype)
    yield from _triples(dtype)
    yield from _shapes(dtype)
    if dtype is DType.FLOAT:
        yield _large()
    yield from _random(dtype, np.random.default_rng(seed))


def _trial(
    name: str,
    operands: tuple[Array, Array, Array],
    text: str,
    shows: Iterable[str] = (),
    held: frozenset[str] = _NOTHING,
) -> Trial:
    inputs = dict(zip(("operand", "min", "max"), operands, strict=True))
    small = any(is_subnormal(operand).any() for operand in operands)
    rulings = ("D-XLA-1", "D-ALL-4") if small else ("D-XLA-1",)
    return Trial(name, inputs, (*shows, *rulings), text, constants=held)


def _pairs(dtype: DType) -> Iterator[Trial]:
    x = special_vector(dtype)
    for low_name, low in bounds(dtype).items():
        for high_name, high in bounds(dtype).items():
            between = f"between {low_name.replace('-', ' ')} and {high_name.replace('-', ' ')}"
            name = f"from-{low_name}-to-{high_name}"
            yield _trial(name, (x, low, high), f"Special values {between}.", _TYPE_RULES)
            text = f"Special values {between}, bounds constant."
            yield _trial(f"{name}-constant", (x, low, high), text, held=_BOUNDS)


def _triples(dtype: DType) -> Iterator[Trial]:
    """Arrays of bounds: each special value between all pairs, and as each bound of all others."""
    several = np.stack(list(bounds(dtype).values()))
    lows, highs = (part.reshape(-1) for part in np.meshgrid(several, several, indexing="ij"))
    every = special_vector(dtype)
    backwards = every[::-1].copy()
    for name, value in special_values(dtype).items():
        words = name.replace("-", " ").capitalize()
        operands = filled(value, lows.shape), lows, highs
        yield _trial(f"{name}-between-arrays", operands, f"{words} between all pairs.", _SHAPE_RULES)
        same = filled(value, every.shape)
        yield _trial(f"{name}-as-min", (every, same, backwards), f"{words} as min of all.", _SHAPE_RULES)
        yield _trial(f"{name}-as-max", (every, backwards, same), f"{words} as max of all.", _SHAPE_RULES)
        yield _trial(f"{name}-as-both", (every, value, value), f"{words} as both bounds.", _SHAPE_RULES)


def _shapes(dtype: DType) -> Iterator[Trial]:
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
            held = _HELD[number]
            yield _trial(f"shape-{name}-{kind}", (x, *pair), text, _SHAPE_RULES, held)


def _large() -> Trial:
    """About a quarter of the operand lies below its own bound, and as much above."""
    random = np.random.default_rng(_MANY)
    x = distinct_floats(random, DType.FLOAT, _MANY)
    shifts = random.integers(-3 * _MANY, _MANY, (2, _MANY))
    raw = x.view(np.uint32)
    low, high = ((raw + sign * shift).astype(np.uint32) for sign, shift in zip((1, -1), shifts, strict=True))
    text = "A million floats, each another, with bounds of their own."
    return _trial("million", (x, low.view(np.float32), high.view(np.float32)), text)


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    shapes = list(SHAPES.values())
    for number in range(_RANDOM):
        shape = shapes[int(random.integers(0, len(shapes)))]
        make = random_bits if number % 2 or dtype is DType.BOOL else random_numbers
        low, high = (shape if random.integers(0, 2) else () for _ in range(2))
        x, least, most = (make(random, dtype, each) for each in (shape, low, high))
        held = _HELD[number // 2 % len(_HELD)]
        yield _trial(f"random-{number}", (x, least, most), "Random elements and bounds.", held=held)


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
