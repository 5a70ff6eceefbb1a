"""Operators on elements by loops over Python's own numbers, which are doubles and integers of any size.

Sums and products of two float16 are exact in a double, and a quotient that is rounded twice is rounded as if
once, for a double has more than twice the bits; `struct` rounds to float16, half to even.
"""

import math
import struct
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned
from tests.loops import for_each

from sonnx.derive.evaluate import evaluate
from sonnx.numeric.bits import same_bits
from sonnx.operators import operator

pytestmark = pytest.mark.measured

Array = Any
SPECIAL = [0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x4000, 0x6400, 0x7BFF, 0x7C00, 0x7E00]
BITS = [*SPECIAL, *(0x8000 | each for each in SPECIAL), *thinned(range(0x10000), 1500)]
SIXTEEN = np.array(BITS, np.uint16).view(np.float16)
BYTES = np.arange(-128, 128).astype(np.int8)
ALPHAS = (0.0, 0.25, -1.0, 0.2)


def half(number: float) -> float:
    """A double as the nearest number of 16 bits."""
    try:
        (rounded,) = struct.unpack("<e", struct.pack("<e", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(rounded)


def wrapped(number: int) -> int:
    return (number + 128) % 256 - 128


def given(name: str, *operands: Array, **attributes: float) -> Array:
    """What the operator gives for operands in their order."""
    op = operator(name)
    first = op.contract.inputs[0]
    names = (
        [f"{first.name}{m}" for m in range(len(operands))]
        if first.variadic
        else [i.name for i in op.contract.inputs]
    )
    with np.errstate(all="ignore"):
        (made,) = evaluate(op, dict(zip(names, operands, strict=True)), attributes).values()
    return made


def by_hand(function: Callable[..., float], *operands: Array) -> Array:
    """The same by a loop over Python's numbers."""
    lines = zip(*(array.tolist() for array in operands), strict=True)
    return np.array([function(*line) for line in lines], operands[0].dtype)


def in_pairs(elements: Array, every: int = 1) -> tuple[Array, Array]:
    """Each of some elements beside each of some others."""
    a, b = np.meshgrid(elements[::every], elements, indexing="ij")
    return a.reshape(-1), b.reshape(-1)


def least(a: float, b: float) -> float:
    return a if a != a else b if b != b else a if a < b else b  # noqa: PLR0124  only a NaN differs from itself


ON_HALVES: dict[str, Callable[[float], float]] = {
    "Sign": lambda x: x if math.isnan(x) else float((x > 0) - (x < 0)),
    "Neg": lambda x: math.copysign(x, -math.copysign(1, x)),
    "Abs": lambda x: math.copysign(x, 1.0),
}
ON_PAIRS: dict[str, Callable[[float, float], float]] = {
    "Sub": lambda a, b: half(a - b),
    "Sum": lambda a, b: half(a + b),
    "Mean": lambda a, b: half(half(a + b) / 2),
    "PRelu": lambda x, slope: half(slope * x) if x < 0 else x,
    "Min": least,
}
ON_BYTES: dict[str, Callable[..., int]] = {
    "Neg": lambda x: wrapped(-x),
    "Abs": lambda x: wrapped(abs(x)),
    "Sign": lambda x: (x > 0) - (x < 0),
    "Sub": lambda a, b: wrapped(a - b),
    "Min": min,
}


@for_each("name", ON_HALVES)
def test_one_number_of_sixteen_bits(name: str) -> None:
    assert same_bits(given(name, SIXTEEN), by_hand(ON_HALVES[name], SIXTEEN), nan="any")


@for_each("name", ON_PAIRS)
def test_two_numbers_of_sixteen_bits(name: str) -> None:
    some = np.concatenate([SIXTEEN[: 2 * len(SPECIAL)], SIXTEEN[2 * len(SPECIAL) :: 15]])
    pairs = in_pairs(some)
    assert same_bits(given(name, *pairs), by_hand(ON_PAIRS[name], *pairs), nan="any")


@for_each("name", ON_BYTES)
def test_integers_of_eight_bits(name: str) -> None:
    count = len(operator(name).contract.inputs) + (name == "Min")
    operands = in_pairs(BYTES) if count == 2 else (BYTES,)
    assert same_bits(given(name, *operands), by_hand(ON_BYTES[name], *operands))


@for_each("alpha", ALPHAS)
def test_a_slope_or_a_threshold_is_rounded_first(alpha: float) -> None:
    held = half(alpha)
    leaky = by_hand(lambda x: half(held * x) if x < 0 else x, SIXTEEN)
    assert same_bits(given("LeakyRelu", SIXTEEN, alpha=alpha), leaky, nan="any")
    above = by_hand(lambda x: x if x > held else 0.0, SIXTEEN)
    assert same_bits(given("ThresholdedRelu", SIXTEEN, alpha=alpha), above)


def test_the_sign_of_a_float_is_one_bit_whatever_the_others_are() -> None:
    every = np.arange(0x10000).astype(np.uint16)
    assert (given("Neg", every.view(np.float16)).view(np.uint16) == every ^ 0x8000).all()
    assert (given("Abs", every.view(np.float16)).view(np.uint16) == every & 0x7FFF).all()
    assert (given("Identity", every.view(np.float16)).view(np.uint16) == every).all()
    nans = every[(every & 0x7FFF) > 0x7C00]
    assert (given("Sign", nans.view(np.float16)).view(np.uint16) == nans).all()


def test_any_number_of_tensors_is_taken_from_the_first_on() -> None:
    rng = np.random.default_rng(3)
    for count in (1, 3, 5):
        data = [rng.permutation(SIXTEEN) for _ in range(count)]
        total = by_hand(lambda *line: reduce(lambda a, b: half(a + b), line), *data)
        assert same_bits(given("Sum", *data), total, nan="any")
        mean = by_hand(lambda x, count=count: half(x / count), total)
        assert same_bits(given("Mean", *data), mean, nan="any")
        assert same_bits(given("Min", *data), by_hand(lambda *line: reduce(least, line), *data), nan="any")
