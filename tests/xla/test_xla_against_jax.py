"""The definitions against JAX's own operations on the real XLA, without any text of ours in between.

XLA flushes subnormal numbers where it calculates: an element is left out of a comparison only where an
operand or the right result is subnormal. It also rounds some conversions twice, by way of f32; those are
compared where that makes no difference, and shown to differ by hand.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax
from tests.budgets import examples, thinned
from tests.loops import for_each

import sonnx
from sonnx import xla
from sonnx.model.dtype import XLA_NAMES, XLA_TYPES, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.convolution_accuracy import flushed

Array = Any
FEW = settings(
    deadline=None, max_examples=examples(25), derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
FLOATS = ["f16", "bf16", "f32", "f64"]
INTEGERS = ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]
COMPLEX = {"c64": "f32", "c128": "f64"}
# Conversions that XLA makes by way of f32, so that they are rounded twice.
TWICE = {("f64", "f16"), ("f64", "bf16"), *((wide, "bf16") for wide in ("s32", "u32", "s64", "u64"))}


def held(name: str) -> Any:
    return numpy_dtype(XLA_TYPES[name])


def from_bits(name: str, shape: Sequence[int], random: np.random.Generator) -> Array:
    """Elements of any bits; one in four is 0, -0, 1, infinite or NaN, and of pred 0 or 1."""
    if name == "pred":
        return random.random(shape) < 0.5
    if name in COMPLEX:
        parts = from_bits(COMPLEX[name], (*shape, 2), random)
        return np.ascontiguousarray(parts).view(held(name)).reshape(shape)
    dtype = held(name)
    raw = random.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    array = raw.view(dtype).reshape(shape).copy()
    if name in FLOATS:
        special = np.array([0.0, -0.0, 1.0, -np.inf, np.inf, np.nan], np.float32).astype(dtype)
        at = random.random(shape) < 0.25
        array[at] = random.choice(special, int(at.sum()))
    return array


def on_xla(function: Any, *arrays: Array) -> Array:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(function)(*arrays))


def is_subnormal(array: Array) -> Array:
    """Where an element, or one of its parts, is a subnormal number."""
    name = XLA_NAMES[DType(sonnx_type(array))]
    if name in COMPLEX:
        parts = np.ascontiguousarray(array).reshape(-1).view(held(COMPLEX[name])).reshape(*array.shape, 2)
        return np.asarray(is_subnormal(parts).any(axis=-1))
    if name not in FLOATS:
        return np.zeros(array.shape, bool)
    form = FORMATS[XLA_TYPES[name]]
    magnitude = np.ascontiguousarray(array).view(form.held_as).reshape(array.shape) & (form.sign_bit - 1)
    return np.asarray((magnitude > 0) & (magnitude < 1 << (form.precision - 1)))


def sonnx_type(array: Array) -> str:
    return next(dtype for dtype in XLA_NAMES if numpy_dtype(dtype) == array.dtype)


def same(found: Array, right: Array, *operands: Array) -> bool:
    """The same bits, any NaN for a NaN, but for subnormal numbers among operands and right results."""
    out = is_subnormal(right)
    for operand in operands:
        out = out | np.broadcast_to(is_subnormal(operand), right.shape)
    assert found.shape == right.shape
    assert found.dtype == right.dtype
    keep = ~out
    return sonnx.same_bits(np.asarray(found)[keep], np.asarray(right)[keep], nan="any")


SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)
NAMES = st.sampled_from(list(XLA_TYPES))


@FEW
@given(NAMES, SHAPES, st.lists(st.integers(0, 3), max_size=2), SEEDS)
def test_broadcast_is_that_of_xla(name: str, shape: tuple[int, ...], new: list[int], seed: int) -> None:
    X = from_bits(name, shape, np.random.default_rng(seed))
    assert same(on_xla(lambda x: lax.broadcast(x, new), X), xla.broadcast(X, new))


@FEW
@given(NAMES, st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple), st.data(), SEEDS)
def test_collapse_is_that_of_xla(name: str, shape: tuple[int, ...], data: st.DataObject, seed: int) -> None:
    X = from_bits(name, shape, np.random.default_rng(seed))
    first = data.draw(st.integers(0, len(shape) - 1))
    stop = data.draw(st.integers(first + 1, len(shape)))
    found = on_xla(lambda x: lax.collapse(x, first, stop), X)
    assert same(found, xla.collapse(X, list(range(first, stop))))


@FEW
@given(NAMES, st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data(), SEEDS)
def test_concatenate_is_that_of_xla(name: str, shape: list[int], data: st.DataObject, seed: int) -> None:
    random = np.random.default_rng(seed)
    dimension = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    operands = [
        from_bits(name, (*shape[:dimension], size, *shape[dimension + 1 :]), random) for size in sizes
    ]
    found = on_xla(lambda *xs: lax.concatenate(xs, dimension), *operands)
    assert same(found, xla.concatenate(operands, dimension))


@FEW
@given(st.sampled_from([*FLOATS, *INTEGERS]), SHAPES, st.booleans(), st.booleans(), SEEDS)
def test_clamp_is_that_of_xla(
    name: str, shape: tuple[int, ...], scalar_min: bool, scalar_max: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    X = from_bits(name, shape, random)
    low, high = (from_bits(name, () if scalar else shape, random) for scalar in (scalar_min, scalar_max))
    found = on_xla(lambda x, a, b: lax.clamp(a, x, b), X, low, high)
    assert same(found, xla.clamp(X, low, high), X, low, high)


def pairs() -> list[tuple[str, str]]:
    """Every conversion that the rulings allow; JAX drops imaginary parts, so c64 to pred is not its own."""
    names = list(XLA_TYPES)
    return [
        (source, target) for source in names for target in names if source not in COMPLEX or target in COMPLEX
    ]


@pytest.mark.thinned
@for_each(("source", "target"), thinned(pairs(), 40))
def test_convert_element_type_is_that_of_xla(source: str, target: str) -> None:
    X = from_bits(source, (4000,), np.random.default_rng(len(source) * 100 + len(target)))
    if source in FLOATS:
        # Numbers near 1 and near the ends of integers as well.
        X[2000:] = np.linspace(-300, 300, 2000).astype(X.dtype)
    if (source, target) in TWICE:
        # Numbers that f32 holds: 24 bits and some places below, or floats as they are.
        bits = np.random.default_rng(7).integers(0, 2**24, 2000, np.int64)
        held_by_f32 = np.float32(bits / 3000) if source in FLOATS else bits << np.arange(2000) % 8
        X[:2000] = held_by_f32.astype(X.dtype)
        X = X[unrounded_by_float(X)]
        assert len(np.unique(X)) > 900
    found = on_xla(lambda x: lax.convert_element_type(x, held(target)), X)
    assert same(found, xla.convert_element_type(X, target), X)


def unrounded_by_float(X: Array) -> Array:
    """Where an element is a number of f32, infinite or NaN: then the way by f32 rounds once."""
    with np.errstate(all="ignore"):
        wide = X.astype(np.float64)
        single = wide.astype(np.float32).astype(np.float64)
    if X.dtype.kind in "iu":
        return np.array([int(s) == int(x) for s, x in zip(single, X, strict=True)])
    return np.asarray((single == wide) | np.isnan(wide))


def test_xla_rounds_twice_where_the_ruling_rounds_once() -> None:
    tie = np.array([1 + 2.0**-11 + 2.0**-30])
    assert xla.convert_element_type(tie, "f16").item() == 1.0009765625
    # By way of float XLA rounds twice; a processor that makes halves of doubles by itself rounds once.
    at_once = " avx512_fp16 " in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    seen = on_xla(lambda x: lax.convert_element_type(x, np.float16), tie).item()
    assert seen == (1.0009765625 if at_once else 1.0)
    wide = np.array([2**24 + 2**16 + 1], np.int32)
    assert float(xla.convert_element_type(wide, "bf16")[0]) == 2**24 + 2**17
    assert float(on_xla(lambda x: lax.convert_element_type(x, ml_dtypes.bfloat16), wide)[0]) == 2**24


def test_xla_flushes_subnormal_numbers() -> None:
    tiny = np.array([2.0**-149], np.float32)
    low, high = np.float32(-1), np.float32(1)
    assert on_xla(lambda x: lax.clamp(low, x, high), tiny).item() == 0
    assert sonnx.same_bits(xla.clamp(tiny, low, high), tiny)


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """The shapes of both operands and attributes with padding of both signs and both dilations."""
    n = draw(st.integers(1, 3))

    def sizes(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(least, most)) for _ in range(n))

    batch, features, outputs = (draw(st.integers(1, 3)) for _ in range(3))
    base, window = sizes(1, 6), sizes(1, 3)
    attributes = {
        "window_strides": sizes(1, 3),
        "padding": tuple(draw(st.tuples(st.integers(-2, 3), st.integers(-2, 3))) for _ in range(n)),
        "lhs_dilation": sizes(1, 3),
        "rhs_dilation": sizes(1, 3),
    }
    problem = (batch, features, *base), (outputs, features, *window), attributes
    # JAX demands what the ruling does not: that the window fits into the base area.
    return problem if fits(*problem) else draw(convolutions())


def jax_convolution(lhs: Array, rhs: Array, attributes: dict[str, Any]) -> Array:
    """JAX's convolution; holes and padding of the base area come from its own `lax.pad`.

    XLA's convolution can be told both itself, but stops the whole process for some base dilations.
    """
    steps = [
        (low, high, spread - 1)
        for (low, high), spread in zip(attributes["padding"], attributes["lhs_dilation"], strict=True)
    ]

    def convolve(x: Array, w: Array) -> Array:
        padded = lax.pad(x, np.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *steps])
        return lax.conv_general_dilated(
            padded,
            w,
            attributes["window_strides"],
            "VALID",
            rhs_dilation=attributes["rhs_dilation"],
            precision=lax.Precision.HIGHEST,
        )

    return on_xla(convolve, lhs, rhs)


def fits(lhs: tuple[int, ...], rhs: tuple[int, ...], attributes: dict[str, Any]) -> bool:
    """Tell whether the window fits into the base area."""
    rows = zip(lhs[2:], rhs[2:], *attributes.values(), strict=True)
    return all(
        (size - 1) * spread + 1 + low + high >= (taps - 1) * apart + 1
        for size, taps, _, (low, high), spread, apart in rows
    )


@FEW
@given(convolutions(), st.sampled_from(["s8", "s16", "s32", "u8", "u32"]), SEEDS)
def test_convolutions_of_integers_are_exactly_those_of_xla(
    problem: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], name: str, seed: int
) -> None:
    lhs, rhs, attributes = problem
    random = np.random.default_rng(seed)
    X, W = from_bits(name, lhs, random), from_bits(name, rhs, random)
    found = jax_convolution(X, W, attributes)
    assert sonnx.same_bits(found, xla.conv_with_general_padding(X, W, **attributes))


@pytest.mark.long
def test_products_and_sums_near_the_smallest_normal_number_are_within_the_bound_for_flushing() -> None:
    random = np.random.default_rng(5)
    beyond = 0
    ones = dict.fromkeys(("window_strides", "lhs_dilation", "rhs_dilation"), (1,))
    attributes: dict[str, Any] = {**ones, "padding": ((0, 0),)}
    for _ in range(40):
        # Operands around 2^-60 and 2^-66, all normal: most products are subnormal.
        X, W = (
            (random.standard_normal(shape) * 2.0**exponent).astype(np.float32)
            for shape, exponent in (((1, 2, 5), -60), ((2, 2, 3), -66))
        )
        found = jax_convolution(X, W, attributes)
        exact = xla.conv_with_general_padding(sonnx.real(X), sonnx.real(W), **attributes)
        any_order, flushing = (
            sonnx.error_bound("xla.ConvWithGeneralPadding", X, W, order=order, **attributes)
            for order in ("any", "flushing")
        )
        away = [abs(Fraction(float(a)) - b) for a, b in zip(found.flat, exact.flat, strict=True)]
        assert all(far <= Fraction(float(most)) for far, most in zip(away, flushing.flat, strict=True))
        beyond += sum(far > Fraction(float(most)) for far, most in zip(away, any_order.flat, strict=True))
    assert beyond > 20  # the bound for any order alone would not do


@FEW
@given(convolutions(), st.sampled_from(["f32", "f64"]), SEEDS)
def test_convolutions_of_floats_are_within_the_derived_bound_of_the_exact_result(
    problem: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], name: str, seed: int
) -> None:
    lhs, rhs, attributes = problem
    random = np.random.default_rng(seed)
    # Products from about 2^-80 to 2^80: sums that cancel, and terms that vanish in them.
    X, W = (
        (random.standard_normal(shape) * 2.0 ** random.integers(-40, 40, shape)).astype(held(name))
        for shape in (lhs, rhs)
    )
    found = jax_convolution(X, W, attributes)
    exact = xla.conv_with_general_padding(sonnx.real(X), sonnx.real(W), **attributes)
    bound = sonnx.error_bound("xla.ConvWithGeneralPadding", X, W, order="any", **attributes)
    allowed = bound + flushed(int(np.prod(rhs[1:])), XLA_TYPES[name])
    away = [abs(Fraction(float(a)) - b) for a, b in zip(found.flat, exact.flat, strict=True)]
    assert all(far <= Fraction(float(most)) for far, most in zip(away, allowed.flat, strict=True))
