"""Error bounds of the XLA operations: never exceeded, not idle, and what flushing subnormals adds to them."""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.n_loops import narrowed
from tests.operators.seven_loops import fused
from tests.operators.xla_support import (
    COMPLEX,
    EVERY_TYPE,
    FLOATS,
    INTEGERS,
    ORDERED,
    SPELLED,
    array,
    held,
    ones,
    random_bits,
    specials,
)

import sonnx
from sonnx import xla
from sonnx.model.dtype import XLA_TYPES
from sonnx.model.graph import Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators.shared.convolution_accuracy import flushed
from sonnx.operators.xla.call.callee import Callee

pytestmark = pytest.mark.measured

Mode = Literal["separate", "fused"]
MODES: list[Mode] = ["separate", "fused"]
ORDERS = ("specified", "any")
GENERAL = "xla.ConvWithGeneralPadding"
POINT: dict[str, Any] = {"window_strides": (), "padding": (), "lhs_dilation": (), "rhs_dilation": ()}
ACCUMULATOR: dict[str, type] = {"f16": np.float32, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}
LARGEST = {
    "f16": 65504.0,
    "bf16": 2.0**128 - 2.0**120,
    "f32": 2.0**128 - 2.0**104,
    "f64": 1.7976931348623157e308,
}


def cast(values: Any, name: str) -> Any:
    """Numbers of a type near the given ones; which of them does not matter."""
    with np.errstate(all="ignore"):
        return np.asarray(values, np.float64).astype(held(name))


def finished(total: Any, name: str) -> float:
    """An accumulator's value rounded to the type of the result."""
    if name == "bf16":
        return float(np.uint16(narrowed(total)).view(ml_dtypes.bfloat16))
    return float(held(name).type(total))


class Sum:
    """One sum of products, as a convolution without spatial dimensions: every term is a feature."""

    def __init__(self, name: str, x: Any, w: Any) -> None:
        self.name, self.x, self.w = name, cast(x, name), cast(w, name)

    @property
    def operands(self) -> tuple[Any, Any]:
        return self.x.reshape(1, -1), self.w.reshape(1, -1)

    @property
    def terms(self) -> list[tuple[Any, Any]]:
        kind = ACCUMULATOR[self.name]
        return [(kind(x), kind(w)) for x, w in zip(self.x, self.w, strict=True)]

    def result(self, mode: Mode) -> float:
        return float(xla.conv_with_general_padding(*self.operands, **POINT, accumulate=mode)[0, 0])

    def bound(self, mode: Mode, order: str) -> float:
        bound = sonnx.error_bound(GENERAL, *self.operands, order=order, **POINT, accumulate=mode)
        return float(bound[0, 0])

    def exact(self) -> Fraction:
        return sum((Fraction(float(x)) * Fraction(float(w)) for x, w in self.terms), Fraction(0))

    def exceeded(self, result: float, bound: float) -> bool:
        """Tell whether a result lies further from the exact one than the bound; no NaN or infinity does."""
        if bound == np.inf:
            return False
        return not isfinite(result) or abs(Fraction(result) - self.exact()) > Fraction(bound)

    def reached(self, result: float, bound: float) -> Fraction:
        return abs(Fraction(result) - self.exact()) / Fraction(bound)


def keep(value: Any) -> Any:
    return value


def flush(value: Any) -> Any:
    """Zero for a subnormal number: what a processor gives that does not make any."""
    tiny = np.finfo(value.dtype).tiny
    return value * value.dtype.type(0) if 0 < abs(value) < tiny else value


def summed_somehow(
    problem: Sum, random: np.random.Generator, after: Callable[[Any], Any] = keep, *, fuse: float = 0.5
) -> float:
    """The sum in a random order and bracketing, some steps fused; `after` sees what each operation gives."""
    nodes: list[Any] = list(problem.terms)
    while len(nodes) > 1 or isinstance(nodes[0], tuple):
        one = nodes.pop(int(random.integers(len(nodes))))
        if not nodes:
            nodes.append(after(one[0] * one[1]))
            continue
        other = nodes.pop(int(random.integers(len(nodes))))
        if isinstance(other, tuple):
            one, other = other, one
        if isinstance(one, tuple) and not isinstance(other, tuple) and random.random() < fuse:
            nodes.append(after(fused(other, *one)))
            continue
        one, other = (after(node[0] * node[1]) if isinstance(node, tuple) else node for node in (one, other))
        nodes.append(after(one + other))
    return finished(nodes[0], problem.name)


def ordinary(random: np.random.Generator, name: str, n: int) -> Sum:
    return Sum(name, random.standard_normal(n), random.standard_normal(n))


def wide(random: np.random.Generator, name: str, n: int) -> Sum:
    """Magnitudes spread over the whole range of the type."""
    spread = {"f16": 7, "bf16": 60, "f32": 60, "f64": 500}[name]
    x, w = (np.ldexp(random.standard_normal(n), random.integers(-spread, spread, n)) for _ in range(2))
    return Sum(name, x, w)


def subnormal(random: np.random.Generator, name: str, n: int) -> Sum:
    """Products around the smallest numbers: they lose bits, or vanish."""
    middle = {"f16": -12, "bf16": -74, "f32": -75, "f64": -537}[name]
    x, w = (np.ldexp(random.uniform(1, 2, n), random.integers(middle - 2, middle + 4, n)) for _ in range(2))
    return Sum(name, x, w * random.choice([-1, 1], n))


def barely_normal(random: np.random.Generator, name: str, n: int) -> Sum:
    """Products around the smallest normal number of the accumulator."""
    middle = {"f16": -7, "bf16": -63, "f32": -63, "f64": -511}[name]
    x, w = (np.ldexp(random.uniform(1, 2, n), random.integers(middle - 2, middle + 2, n)) for _ in range(2))
    return Sum(name, x, w * random.choice([-1, 1], n))


def cancelling(random: np.random.Generator, name: str, n: int) -> Sum:
    """Terms that come in pairs of nearly opposite value."""
    x, w = random.standard_normal(n), random.standard_normal(n)
    x[1::2], w[1::2] = x[: 2 * (n // 2) : 2], -w[: 2 * (n // 2) : 2] * (1 + 2.0**-7)
    return Sum(name, x, w)


def overflowing(random: np.random.Generator, name: str, n: int) -> Sum:
    return Sum(name, random.uniform(-1, 1, n) * LARGEST[name], random.choice([-1.0, -0.25, 0.5, 1.0], n))


def special(random: np.random.Generator, name: str, n: int) -> Sum:
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, 0.5])
    return Sum(name, random.choice(values, n), random.choice(values, n))


Family = Callable[[np.random.Generator, str, int], Sum]
FAMILIES: list[Family] = [ordinary, wide, subnormal, barely_normal, cancelling, overflowing, special]


@pytest.mark.thinned
@pytest.mark.no_cover
@for_each("family", FAMILIES, ids=lambda family: family.__name__)
@for_each("name", FLOATS)
def test_no_convolution_lies_further_from_the_exact_one_than_its_bound(name: str, family: Family) -> None:
    """D-XLA-5."""
    random = np.random.default_rng(70)
    for _ in range(examples(30)):
        problem = family(random, name, int(random.integers(1, 12)))
        with np.errstate(all="ignore"):
            anyhow = [summed_somehow(problem, random) for _ in range(3)]
        for mode in MODES:
            specified, general = (problem.bound(mode, order) for order in ORDERS)
            assert specified <= general
            assert not problem.exceeded(problem.result(mode), specified)
            assert not any(problem.exceeded(some, general) for some in anyhow)
            if not all(map(isfinite, [*problem.x.astype(float), *problem.w.astype(float)])):
                assert specified == general == np.inf


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_bounds_hold_element_by_element_in_every_number_of_dimensions(name: str, mode: Mode) -> None:
    random = np.random.default_rng(71)
    for n in range(4):
        X = cast(random.standard_normal((2, 3, *[4] * n)), name)
        W = cast(random.standard_normal((2, 3, *[2] * n)), name)
        strides = [2, 1, 1][:n]
        general = {
            "window_strides": strides,
            "padding": [(1, -1), (-1, 2), (0, 0)][:n],
            "lhs_dilation": [1, 2, 1][:n],
            "rhs_dilation": [2, 1, 1][:n],
        }
        calls: list[tuple[str, Any, dict[str, Any]]] = [
            (GENERAL, xla.conv_with_general_padding, general),
            ("xla.Conv", xla.conv, {"window_strides": strides, "padding": "SAME"}),
        ]
        for operator, function, attributes in calls:
            exact = function(sonnx.real(X), sonnx.real(W), **attributes)
            result = sonnx.real(function(X, W, **attributes, accumulate=mode))
            for order in ORDERS:
                bound = sonnx.error_bound(operator, X, W, order=order, **attributes, accumulate=mode)
                assert (bound.shape, bound.dtype) == (result.shape, np.float64)
                errors = zip(abs(result - exact).ravel(), bound.ravel(), strict=True)
                assert all(error <= Fraction(float(most)) for error, most in errors)
                assert bound.size == 0 or len(set(bound.ravel().tolist())) > 3


def lost_terms(name: str, n: int) -> Sum:
    """1, and then products of half a unit in its last place: each is lost in turn (ties to even)."""
    half = 2.0 ** -PRECISION["f64" if name == "f64" else "f32"]
    root = 2.0 ** -(26 if name == "f64" else 12)
    return Sum(name, [1, *[root] * n], [1, *[half / root] * n])


def halfway(name: str, n: int) -> Sum:
    """1 and half a unit in its last place, in n parts; the accumulator holds the sum, the type does not."""
    return Sum(name, [1, *[2.0 ** -PRECISION[name]] * n], [1, *[1 / n] * n])


@for_each("order", ORDERS)
@for_each("mode", MODES)
@for_each("name", FLOATS)
def test_the_worst_sums_come_within_a_factor_of_50_of_the_bound(name: str, mode: Mode, order: str) -> None:
    random = np.random.default_rng(77)
    worst = halfway(name, 64) if name in ("f16", "bf16") else lost_terms(name, 64)
    for problems in ([worst], [ordinary(random, name, 2) for _ in range(20)]):
        ratios = [each.reached(each.result(mode), each.bound(mode, order)) for each in problems]
        assert Fraction(1, 50) <= max(ratios) <= 1


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_lost_terms_nearly_reach_the_bound_of_the_specified_order(name: str) -> None:
    problem = lost_terms(name, 200)
    assert problem.result("separate") == 1
    assert problem.reached(1.0, problem.bound("separate", "specified")) > Fraction(9, 10)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_the_last_rounding_of_the_narrow_types_is_in_the_bound(name: str) -> None:
    problem = halfway(name, 1)
    assert problem.result("separate") == 1
    for order in ORDERS:
        assert Fraction(9, 10) < problem.reached(1.0, problem.bound("separate", order)) <= 1


def test_a_sum_of_nothing_has_no_error_and_one_product_is_rounded_once() -> None:
    for name in FLOATS:
        assert Sum(name, [], []).bound("separate", "any") == 0
    one = Sum("f32", [1 + 2.0**-12], [1 + 2.0**-12])
    for order in ORDERS:
        bound = one.bound("separate", order)
        assert 2.0**-24 <= bound < 2.0**-24 * (1 + 2.0**-10)


def test_a_bfloat16_product_may_be_subnormal_and_a_float16_product_is_exact() -> None:
    """In units of 2^-149 the terms are 98304, -1 and 1/2: the half is lost, and the sum falls below a tie."""
    tiny = Sum("bf16", [1.5 * 2.0**-100, -(2.0**-75), 2.0**-75], [2.0**-33, 2.0**-74, 2.0**-75])
    assert (tiny.result("separate"), tiny.result("fused")) == (2.0**-133, 2.0**-132)
    for mode in MODES:
        for order in ORDERS:
            assert Fraction(1, 4) < tiny.reached(tiny.result(mode), tiny.bound(mode, order)) <= 1
    exact = Sum("f16", [2.0**-24], [1.0])
    assert exact.result("separate") == 2.0**-24
    assert exact.bound("separate", "specified") < 2.0**-24


@pytest.mark.parametrize("name", FLOATS)
def test_a_result_that_may_overflow_has_no_finite_bound(name: str) -> None:
    largest = LARGEST[name]
    for order in ORDERS:
        assert Sum(name, [largest, largest], [1, 1]).bound("separate", order) == np.inf
        assert Sum(name, [largest / 64, largest / 64], [1, 1]).bound("separate", order) < largest
    cancelled = Sum(name, [largest, -largest, largest], [1, 1, 1])
    # In float16 the accumulator has room to spare; elsewhere some order overflows.
    assert (cancelled.bound("separate", "any") == np.inf) or name == "f16"


# --- what flushing adds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bf16", "f32", "f64"])
def test_flushing_adds_no_more_than_it_is_said_to(name: str) -> None:
    """D-ALL-4 keeps subnormals; engines that flush them stay within a second bound."""
    random = np.random.default_rng(72)
    beyond = 0
    for _ in range(120):
        n = int(random.integers(1, 10))
        problem = barely_normal(random, name, n)
        bound, slack = problem.bound("separate", "any"), flushed(n, XLA_TYPES[name])
        for fuse in (0.0, 0.5):
            result = summed_somehow(problem, random, flush, fuse=fuse)
            total = Fraction(bound) + Fraction(slack)
            assert abs(Fraction(result) - problem.exact()) <= total
            beyond += problem.exceeded(result, bound)
    assert beyond > 20  # the bound alone would not do


@pytest.mark.parametrize("name", ["bf16", "f32", "f64"])
def test_flushed_products_come_within_a_factor_of_10_of_the_addition(name: str) -> None:
    """Products just below the smallest normal number vanish one by one."""
    tiny = float(np.finfo(ACCUMULATOR[name]).tiny)
    root = 2.0 ** {"bf16": -60, "f32": -60, "f64": -500}[name]
    random = np.random.default_rng(73)
    for n in (1, 5, 40):
        problem = Sum(name, [root] * n, [tiny / root * (1 - 2.0**-7)] * n)
        result = summed_somehow(problem, random, flush, fuse=0.0)
        assert result == 0
        assert Fraction(1, 10) < problem.reached(result, flushed(n, XLA_TYPES[name])) <= 1


def test_float16_sums_have_no_subnormals_to_flush() -> None:
    random = np.random.default_rng(74)
    for _ in range(40):
        problem = subnormal(random, "f16", 7)
        seed = int(random.integers(2**32))
        kept, gone = (summed_somehow(problem, np.random.default_rng(seed), after) for after in (keep, flush))
        assert kept == gone
    # Every float16 is a multiple of 2^-24, so every product is one of 2^-48; only the result may be flushed.
    assert 2.0**-14 < flushed(7, XLA_TYPES["f16"]) < 2.0**-14 + 2.0**-48
    assert flushed(0, XLA_TYPES["f32"]) == 0


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_the_bound_for_flushing_engines_is_that_for_any_order_and_the_addition(name: str) -> None:
    problem = subnormal(np.random.default_rng(75), name, 7)
    bound, flushing = (problem.bound("separate", order) for order in ("any", "flushing"))
    least = Fraction(bound) + Fraction(flushed(7, XLA_TYPES[name]))
    assert least <= Fraction(flushing) <= least * (1 + Fraction(1, 2**50))
    # The smallest normal numbers, by hand: of the accumulator twice a term, of a narrow result once.
    normal = {"f16": 2.0**-126, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[name]
    last = {"f16": 2.0**-14, "bf16": 2.0**-126}.get(name, 0.0)
    assert 14 * Fraction(normal) + Fraction(last) <= Fraction(flushed(7, XLA_TYPES[name]))


# --- integers ----------------------------------------------------------------------------------------------


def integer_bound(name: str, x: list[int], w: list[int], order: str = "any") -> float:
    X, W = (np.array([part], held(name)) for part in (x, w))
    return float(sonnx.error_bound(GENERAL, X, W, order=order, **POINT)[0, 0])


@pytest.mark.parametrize("name", [name for name in INTEGERS if "64" not in name])
def test_integers_are_exact_up_to_the_last_magnitude_that_fits(name: str) -> None:
    """D-XLA-5."""
    high = int(np.iinfo(held(name)).max)
    for order in ORDERS:
        assert integer_bound(name, [high], [1], order) == 0
        assert integer_bound(name, [high - 1, 1], [1, 1], order) == 0
        assert integer_bound(name, [high, 1], [1, 1], order) == np.inf
        assert integer_bound(name, [high // 2, 1], [2, high % 2], order) == 0
        assert integer_bound(name, [high // 2, 1], [2, high % 2 + 1], order) == np.inf
        assert integer_bound(name, [], [], order) == 0
        if name[0] == "s":
            assert integer_bound(name, [-high + 1, 1], [1, -1], order) == 0
            assert integer_bound(name, [-high, 1], [1, 1], order) == np.inf
            assert integer_bound(name, [-high - 1], [1], order) == np.inf


@pytest.mark.parametrize("name", ["s64", "u64"])
def test_long_integers_are_exact_nearly_up_to_the_last_magnitude_that_fits(name: str) -> None:
    """D-XLA-5: magnitudes are added up in doubles, rounded upwards."""
    high = int(np.iinfo(held(name)).max)
    assert integer_bound(name, [high - high // 2**45], [1]) == 0
    assert integer_bound(name, [high // 2, high // 2 - high // 2**45], [1, 1]) == 0
    for x, w in [([high, 1], [1, 1]), ([high // 2 + 1], [2]), ([2**33], [2**33]), ([high], [high])]:
        assert integer_bound(name, x, w) == np.inf
    assert integer_bound(name, [0, 3], [high, 1]) == 0
    assert integer_bound(name, [0, 3], [0, 1]) == 0


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_that_wraps_has_no_finite_bound(name: str) -> None:
    random = np.random.default_rng(75)
    info = np.iinfo(held(name))
    seen = set()
    for _ in range(60):
        n = int(random.integers(1, 5))
        small = int(int(info.max) ** (random.random() / 2 + 0.1))
        low = -small if info.min else 0
        x, w = ([int(v) for v in random.integers(low, small, n, endpoint=True)] for _ in range(2))
        X, W = (np.array([part], held(name)) for part in (x, w))
        exact = sum(a * b for a, b in zip(x, w, strict=True))
        bound, result = integer_bound(name, x, w), xla.conv_with_general_padding(X, W, **POINT).item()
        assert bound == np.inf or (bound == 0 and result == exact)
        seen.add(bound)
    assert seen == {0, np.inf}


# --- ConvertElementType ------------------------------------------------------------------------------------


def parts(values: Any) -> list[tuple[Fraction, Fraction]]:
    """Exact real and imaginary parts of elements; NaN and infinities are none."""
    found = []
    for value in np.asarray(values).reshape(-1):
        if isinstance(value, (Fraction, np.bool_)):
            found.append((Fraction(int(value) if isinstance(value, np.bool_) else value), Fraction(0)))
        elif np.iscomplexobj(value):
            found.append((Fraction(float(value.real)), Fraction(float(value.imag))))
        else:
            found.append((Fraction(int(value) if value.dtype.kind in "iu" else float(value)), Fraction(0)))
    return found


def finite_ones(random: np.random.Generator, name: str) -> Any:
    if name == "real":
        return sonnx.real(["0", "1/3", "-7/9", "1e-400", "1e-50", "65519", "1e40", "-1e300"])
    values = random_bits(random, name, (64,))
    return values[np.isfinite(values.astype(complex))]


@for_each("target", [*FLOATS, *COMPLEX])
@for_each("source", EVERY_TYPE)
def test_no_converted_number_lies_further_from_the_given_one_than_its_bound(source: str, target: str) -> None:
    """D-XLA-3."""
    if source in COMPLEX and target not in COMPLEX:
        return
    random = np.random.default_rng(76)
    with np.errstate(all="ignore"):
        X = finite_ones(random, source)
    Y = xla.convert_element_type(X, target)
    bound = sonnx.error_bound("xla.ConvertElementType", X, new_element_type=target)
    assert (bound.shape, bound.dtype) == (X.shape, np.float64)
    finite = np.isfinite(Y.astype(complex))
    assert (bound[~finite] == np.inf).all()
    for (a, b), (c, d), most in zip(parts(X[finite]), parts(Y[finite]), bound[finite], strict=True):
        assert (a - c) ** 2 + (b - d) ** 2 <= Fraction(float(most)) ** 2
        assert Fraction(float(most)) <= 2 * max(abs(c) + abs(d), Fraction(1, 2**14))  # not idle


def test_a_complex_number_s_bound_covers_both_parts() -> None:
    """The real part is off by 2^-24 and the imaginary one by 2^-150: together by more than 2^-24."""
    X = np.array([complex(1 + 2.0**-24, 1.5 * 2.0**-149)])
    assert xla.convert_element_type(X, "c64")[0] == complex(1, 2.0**-148)
    bound = Fraction(sonnx.error_bound("xla.ConvertElementType", X, new_element_type="c64").item())
    assert bound**2 >= Fraction(1, 2**48) + Fraction(1, 2**300)
    assert bound < Fraction(2.0**-24) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("target", FLOATS)
def test_halfway_cases_reach_the_bound_of_a_conversion(target: str) -> None:
    half = Fraction(1, 2 ** PRECISION[target])
    for x, error in [(1 + half, half), (Fraction(SMALLEST[target]) / 2, Fraction(SMALLEST[target]) / 2)]:
        X = sonnx.real([x])
        bound = Fraction(sonnx.error_bound("xla.ConvertElementType", X, new_element_type=target).item())
        assert error <= bound <= 2 * error
        assert bound == error or target == "f64"


def held_without_rounding(source: str, target: str) -> bool:
    """Every value of these types is one of the target, by hand."""
    wider = {
        "f16": ["pred", "s8", "u8", "f16"],
        "bf16": ["pred", "s8", "u8", "bf16"],
        "f32": ["pred", "s8", "u8", "s16", "u16", "f16", "bf16", "f32"],
        "f64": ["pred", "s8", "u8", "s16", "u16", "s32", "u32", "f16", "bf16", "f32", "f64"],
    }
    wider |= {"c64": [*wider["f32"], "c64"], "c128": [*wider["f64"], "c64", "c128"]}
    return source in wider.get(target, EVERY_TYPE)


@for_each("target", list(SPELLED))
@for_each("source", EVERY_TYPE)
def test_conversions_that_round_nothing_have_no_error(source: str, target: str) -> None:
    """D-XLA-3: truncation is no error but the definition; in the reals nothing is rounded."""
    if source in COMPLEX and target not in (*COMPLEX, "pred"):
        return
    X = ones(source, 2, 3)
    bound = sonnx.error_bound("xla.ConvertElementType", X, new_element_type=target)
    assert (bound == 0).all() == held_without_rounding(source, target)
    if target not in COMPLEX:
        exact = sonnx.error_bound("xla.ConvertElementType", X, new_element_type=target, domain="real")
        assert exact.tolist() == np.zeros((2, 3)).tolist()


# --- operations that move values, and Call -----------------------------------------------------------------


@for_each("name", EVERY_TYPE)
def test_operations_that_move_values_have_no_error(name: str) -> None:
    X = array(name, (2, 1), specials(name)[:2])
    for order in ORDERS:
        bounds = [
            (sonnx.error_bound("xla.Broadcast", X, broadcast_sizes=(3,), order=order), (3, 2, 1)),
            (sonnx.error_bound("xla.Collapse", X, dimensions=(0, 1), order=order), (2,)),
            (sonnx.error_bound("xla.Concatenate", X, X, dimension=1, order=order), (2, 2)),
        ]
        if name in ORDERED:
            bounds.append((sonnx.error_bound("xla.Clamp", X, X, X[0, 0], order=order), (2, 1)))
        for bound, shape in bounds:
            assert (bound.dtype, bound.tolist()) == (np.float64, np.zeros(shape).tolist())


@pytest.mark.parametrize("order", ORDERS)
def test_sums_of_reals_have_no_error(order: str) -> None:
    X, W = sonnx.real(np.ones((2, 1, 4))), sonnx.real(np.ones((3, 1, 2)))
    for padding, size in (("SAME", 2), ("VALID", 2)):
        bound = sonnx.error_bound("xla.Conv", X, W, order=order, window_strides=(2,), padding=padding)
        assert bound.tolist() == np.zeros((2, 3, size)).tolist()


def test_a_call_is_as_accurate_as_what_it_calls() -> None:
    builder = xla.ComputationBuilder("dot")
    x, w = builder.parameter(0, "f32[1,3]", "x"), builder.parameter(1, "f32[1,3]", "w")
    builder.conv(x, w, (), "VALID")
    callee = builder.build().callee
    # By hand: 2^24 swallows both ones, each a tie to even.
    X, W = np.array([[2.0**24, 1, 1]], np.float32), np.ones((1, 3), np.float32)
    bound = sonnx.error_bound("xla.Call", X, W, computation=callee).item()
    assert 2 <= bound < 2.000001
    assert sonnx.error_bound("xla.Call", X, W, computation=callee, order="any").item() == np.inf
    assert sonnx.error_bound("xla.Call", X[:, ::-1], W, computation=callee).item() == 0
    assert sonnx.error_bound("xla.Call", X * np.float32(np.nan), W, computation=callee).item() == np.inf


def test_a_signature_alone_is_neither_executed_nor_accurate() -> None:
    kind = tensor_type("f32[]")
    signature = Callee("f", (Value("x", kind),), kind)
    assert str(signature) == "f(x: f32[]) -> f32[]"
    with pytest.raises(NotImplementedError, match="a signature without a body cannot be executed"):
        xla.call(signature, np.float32(1))
    with pytest.raises(NotImplementedError, match="a signature without a body has no accuracy"):
        sonnx.error_bound("xla.Call", np.float32(1), computation=signature)


def test_the_judgement_of_these_tests_notices_a_bound_that_is_too_small() -> None:
    problem = lost_terms("f32", 64)
    bound = problem.bound("separate", "specified")
    assert problem.exceeded(problem.result("separate"), bound * 0.9)
    assert problem.exceeded(float("nan"), bound)
    assert flush(np.float32(-1e-40)) == 0
    assert flush(np.float32(2.0**-126)) == np.float32(2.0**-126)
