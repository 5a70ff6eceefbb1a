"""Sqrt and Reciprocal on every float16: reference, native code and plain C against integers alone."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.derive.plain_walk import COMPILERS, needs_compiler, run_each
from tests.native.support import model, node, value

from sonnx.derive.evaluate import evaluate
from sonnx.operators import operator
from sonnx.terms.tracing import Definition

Array = Any
EVERY = np.arange(2**16, dtype=np.uint16)
INFINITY, NAN, SIGN = 0x7C00, 0x7E00, 0x8000


@cache
def integer(bits: int) -> int:
    """A float16 without its sign, in units of 2^-24; infinity is what would come after the largest."""
    exponent, fraction = divmod(bits, 1024)
    return fraction if exponent == 0 else (1024 + fraction) << (exponent - 1)


def nearest(below: Callable[[int], int]) -> int:
    """The float16 nearest to a number, of which `below(m)` tells by its sign whether it is below m·2^-25.

    Between neighbours lies their middle; a number in it belongs to the even one.
    """
    low, high = 0, INFINITY
    while low < high:
        bits = (low + high) // 2
        told = below(integer(bits) + integer(bits + 1))
        if told < 0 or (told == 0 and bits % 2 == 0):
            high = bits
        else:
            low = bits + 1
    return low


def root(bits: int) -> int:
    if bits & ~SIGN > INFINITY or (bits > SIGN):
        return NAN
    if bits in (0, SIGN, INFINITY):
        return bits
    # x·2^-24 against m²·2^-50
    return nearest(lambda m: (integer(bits) << 26) - m * m)


def reciprocal(bits: int) -> int:
    sign, magnitude = bits & SIGN, bits & ~SIGN
    if magnitude > INFINITY:
        return NAN
    if magnitude in (0, INFINITY):
        return sign | (INFINITY - magnitude)
    # 2^24/x against m·2^-25
    return sign | nearest(lambda m: (1 << 49) - m * integer(magnitude))


INDEPENDENT = {"Reciprocal": reciprocal, "Sqrt": root}


@cache
def expected(name: str) -> Array:
    return np.array([INDEPENDENT[name](bits) for bits in range(2**16)], np.uint16)


def assert_expected(found: Array, name: str) -> None:
    bits = np.ascontiguousarray(found).view(np.uint16).reshape(-1).copy()
    bits[np.isnan(found).reshape(-1)] = NAN
    wrong = np.flatnonzero(bits != expected(name))
    assert [f"{each:#06x} gives {bits[each]:#06x}" for each in wrong[:10].tolist()] == []


def test_the_integers_know_values_that_were_worked_out_by_hand() -> None:
    one, two, three, third = 0x3C00, 0x4000, 0x4200, 0x3555
    assert [reciprocal(bits) for bits in (one, two, three, 0x8001)] == [one, 0x3800, third, 0xFC00]
    assert [root(bits) for bits in (one, 0x4400, two, 0x0001, 0x8001)] == [one, two, 0x3DA8, 0x0C00, NAN]


@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_definition_gives_the_nearest_float16_to_every_argument(name: str) -> None:
    with np.errstate(all="ignore"):
        (found,) = evaluate(operator(name), {"X": EVERY.view(np.float16)}, {}).values()
    assert_expected(found, name)


@needs_compiler
@pytest.mark.parametrize("name", INDEPENDENT)
def test_native_code_gives_the_nearest_float16_to_every_argument(name: str) -> None:
    shape = (EVERY.size,)
    graph = model([node(name, ("x",), "y")], [value("x", "float16", shape)], [value("y", "float16", shape)])
    assert_expected(graph.compile(threads=1)({"x": EVERY.view(np.float16)})["y"], name)


@pytest.mark.parametrize("compiler", COMPILERS[:1])
@needs_compiler
def test_plain_c_gives_the_nearest_float16_to_every_argument(compiler: str) -> None:
    definitions = [definition(name) for name in INDEPENDENT]
    x = {"X": EVERY.view(np.float16)}
    made = run_each(definitions, x, {"X": "float16"}, ("float16", EVERY.shape), compiler)
    for name, found in zip(INDEPENDENT, made, strict=True):
        assert_expected(found, name)


def definition(name: str) -> Definition:
    found = operator(name).definition
    assert found is not None
    return found
