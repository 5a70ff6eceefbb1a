"""Fused multiply-add: one rounding of the exact a·b + c, on every input there is."""

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.budgets import examples

from sonnx.numeric import fused
from sonnx.numeric.fused import fma

Array = NDArray[Any]
Triple = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Format:
    """A binary format of IEEE 754-2019, table 3.5."""

    precision: int
    emax: int
    held: Any  # a NumPy scalar type
    bits: Any  # the unsigned integers of its width

    @property
    def emin(self) -> int:
        return 1 - self.emax

    @property
    def width(self) -> int:
        return 32 if self.bits is np.uint32 else 64

    @property
    def infinity(self) -> int:
        return (2 * self.emax + 1) << (self.precision - 1)

    def from_bits(self, bits: Any) -> Array:
        return np.asarray(bits, dtype=self.bits).view(self.held)

    def numbers(self, *values: float) -> Array:
        return np.array(values, dtype=self.held)


FLOAT = Format(24, 127, np.float32, np.uint32)
DOUBLE = Format(53, 1023, np.float64, np.uint64)
KINDS = pytest.mark.parametrize("kind", [FLOAT, DOUBLE], ids=["float", "double"])


# The definition: IEEE 754-2019, fusedMultiplyAdd (5.4.1) with roundTiesToEven (4.3.1), the sign of a zero sum
# (6.3) and invalid operations (7.2), on integers only.


def unpack(bits: int, kind: Format) -> tuple[int, int, int]:
    """Sign, significand and exponent of a finite number: (-1)^sign · significand · 2^exponent."""
    field = (bits >> (kind.precision - 1)) & (2 * kind.emax + 1)
    fraction = bits & ((1 << (kind.precision - 1)) - 1)
    significand = fraction + (1 << (kind.precision - 1)) if field else fraction
    return bits >> (kind.width - 1), significand, max(field, 1) - 1 + kind.emin - (kind.precision - 1)


def pack(sign: int, significand: int, exponent: int, kind: Format) -> int:
    """The encoding of (-1)^sign · significand · 2^exponent after rounding to nearest, ties to even."""
    top = significand.bit_length() - 1 + exponent
    shift = max(top, kind.emin) - (kind.precision - 1) - exponent
    if shift <= 0:
        kept = significand << -shift
    else:
        kept, lost, half = significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)
        kept += lost > half or (lost == half and kept % 2 == 1)
    last = exponent + shift
    if kept == 1 << kind.precision:
        kept, last = kept >> 1, last + 1
    normal = kept >> (kind.precision - 1)
    field = last + (kind.precision - 1) - kind.emin + 1 if normal else 0
    magnitude = kind.infinity
    if field <= 2 * kind.emax:
        magnitude = (field << (kind.precision - 1)) | (kept & ((1 << (kind.precision - 1)) - 1))
    return (sign << (kind.width - 1)) | magnitude


def reference(a: int, b: int, c: int, kind: Format) -> int | None:
    """The bits of a·b + c rounded once, or None for NaN."""
    low = (1 << (kind.width - 1)) - 1
    size_a, size_b, size_c = a & low, b & low, c & low
    if max(size_a, size_b, size_c) > kind.infinity:
        return None
    sign = (a ^ b) >> (kind.width - 1)
    if kind.infinity in (size_a, size_b):
        invalid = 0 in (size_a, size_b) or (size_c == kind.infinity and c >> (kind.width - 1) != sign)
        return None if invalid else (sign << (kind.width - 1)) | kind.infinity
    if size_c == kind.infinity:
        return c
    (_, m_a, e_a), (_, m_b, e_b), (sign_c, m_c, e_c) = (unpack(bits, kind) for bits in (a, b, c))
    exponent = min(e_a + e_b, e_c)
    product, addend = (m_a * m_b) << (e_a + e_b - exponent), m_c << (e_c - exponent)
    total = (-product if sign else product) + (-addend if sign_c else addend)
    if total == 0:
        return (sign & sign_c) << (kind.width - 1)
    return pack(int(total < 0), abs(total), exponent, kind)


def expected(kind: Format, triple: Triple) -> list[int | None]:
    rows = zip(*(operand.view(kind.bits).tolist() for operand in triple), strict=True)
    return [reference(a, b, c, kind) for a, b, c in rows]


def wrong(kind: Format, result: Array, right: list[int | None]) -> list[tuple[int, str, str]]:
    """The places where a result is not the right one, with the bits of both."""
    found = []
    for place, (got, bits) in enumerate(zip(result.view(kind.bits).tolist(), right, strict=True)):
        is_nan = (got & ((1 << (kind.width - 1)) - 1)) > kind.infinity
        if not is_nan if bits is None else got != bits:
            found.append((place, hex(got), "NaN" if bits is None else hex(bits)))
    return found


def one(kind: Format, a: float, b: float, c: float) -> float:
    return float(fma(kind.numbers(a), kind.numbers(b), kind.numbers(c))[0])


# Traps: inputs on which every shortcut goes wrong.


def odd(generator: np.random.Generator, bits: Array) -> Array:
    """Random odd integers of the given numbers of bits."""
    high = np.left_shift(np.uint64(1), (bits - 1).astype(np.uint64))
    return (high + (generator.integers(0, 2**62, bits.shape, dtype=np.uint64) % high)) | np.uint64(1)


def scaled(kind: Format, integers: Array, exponents: Array) -> Array:
    """integers · 2^exponents; the callers see to it that this is exact or far from mattering."""
    with np.errstate(all="ignore"):
        return np.ldexp(integers.astype(np.float64), exponents).astype(kind.held)


def signs(generator: np.random.Generator, count: int) -> Array:
    return generator.choice([-1.0, 1.0], count)


def product_at_a_tie(kind: Format, generator: np.random.Generator, count: int) -> Triple:
    """a·b is half-way between two neighbours; c, far below or zero, decides."""
    bits = generator.integers(2, kind.precision, count)
    u, v = odd(generator, bits), odd(generator, kind.precision + 2 - bits)
    low = generator.integers(kind.emin // 3, kind.emax // 3, (2, count))
    # Of u·v with precision + 1 or + 2 bits, the first half-way cases are ties.
    distance = generator.integers(2, kind.precision * 3, count)
    c = scaled(kind, generator.integers(0, 3, count) - 1, low[0] + low[1] - distance)
    flip = signs(generator, count)
    return scaled(kind, u, low[0]) * flip.astype(kind.held), scaled(kind, v, low[1]), c


def near_a_power_of_two(kind: Format, generator: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Significands whose product is 2^(2·precision - 1), or as near as can be on either side."""
    p = kind.precision
    u = odd(generator, np.full(count, p))
    v = np.array([(2 ** (2 * p - 1) + value // 2) // value for value in u.tolist()], dtype=np.uint64)
    v += generator.integers(0, 2, v.shape, dtype=np.uint64)
    # (2^(p-1) + j)·2·(2^(p-1) - j) = 2^(2p-1) - 2·j²
    nearer = generator.random(count) < 0.5
    j = generator.integers(0, 4, count, dtype=np.uint64)
    middle = np.uint64(2 ** (p - 1))
    return np.where(nearer, middle + j, u), np.where(nearer, np.uint64(2) * (middle - j), v)


def sum_at_a_tie(kind: Format, generator: np.random.Generator, last: Array) -> Triple:
    """a·b is half of c's last place (2^last), give or take a hair; some c are far smaller."""
    p, count = kind.precision, len(last)
    u, v = near_a_power_of_two(kind, generator, count)
    exponent = last - 1 - (2 * p - 1)
    top = generator.integers(2 ** (p - 1), 2**p, count)
    top[::4] = 2**p - 1
    top[1::4] >>= generator.integers(0, p, len(top[1::4]))
    flip = signs(generator, count).astype(kind.held)
    a, b = scaled(kind, u, exponent // 2), scaled(kind, v, exponent - exponent // 2)
    return a * flip, b, scaled(kind, top, last)


def cancellation(kind: Format, generator: np.random.Generator, goal: Array) -> Triple:
    """c is the negated rounded product (of about 2^goal) or beside it: the product's error remains."""
    p, count = kind.precision, len(goal)
    first = generator.integers(-20, 20, count) + goal // 2
    a = scaled(kind, odd(generator, np.full(count, p)), first - p)
    b = scaled(kind, odd(generator, np.full(count, p)), goal - first - p)
    with np.errstate(all="ignore"):
        near = -(a * b)
    steps = generator.integers(-2, 3, count)
    return a, b, (near.view(kind.bits).astype(np.int64) + steps).astype(kind.bits).view(kind.held)


def subnormal_results(kind: Format, generator: np.random.Generator, count: int) -> Triple:
    """a·b is (n + ½) of the smallest number, give or take a hair; c is a subnormal or just above."""
    p = kind.precision
    smallest = kind.emin - (p - 1)
    steps = generator.integers(0, 2 ** generator.integers(1, p, count))
    goal = 2 * steps + 1
    u = odd(generator, np.full(count, p))
    shift = 2 * p - np.array([int(g).bit_length() for g in goal])
    v = [
        (int(g) << int(s)) // int(w) + int(r)
        for g, s, w, r in zip(goal, shift, u, generator.integers(0, 2, count), strict=True)
    ]
    v_array = np.array([min(value, 2**p - 1) for value in v], dtype=np.uint64)
    exponent = smallest - 1 - shift
    half = exponent // 2
    c = kind.from_bits(generator.integers(0, 2 ** generator.integers(1, p + 2, count)).astype(kind.bits))
    flips = signs(generator, count).astype(kind.held), signs(generator, count).astype(kind.held)
    return scaled(kind, u, half) * flips[0], scaled(kind, v_array, exponent - half), c * flips[1]


def near_the_constants(kind: Format, generator: np.random.Generator, count: int) -> Triple:
    """Operands, products and addends at and beside powers of two, among them every bound in the code."""
    bounds = np.array([kind.emin - kind.precision, kind.emin, -125, 0, kind.emax])
    if kind is DOUBLE:
        bounds = np.concatenate([bounds, [-1000, -990, -950, -900, 990, 1000]])
    goal = generator.choice(bounds, count) + generator.integers(-2, 3, count)
    first = generator.choice(bounds, count) + generator.integers(-2, 3, count)
    first = np.where(generator.random(count) < 0.5, first, goal // 2)
    c_exponent = goal + generator.integers(-2 * kind.precision, 2 * kind.precision, count)
    operands = []
    for exponent in (first, goal - first, c_exponent):
        with np.errstate(all="ignore"):
            power = np.ldexp(signs(generator, count), exponent).astype(kind.held)
        steps = generator.integers(-2, 3, count)
        finite = np.isfinite(power) & (np.abs(power) > 1e-40)
        moved = (power.view(kind.bits).astype(np.int64) + np.where(finite, steps, 0)).astype(kind.bits)
        operands.append(moved.view(kind.held))
    return operands[0], operands[1], operands[2]


def special(kind: Format) -> Triple:
    """Every triple of NaNs, infinities, zeros, subnormals, extremes and ordinary numbers, with both signs."""
    one_bits = kind.emax << (kind.precision - 1)
    quiet, smallest_normal = kind.infinity + (1 << (kind.precision - 2)), 1 << (kind.precision - 1)
    positive = [0, 1, 2, smallest_normal - 1, smallest_normal, one_bits, one_bits + 1]
    positive += [kind.infinity - 1, kind.infinity, kind.infinity + 1, quiet]
    values = kind.from_bits(positive + [bits | 1 << (kind.width - 1) for bits in positive])
    a, b, c = (grid.reshape(-1) for grid in np.meshgrid(values, values, values))
    return a, b, c


@cache
def traps(kind: Format) -> Triple:
    generator = np.random.default_rng(20)
    p = kind.precision
    last = [generator.integers(kind.emin - (p - 1), kind.emax - (p - 1), 5000)]
    last += [np.full(300, place) for place in (kind.emax - (p - 1), kind.emin - (p - 1), kind.emin - (p - 2))]
    families = [
        special(kind),
        product_at_a_tie(kind, generator, 4000),
        *(sum_at_a_tie(kind, generator, places) for places in last),
        cancellation(kind, generator, generator.integers(kind.emin - p, kind.emax + 1, 3000)),
        cancellation(kind, generator, generator.integers(kind.emin - 2, kind.emin + 2 * p + 2, 3000)),
        subnormal_results(kind, generator, 4000),
        near_the_constants(kind, generator, 8000),
    ]
    a, b, c = (np.concatenate(operands) for operands in zip(*families, strict=True))
    return a, b, c


@cache
def right(kind: Format) -> list[int | None]:
    return expected(kind, traps(kind))


@KINDS
def test_every_trap_is_rounded_once_as_the_definition_says(kind: Format) -> None:
    assert wrong(kind, fma(*traps(kind)), right(kind)) == []


@KINDS
def test_rounding_the_product_fails_on_the_traps(kind: Format) -> None:
    a, b, c = traps(kind)
    with np.errstate(all="ignore"):
        assert len(wrong(kind, a * b + c, right(kind))) > 5000


def test_going_through_double_fails_on_the_traps_of_float() -> None:
    with np.errstate(all="ignore"):
        a, b, c = (operand.astype(np.float64) for operand in traps(FLOAT))
        assert len(wrong(FLOAT, (a * b + c).astype(np.float32), right(FLOAT))) > 1000


def plain_sum(x: Array, y: Array) -> Array:
    return np.asarray(x + y)


def kept_even(x: Array, y: Array) -> Array:
    """The mutant of rounding to odd that always steps upwards."""
    total, error = fused._two_sum(x, y)
    raw = np.ascontiguousarray(total).view(np.int64)
    return np.where(np.isfinite(total) & (error != 0), raw | 1, raw).view(np.float64)


MUTANTS: list[tuple[Format, str, Any]] = [
    (FLOAT, "_add_to_odd", plain_sum),
    (FLOAT, "_add_to_odd", kept_even),
    (FLOAT, "_HALF_WAY", np.uint64(0)),
    (FLOAT, "_BELOW_FLOAT", np.uint64(2**30 - 1)),
    (FLOAT, "_FLOAT_SUBNORMAL", 0.0),
    (DOUBLE, "_add_to_odd", plain_sum),
    (DOUBLE, "_add_to_odd", kept_even),
    (DOUBLE, "_SPLIT", 2.0**20 + 1),
    (DOUBLE, "_SAFE_OPERAND", np.inf),
    (DOUBLE, "_SAFE_SMALL", 0.0),
    (DOUBLE, "_SAFE_LARGE", np.inf),
]


@pytest.mark.mutant
@pytest.mark.parametrize(("kind", "name", "mutant"), MUTANTS)
def test_without_any_one_of_its_safeguards_fma_fails_on_the_traps(
    kind: Format, name: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused, name, mutant)
    assert wrong(kind, fma(*traps(kind)), right(kind)) != []


def patterns(kind: Format) -> st.SearchStrategy[int]:
    """Bit patterns: any, and often an edge of the format or a neighbour of one."""
    edges = [0, 1 << (kind.precision - 1), kind.emax << (kind.precision - 1), kind.infinity]
    anything = st.integers(0, 2**kind.width - 1)
    near_edge = st.builds(
        lambda edge, step, sign: max(edge + step, 0) | sign << (kind.width - 1),
        st.sampled_from(edges),
        st.integers(-3, 3),
        st.integers(0, 1),
    )
    return anything | near_edge


def triples(kind: Format) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    return st.lists(st.tuples(*[patterns(kind)] * 3), min_size=1, max_size=20)


def check(kind: Format, rows: list[tuple[int, int, int]]) -> None:
    a, b, c = (kind.from_bits(list(column)) for column in zip(*rows, strict=True))
    assert wrong(kind, fma(a, b, c), expected(kind, (a, b, c))) == []


@settings(deadline=None, max_examples=examples(200))
@given(triples(FLOAT))
def test_float_fma_of_any_bit_patterns_is_rounded_once(rows: list[tuple[int, int, int]]) -> None:
    check(FLOAT, rows)


@settings(deadline=None, max_examples=examples(200))
@given(triples(DOUBLE))
def test_double_fma_of_any_bit_patterns_is_rounded_once(rows: list[tuple[int, int, int]]) -> None:
    check(DOUBLE, rows)


@KINDS
@settings(deadline=None, max_examples=examples(200))
@given(data=st.data())
def test_fma_that_cancels_the_rounded_product_leaves_its_error(kind: Format, data: st.DataObject) -> None:
    a, b = (kind.from_bits([data.draw(patterns(kind))]) for _ in range(2))
    with np.errstate(all="ignore"):
        bits = int((-(a * b)).view(kind.bits)[0])
    c = kind.from_bits([max(bits + data.draw(st.integers(-2, 2)), 0) % 2**kind.width])
    assert wrong(kind, fma(a, b, c), expected(kind, (a, b, c))) == []


# A second witness, written by others: C's fma.


def libm_function(kind: Format) -> Callable[..., float]:
    name = "libm.so.6" if sys.platform == "linux" else ctypes.util.find_library("m")
    if name is None:
        pytest.skip("this system has no separate C mathematics library to compare with")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        pytest.skip(f"the C mathematics library cannot be loaded: {error}")
    function = library.fmaf if kind is FLOAT else library.fma
    function.restype = ctypes.c_float if kind is FLOAT else ctypes.c_double
    function.argtypes = [function.restype] * 3
    return function


def differs_from_libm(kind: Format, triple: Triple) -> int:
    function = libm_function(kind)
    expected = np.array(list(map(function, *(x.tolist() for x in triple))), dtype=kind.held)
    result = fma(*triple)
    same = result.view(kind.bits) == expected.view(kind.bits)
    return int(np.count_nonzero(~same & ~(np.isnan(result) & np.isnan(expected))))


@KINDS
def test_libm_agrees_on_every_trap(kind: Format) -> None:
    assert differs_from_libm(kind, traps(kind)) == 0


@pytest.mark.thinned
@KINDS
def test_libm_agrees_on_random_bit_patterns(kind: Format) -> None:
    generator = np.random.default_rng(1)
    a, b, c = (
        kind.from_bits(generator.integers(0, 2**kind.width, examples(200_000), kind.bits)) for _ in range(3)
    )
    assert differs_from_libm(kind, (a, b, c)) == 0


@pytest.mark.thinned
@KINDS
def test_libm_agrees_on_triples_of_like_size(kind: Format) -> None:
    generator, number = np.random.default_rng(2), examples(200_000)
    a, b = generator.standard_normal((2, number)).astype(kind.held)
    exponents = generator.integers(-2 * kind.precision - 2, 4, number)
    c = np.ldexp(generator.standard_normal(number), exponents).astype(kind.held)
    assert differs_from_libm(kind, (a, b, c)) == 0


# By hand.


@KINDS
@pytest.mark.parametrize("sign_a", [0.0, -0.0])
@pytest.mark.parametrize("sign_c", [0.0, -0.0])
def test_a_zero_sum_is_negative_only_if_both_terms_are(kind: Format, sign_a: float, sign_c: float) -> None:
    negative = np.signbit(sign_a) and np.signbit(sign_c)
    assert np.signbit(one(kind, sign_a, 3.0, sign_c)) == negative


@KINDS
def test_exact_cancellation_gives_the_positive_zero(kind: Format) -> None:
    assert one(kind, 3.0, 5.0, -15.0).hex() == (0.0).hex()
    assert one(kind, -3.0, 5.0, 15.0).hex() == (0.0).hex()


@KINDS
def test_a_vanishing_product_keeps_its_sign_when_zero_is_added(kind: Format) -> None:
    tiny = float(kind.from_bits([1])[0])
    assert one(kind, -tiny, tiny, 0.0).hex() == (-0.0).hex()
    assert one(kind, tiny, tiny, -0.0).hex() == (0.0).hex()


@KINDS
def test_a_product_too_large_for_the_type_may_have_a_finite_sum(kind: Format) -> None:
    large = 2.0**kind.emax
    assert one(kind, large, 2.0, -large) == large
    assert one(kind, -large, 2.0, large) == -large


@KINDS
def test_a_finite_product_however_large_never_outweighs_an_infinite_addend(kind: Format) -> None:
    large = 2.0**kind.emax
    assert one(kind, large, large, -np.inf) == -np.inf
    assert one(kind, -large, large, np.inf) == np.inf
    assert np.isnan(one(kind, large, large, np.nan))


@KINDS
def test_infinity_times_zero_and_infinity_less_infinity_are_nan(kind: Format) -> None:
    assert np.isnan(one(kind, np.inf, 0.0, 1.0))
    assert np.isnan(one(kind, 0.0, -np.inf, np.inf))
    assert np.isnan(one(kind, np.inf, 1.0, -np.inf))


@KINDS
def test_the_overflow_threshold_is_half_a_step_beyond_the_largest_number(kind: Format) -> None:
    largest = float(kind.from_bits([kind.infinity - 1])[0])
    half = 2.0 ** (kind.emax - kind.precision)
    ratio = 1 - 2.0**-kind.precision
    assert one(kind, half, 1.0, largest) == np.inf
    assert one(kind, half, ratio, largest) == largest
    assert one(kind, -half, 1.0, -largest) == -np.inf


@KINDS
def test_operands_of_different_shapes_are_broadcast(kind: Format) -> None:
    a, b, c = kind.numbers(2.0), kind.numbers(1.0, 3.0), kind.numbers(10.0, 20.0, 30.0).reshape(3, 1)
    assert fma(a, b, c).tolist() == [[12.0, 16.0], [22.0, 26.0], [32.0, 36.0]]
    assert fma(a, a, b).tolist() == [5.0, 7.0]


@KINDS
def test_arrays_without_axes_and_without_elements_and_with_strides_are_taken(kind: Format) -> None:
    scalar = np.array(3.0, kind.held)
    # Half a last place of 1 is a tie that the addend's last bit decides.
    last = 2.0 ** (1 - kind.precision)
    tie = fma(np.array(last, kind.held), np.array(0.5, kind.held), np.array(1 + last, kind.held))
    assert tie.shape == ()
    assert float(tie) == 1 + 2 * last
    assert fma(scalar, scalar, scalar).shape == ()
    assert fma(scalar, scalar, scalar).dtype == kind.held
    empty = np.empty((0, 2), kind.held)
    assert fma(empty, empty, empty).shape == (0, 2)
    strided = kind.numbers(1.0, 2.0, 3.0, 4.0)[::-2]
    assert fma(strided, strided, strided).tolist() == [20.0, 6.0]
