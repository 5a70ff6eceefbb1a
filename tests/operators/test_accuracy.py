"""Error bounds: never exceeded by any order of summation, and reached to within a factor of 50."""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

import numpy as np
import pytest
from tests.budgets import examples
from tests.loops import for_each
from tests.operators.seven_loops import STEPS, fused
from tests.operators.support import EVERY_TYPE, FLOATS, Array, array_of, plain, special_values

import sonnx
from sonnx.operators.onnx.conv.geometry import CONVOLUTION
from sonnx.operators.shared import convolution_accuracy as analysis

Mode = Literal["separate", "fused"]
MODES: list[Mode] = ["separate", "fused"]
ACCUMULATOR: dict[str, type] = {"float16": np.float32, "float": np.float32, "double": np.float64}
UNIT = {"float": 2.0**-24, "double": 2.0**-53}
SMALLEST = {"float16": 2.0**-24, "float": 2.0**-149, "double": 2.0**-1074}


class Sum:
    """One sum of products with a bias, as a Conv of a single output element."""

    def __init__(self, name: str, x: Any, w: Any, bias: Any = None) -> None:
        held = FLOATS[name]
        self.name, self.x, self.w = name, np.array(x, held), np.array(w, held)
        self.bias = None if bias is None else held.type(bias)

    @property
    def operands(self) -> list[Any]:
        """X, W and B of the Conv; every term is a channel of its own."""
        B = [] if self.bias is None else [np.array([self.bias])]
        return [self.x.reshape(1, -1, 1, 1), self.w.reshape(1, -1, 1, 1), *B]

    def result(self, mode: Mode) -> Any:
        return sonnx.conv(*self.operands, **plain(), accumulate=mode)[0, 0, 0, 0]

    def bound(self, mode: Mode, order: str) -> float:
        return float(
            sonnx.error_bound("Conv", *self.operands, order=order, **plain(), accumulate=mode)[0, 0, 0, 0]
        )

    def exact(self) -> Fraction:
        total = Fraction(0) if self.bias is None else Fraction(float(self.bias))
        return total + sum(
            Fraction(float(a)) * Fraction(float(b)) for a, b in zip(self.x, self.w, strict=True)
        )

    def exceeded(self, result: Any, bound: float) -> bool:
        """Tell whether a result lies further from the exact one than the bound; no NaN or infinity does."""
        if bound == np.inf:
            return False
        return not isfinite(result) or abs(Fraction(float(result)) - self.exact()) > Fraction(bound)

    def reached(self, result: Any, bound: float) -> Fraction:
        """The part of a finite bound that the error of a result amounts to."""
        return abs(Fraction(float(result)) - self.exact()) / Fraction(bound)


def summed_somehow(problem: Sum, random: np.random.Generator) -> Any:
    """The same sum in a random order and bracketing, the bias anywhere, some steps fused."""
    held = ACCUMULATOR[problem.name]
    terms: list[Any] = [(held(a), held(b)) for a, b in zip(problem.x, problem.w, strict=True)]
    nodes: list[Any] = [*terms, *([] if problem.bias is None else [held(problem.bias)])]
    while len(nodes) > 1 or isinstance(nodes[0], tuple):
        one = nodes.pop(int(random.integers(len(nodes))))
        if not nodes:
            return FLOATS[problem.name].type(one[0] * one[1])
        other = nodes.pop(int(random.integers(len(nodes))))
        if isinstance(other, tuple):
            one, other = other, one
        if isinstance(one, tuple) and not isinstance(other, tuple) and random.random() < 0.5:
            nodes.append(fused(other, *one))
            continue
        one, other = (held(n[0] * n[1]) if isinstance(n, tuple) else n for n in (one, other))
        nodes.append(one + other)
    return FLOATS[problem.name].type(nodes[0])


def ordinary(random: np.random.Generator, name: str, n: int) -> Sum:
    return Sum(name, random.standard_normal(n), random.standard_normal(n), random.standard_normal())


def wide(random: np.random.Generator, name: str, n: int) -> Sum:
    """Magnitudes spread over the whole range of the type."""
    spread = {"float16": 7, "float": 60, "double": 500}[name]
    x, w = (np.ldexp(random.standard_normal(n), random.integers(-spread, spread, n)) for _ in range(2))
    return Sum(
        name, x, w, None if random.random() < 0.5 else np.ldexp(1.0, int(random.integers(-spread, spread)))
    )


def subnormal(random: np.random.Generator, name: str, n: int) -> Sum:
    """Products around the smallest numbers: they lose bits, or vanish."""
    middle = {"float16": -12, "float": -75, "double": -537}[name]
    x, w = (np.ldexp(random.uniform(1, 2, n), random.integers(middle - 2, middle + 2, n)) for _ in range(2))
    return Sum(name, x, w * random.choice([-1, 1], n), None if random.random() < 0.5 else SMALLEST[name])


def cancelling(random: np.random.Generator, name: str, n: int) -> Sum:
    """Terms that come in pairs of nearly opposite value."""
    x, w = random.standard_normal(n), random.standard_normal(n)
    x[1::2], w[1::2] = x[: 2 * (n // 2) : 2], -w[: 2 * (n // 2) : 2] * (1 + 2.0**-9)
    return Sum(name, x, w, 2.0**-12)


def overflowing(random: np.random.Generator, name: str, n: int) -> Sum:
    largest = float(np.finfo(FLOATS[name]).max)
    return Sum(
        name, random.uniform(-1, 1, n) * largest, random.choice([-1.0, -0.25, 0.5, 1.0], n), largest / 2
    )


def special(random: np.random.Generator, name: str, n: int) -> Sum:
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, 0.5])
    return Sum(name, random.choice(values, n), random.choice(values, n), random.choice(values))


Family = Callable[[np.random.Generator, str, int], Sum]
FAMILIES: list[Family] = [ordinary, wide, subnormal, cancelling, overflowing, special]


@pytest.mark.thinned
@for_each("family", FAMILIES, ids=lambda family: family.__name__)
@for_each("name", FLOATS)
def test_no_result_of_conv_lies_further_from_the_exact_one_than_its_bound(name: str, family: Family) -> None:
    random = np.random.default_rng(50)
    for _ in range(examples(40)):
        with np.errstate(all="ignore"):
            problem = family(random, name, int(random.integers(1, 12)))
            anyhow = [summed_somehow(problem, random) for _ in range(3)]
        for mode in MODES:
            result, specified, general = (
                problem.result(mode),
                problem.bound(mode, "specified"),
                problem.bound(mode, "any"),
            )
            assert not problem.exceeded(result, specified)
            assert not any(problem.exceeded(some, general) for some in [result, *anyhow])
            if not all(
                map(isfinite, [*problem.x, *problem.w, *([] if problem.bias is None else [problem.bias])])
            ):
                assert specified == general == np.inf


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_bounds_hold_element_by_element_with_padding_strides_dilations_and_groups(
    name: str, mode: Mode
) -> None:
    random = np.random.default_rng(51)
    for group in (1, 3):
        X = random.standard_normal((2, 3, 5, 6)).astype(FLOATS[name])
        W, B = random.standard_normal((3, 3 // group, 2, 3)).astype(FLOATS[name]), np.ones(3, FLOATS[name])
        geometry = plain((2, 3), strides=(2, 1), pads=(1, 0, 0, 2), dilations=(1, 2), group=group)
        exact = sonnx.conv(*map(sonnx.real, (X, W, B)), **geometry)
        result = sonnx.real(sonnx.conv(X, W, B, **geometry, accumulate=mode))
        for order in ("specified", "any"):
            bound = sonnx.error_bound("Conv", X, W, B, order=order, accumulate=mode, **geometry)
            assert bound.shape == result.shape
            assert bound.dtype == np.float64
            errors = abs(result - exact).ravel()
            assert all(
                error <= Fraction(float(most)) for error, most in zip(errors, bound.ravel(), strict=True)
            )
            assert len(set(bound.ravel().tolist())) > 10  # a bound for each element, not one for all


def lost_terms(name: str, n: int) -> Sum:
    """A bias of 1 and products of half a unit in its last place: each is lost in turn (ties to even)."""
    root = 2.0 ** -(12 if name == "float" else 26)
    return Sum(name, [root] * n, [UNIT[name] / root] * n, 1)


def halfway(n: int) -> Sum:
    """A sum of 1 + 2^-11, which float holds exactly and float16 rounds to 1."""
    return Sum("float16", [2.0**-11] * n, [1 / n] * n, 1)


def vanishing_products(name: str, n: int) -> Sum:
    """Products of half the smallest number: each is rounded to 0."""
    small = 2.0 ** -(75 if name == "float" else 537)
    return Sum(name, [SMALLEST[name] / small / 2] * n, [small] * n)


def growing_sum(name: str, n: int) -> Sum:
    """Products that lie above a tie each, so that every product and every sum is rounded the same way."""
    step = {"float16": 2.0**-10, "float": 2.0**-23, "double": 2.0**-52}[name]
    return Sum(
        name, [1 + step * (7 + 2 * k) for k in range(n)], [1 + step * (3 + 4 * k) for k in range(n)], 1
    )


def adversarial_ratio(name: str, mode: Mode, order: str, start: Sum, *, steps: int) -> Fraction:
    """Climb from a bad problem to a worse one: change a last bit, keep what raises error / bound."""
    random = np.random.default_rng(52)

    def badness(problem: Sum) -> Fraction:
        bound = problem.bound(mode, order)
        results = [problem.result(mode)]
        if order == "any":
            results += [summed_somehow(problem, random) for _ in range(2)]
        return Fraction(0) if bound == np.inf else max(problem.reached(result, bound) for result in results)

    best, worst = start, badness(start)
    for _ in range(steps):
        x, w = best.x.copy(), best.w.copy()
        part = x if random.random() < 0.5 else w
        index = int(random.integers(len(part)))
        part[index] = np.nextafter(part[index], part.dtype.type(random.choice([-9, 9])))
        candidate = Sum(name, x, w, best.bias)
        if (found := badness(candidate)) > worst:
            best, worst = candidate, found
    return worst


@pytest.mark.thinned
@pytest.mark.parametrize("order", ["specified", "any"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_an_adversary_comes_within_a_factor_of_50_of_the_bound(name: str, mode: Mode, order: str) -> None:
    last = halfway(64) if name == "float16" else lost_terms(name, 64)
    starts = [growing_sum(name, 9), growing_sum(name, 2), last]
    ratios = [adversarial_ratio(name, mode, order, start, steps=examples(30)) for start in starts]
    assert max(ratios) <= 1
    assert min(ratios) >= Fraction(1, 50)


@pytest.mark.parametrize("order", ["specified", "any"])
@pytest.mark.parametrize("name", ["float", "double"])
def test_vanishing_products_come_within_a_factor_of_10_of_the_bound(name: str, order: str) -> None:
    """Each product loses half of the smallest number; a bound in doubles counts whole ones."""
    for n in (1, 4, 25):
        problem = vanishing_products(name, n)
        assert problem.result("separate") == 0
        for mode in MODES:
            ratio = problem.reached(problem.result(mode), problem.bound(mode, order))
            assert Fraction(1, 10) <= ratio <= 1
            assert not problem.exceeded(problem.result(mode), problem.bound(mode, order))


@pytest.mark.parametrize("name", ["float", "double"])
def test_the_bound_of_the_specified_order_is_nearly_reached_by_lost_terms(name: str) -> None:
    problem = lost_terms(name, 200)
    assert problem.result("separate") == 1
    assert problem.reached(problem.result("separate"), problem.bound("separate", "specified")) > Fraction(
        9, 10
    )


def test_the_last_rounding_of_float16_is_in_its_bound() -> None:
    """1 + 2^-11 lies halfway between two float16 numbers; the accumulator holds it exactly."""
    problem = Sum("float16", [1, 2.0**-11], [1, 1])
    assert problem.result("separate") == 1
    for order in ("specified", "any"):
        assert Fraction(9, 10) < problem.reached(1, problem.bound("separate", order)) <= 1
    # In the subnormal range the last rounding loses at most half of 2^-24.
    tiny = Sum("float16", [2.0**-14], [2.0**-11])
    assert tiny.result("separate") == 0
    assert Fraction(9, 10) < tiny.reached(0, tiny.bound("separate", "any")) <= 1


def test_a_result_that_may_overflow_has_no_finite_bound() -> None:
    for name in FLOATS:
        largest = float(np.finfo(FLOATS[name]).max)
        for order in ("specified", "any"):
            assert Sum(name, [largest, largest], [1, 1]).bound("separate", order) == np.inf
            # Some order of these terms overflows, this one does not; the bound speaks of both alike.
            assert Sum(name, [largest, -largest, largest], [1, 1, 1]).bound("separate", order) == np.inf
            assert Sum(name, [largest / 64, largest / 64], [1, 1]).bound("separate", order) < largest


def test_an_element_that_meets_no_infinity_keeps_its_finite_bound() -> None:
    X = np.array([[[[1, 2, np.inf]]]], np.float32)
    bound = sonnx.error_bound("Conv", X, np.ones((1, 1, 1, 1), np.float32), **plain())
    assert np.isfinite(bound).tolist() == [[[[True, True, False]]]]


def test_fused_steps_and_a_known_order_have_the_smaller_bounds() -> None:
    problem = ordinary(np.random.default_rng(53), "float", 9)
    assert (
        problem.bound("fused", "specified")
        < problem.bound("separate", "specified")
        < problem.bound("separate", "any")
    )
    assert problem.bound("fused", "any") == problem.bound("separate", "any")


def test_sums_of_reals_have_no_error() -> None:
    X, W = sonnx.real(np.ones((2, 1, 4, 4))), sonnx.real(np.ones((3, 1, 2, 2)))
    for order in ("specified", "any"):
        bound = sonnx.error_bound("Conv", X, W, order=order, **plain((2, 2), strides=(2, 1)))
        assert bound.dtype == np.float64
        assert bound.tolist() == np.zeros((2, 3, 2, 3)).tolist()


@for_each("name", EVERY_TYPE)
def test_operators_that_move_values_have_no_error(name: str) -> None:
    array = array_of(name, (2, 1), special_values(name)[:2])
    condition = np.ones((2, 1), np.bool_)
    for order in ("specified", "any"):
        bounds: list[tuple[Array, tuple[int, ...]]] = [
            (sonnx.error_bound("Where", condition, array, array, order=order), (2, 1)),
            (sonnx.error_bound("Expand", array, [2, 3], order=order), (2, 3)),
        ]
        if name not in ("bfloat16", "complex64", "complex128"):
            both = sonnx.error_bound("Broadcast", array, array.reshape(2), order=order)
            assert isinstance(both, tuple)
            bounds += [(bound, (2, 2)) for bound in both]
        if name == "real" or name in FLOATS or "int" in name:
            bounds.append((sonnx.error_bound("Clip", array, array[0, 0], array[1, 0], order=order), (2, 1)))
        for bound, shape in bounds:
            assert bound.dtype == np.float64
            assert bound.tolist() == np.zeros(shape).tolist()


def test_the_judgement_of_these_tests_notices_a_bound_that_is_too_small_and_one_that_is_idle() -> None:
    problem = lost_terms("float", 64)
    bound = problem.bound("separate", "specified")
    assert problem.exceeded(problem.result("separate"), bound * 0.9)
    assert problem.exceeded(np.float32("nan"), bound)
    assert problem.reached(problem.result("separate"), 100 * bound) < Fraction(1, 50)
    assert STEPS["fused"] is fused


def test_the_bound_of_the_specified_order_never_exceeds_that_of_any_order() -> None:
    # The specified order is one of all orders. A single product without a bias is rounded once, not twice.
    random = np.random.default_rng(9)
    for dtype in (np.float16, np.float32, np.float64):
        for kernel in ((1, 1), (2, 3)):
            X = random.standard_normal((2, 2, 4, 5)).astype(dtype)
            W = random.standard_normal((3, 2, *kernel)).astype(dtype)
            for B in (None, random.standard_normal(3).astype(dtype)):
                for mode in ("separate", "fused"):
                    attributes = plain(kernel, accumulate=mode)
                    specified = sonnx.error_bound("Conv", X, W, B, **attributes)
                    anyhow = sonnx.error_bound("Conv", X, W, B, order="any", **attributes)
                    assert np.all(specified <= anyhow)


def test_the_bound_of_doubles_is_finite_and_small_where_weights_are_huge() -> None:
    # By hand: one product of 1e8 is rounded once, by at most 2^-53 of it.
    one = Sum("double", [1e-300], [1e308])
    assert 1e8 * 2.0**-53 <= one.bound("separate", "any") < 1e8 * 2.0**-52
    # A weight of zero gives a product of zero, whatever it is multiplied with.
    assert Sum("double", [0.0], [1e308]).bound("separate", "specified") < 1e-322
    assert Sum("double", [1e308, 1.0], [0.0, 1e-300]).bound("separate", "specified") < 1e-315


def test_a_sum_without_terms_is_its_bias_exactly() -> None:
    for held in FLOATS.values():
        X, W = np.zeros((1, 0, 1, 1), held), np.zeros((2, 0, 1, 1), held)
        B = np.array([3, np.inf], held)
        assert sonnx.error_bound("Conv", X, W, B, **plain()).ravel().tolist() == [0, np.inf]


def page_formula(problem: Sum, mode: Mode) -> Fraction:
    """The bound of the page for the specified order, in exact numbers, for a sum with a bias."""
    u, smallest = Fraction(UNIT[problem.name]), Fraction(SMALLEST[problem.name])
    n, own = len(problem.x), int(mode == "separate")
    total = ((1 + u) ** n - 1) * abs(Fraction(float(problem.bias or 0)))
    for k, (x, w) in enumerate(zip(problem.x, problem.w, strict=True), 1):
        total += ((1 + u) ** (n - k + 1 + own) - 1) * abs(Fraction(float(x)) * Fraction(float(w)))
    return total + n * smallest / 2 * (1 + u) ** n


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["float", "double"])
def test_the_bound_is_the_page_s_formula_rounded_up(name: str, mode: Mode) -> None:
    random = np.random.default_rng(11)
    for scale in (1.0, 2.0**-70, 2.0**-540 if name == "double" else 2.0**-75):
        for n in (1, 2, 9, 30):
            x, w = random.standard_normal((2, n)) * scale
            problem = Sum(name, x, w, random.standard_normal() * scale**2)
            exact, bound = page_formula(problem, mode), Fraction(problem.bound(mode, "specified"))
            assert exact <= bound <= exact * (1 + Fraction(1, 2**15)) + Fraction(4 * SMALLEST["double"])


def as_sum(X: Array, W: Array, B: Array, attributes: dict[str, Any]) -> analysis.Sum:
    axes = CONVOLUTION.axes({"X": X, "W": W}, attributes)
    return analysis.Sum(X, W, B, axes, 1, sonnx.DType.DOUBLE, "separate")


def test_the_sum_of_magnitudes_is_never_rounded_below_the_exact_one() -> None:
    random = np.random.default_rng(12)
    for scale in (1.0, 2.0**-537, 2.0**-540):
        for _ in range(40):
            x, w = random.standard_normal((2, 7)) * scale
            b = random.standard_normal(1) * scale
            attributes = {**plain(), "accumulate": "separate"}
            sums = as_sum(x.reshape(1, 7, 1, 1), w.reshape(1, 7, 1, 1), b, attributes)
            exact = abs(Fraction(b.item())) + sum(
                abs(Fraction(p) * Fraction(q)) for p, q in zip(x, w, strict=True)
            )
            assert Fraction(sums.magnitude(np.ones(7), 1.0).item()) >= exact


def test_a_sum_that_only_rounding_carries_beyond_the_largest_number_has_no_bound() -> None:
    # By hand: four terms a little above half the last place of the bias each round up, to infinity at last,
    # while the exact sum stays below the largest float.
    largest = 2.0**128 - 2.0**104
    problem = Sum("float", [2.0**52] * 4, [2.0**51 * (1 + 2.0**-20)] * 4, largest - 3 * 2.0**104)
    assert float(problem.result("separate")) == np.inf
    assert problem.bound("separate", "specified") == np.inf


def test_a_bias_alone_is_exact_up_to_the_largest_number() -> None:
    X, W = np.zeros((1, 0, 1, 1)), np.zeros((1, 0, 1, 1))
    assert sonnx.error_bound("Conv", X, W, np.array([np.finfo(np.float64).max]), **plain()).item() == 0


def test_bias_alone_counts_the_same_in_every_order() -> None:
    X, B = np.zeros((1, 1, 1, 3), np.float32), np.ones(1, np.float32)
    for mode in MODES:
        bounds = [
            sonnx.error_bound("Conv", X, X, B, order=order, **plain((1, 3), accumulate=mode)).item()
            for order in ("specified", "any")
        ]
        assert bounds[0] == bounds[1]


def test_the_sum_of_magnitudes_makes_up_for_terms_it_lost_itself() -> None:
    # By hand: each of 60 terms is just below half the last place of 1 and vanishes in a sum of doubles.
    term = 2.0**-53 * (1 - 2.0**-20)
    X, W = np.full((1, 60, 1, 1), term), np.ones((1, 60, 1, 1))
    sums = as_sum(X, W, np.ones(1), {**plain(), "accumulate": "separate"})
    assert Fraction(sums.magnitude(np.ones(60), 1.0).item()) >= 1 + 60 * Fraction(term)
